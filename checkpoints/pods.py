"""What pods call: registering a save, with the token of their attempt."""

from checkpoints.services import registry
from controlplane.common.errors import Invalid
from runs.ingest import door
from runs.models import Attempt


@door.route("checkpoints/register")
def register(request: door.Request) -> door.Answer:
    """Register one save; the same again answers the same. docs/reference/wire.md has the body."""
    sender, body = door.sender_of(request), door.map_of(request)
    checkpoint = registry.register(
        attempt=Attempt.objects.get(pk=sender.attempt_id),
        path=body.get("path"),
        manifest=body.get("manifest"),
        state=body.get("state"),
        error=_text(body.get("error")),
    )
    return door.reply(request, {"v": 1, "id": checkpoint.pk, "state": checkpoint.state})


def _text(error: object) -> str | None:
    if error is not None and not isinstance(error, str):
        raise Invalid("`error` must be text.", fields={"error": ["must be text"]})
    return error
