"""No address that a person can type breaks a page: what cannot be read is left out, or refused with a sentence."""

import pytest
from django.db import transaction

from tests.controlplane.rights.routes import ROUTES, Route
from tests.controlplane.rights.world import World

pytestmark = pytest.mark.django_db
# Every parameter that a page reads from its address, but those that name an object: without it there is no page.
NAMES = (
    "q", "state", "kind", "approval", "owner", "group", "tag", "shelf", "order", "stage", "cursor", "run", "names", "x", "points", "from", "to", "step", "with", "attempt", "source", "offset", "format", "start", "number",
    "pinned", "name", "cluster", "actor", "action", "object", "since", "until", "all", "checkpoint_search",
    "weights_from", "base_checkpoint", "written", "next", "sign_in",
)  # fmt: skip
VALUES = ("9" * 5000, "9" * 30, "-1", "²", "a\0b", "W10=")
PAGES = [route for route in ROUTES if not route.is_api and route.method == "GET"]


@pytest.mark.parametrize("route", PAGES, ids=str)
def test_no_address_breaks_a_page(world: World, route: Route) -> None:
    boss = world.actors["superuser"].browser
    path = route.path.format(**world.facts | {name: world.facts[other] for name, other in route.at.items()})  # fmt: skip
    for value in VALUES:
        with transaction.atomic():
            answer = boss.get(path.partition("?")[0], dict.fromkeys(NAMES, value))
            if answer.streaming:
                b"".join(answer.streaming_content)
            transaction.set_rollback(True)
        assert answer.status_code < 500, value[:10]
