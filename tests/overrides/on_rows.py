"""Attempts past the services: through the ORM and in plain SQL."""

from collections.abc import Iterator
from typing import Any

from django.db import connection
from django.db.models import F
from django.utils import timezone

from runs.models import Approval, Attempt, Config, Run
from safehold.config import config_hash
from tests.factories import make_attempt
from tests.overrides.attempts import Attempted
from tests.overrides.world import World

_EDITS = {
    "rate": ("optimizer", "lr", 1e-3),
    "batch": ("train", "global_batch", 16),
    "steps": ("train", "steps", 40),
    "seed": ("train", "seed", 1),
    "data": ("data", "path", "/other"),
    "command": ("code", "command", ["other.py"]),
    "root": ("checkpoint", "root", "/other"),
}


def attempts() -> Iterator[Attempted]:
    """Yield them."""
    yield from _on_columns()
    yield from _on_documents()
    yield from _removals()
    yield from _on_approvals()
    yield from _unapproved_attempts()


def _columns(world: World) -> dict[str, Any]:
    document = world.config.document | {"name": "other"}
    return {
        "document": document, "hash": config_hash(document), "family_hash": "blake3:0", "kind": "experiment",
        "name": "other", "schema_version": 2, "project_id": world.outsider.memberships.get().project_id
        if hasattr(world.outsider, "memberships") else world.project.pk + 1,
        "parent_id": world.pending.pk, "created_by_id": world.approver.pk, "created_at": timezone.now(),
        "frozen_at": None, "frozen_by_id": world.approver.pk,
    }  # fmt: skip


COLUMNS = (
    "document", "hash", "family_hash", "kind", "name", "schema_version", "parent_id", "created_by_id", "created_at",
    "frozen_at", "frozen_by_id",
)  # fmt: skip


def _on_columns() -> Iterator[Attempted]:
    for column in COLUMNS:
        yield Attempted(f"queryset.update of {column}", lambda w, c=column: _update(w, c))
        yield Attempted(f"save of {column}", lambda w, c=column: _save(w, c))
        yield Attempted(f"bulk_update of {column}", lambda w, c=column: _bulk_update(w, c))
        yield Attempted(f"SQL UPDATE of {column}", lambda w, c=column: _sql_update(w, c))


def _update(world: World, column: str) -> None:
    Config.objects.filter(pk=world.config.pk).update(**{column: _columns(world)[column]})


def _save(world: World, column: str) -> None:
    held = Config.objects.get(pk=world.config.pk)
    setattr(held, column, _columns(world)[column])
    held.save()


def _bulk_update(world: World, column: str) -> None:
    held = Config.objects.get(pk=world.config.pk)
    setattr(held, column, _columns(world)[column])
    Config.objects.bulk_update([held], [column.removesuffix("_id")])


def _sql_update(world: World, column: str) -> None:
    value = _columns(world)[column]
    cast = "::jsonb" if column == "document" else ""
    text = "{}" if column == "document" else value
    sql(f"UPDATE runs_config SET {column} = %s{cast} WHERE id = %s", [text, world.config.pk])


def _on_documents() -> Iterator[Attempted]:
    for name, (section, field, value) in _EDITS.items():
        yield Attempted(
            f"{name} and its digest at once",
            lambda w, s=section, f=field, v=value: _with_digest(w, s, f, v),
        )
        yield Attempted(
            f"{name} by jsonb_set", lambda w, s=section, f=field: sql(
                "UPDATE runs_config SET document = jsonb_set(document, %s, '7') WHERE id = %s",
                [[s, f], w.config.pk],
            ),
        )  # fmt: skip


def _with_digest(world: World, section: str, field: str, value: Any) -> None:
    document = dict(world.config.document)
    document[section] = document[section] | {field: value}
    Config.objects.filter(pk=world.config.pk).update(document=document, hash=config_hash(document))


def _removals() -> Iterator[Attempted]:
    yield Attempted("delete of a config", lambda w: Config.objects.get(pk=w.pending.pk).delete())
    yield Attempted("queryset.delete", lambda w: Config.objects.filter(pk=w.config.pk).delete())
    yield Attempted(
        "_raw_delete", lambda w: Config.objects.filter(pk=w.pending.pk)._raw_delete("default")
    )
    yield Attempted(
        "SQL DELETE", lambda w: sql("DELETE FROM runs_config WHERE id = %s", [w.config.pk])
    )
    yield Attempted("TRUNCATE of configs", lambda w: truncate("runs_config"))
    yield Attempted("TRUNCATE of approvals", lambda w: truncate("runs_approval"))
    yield Attempted(
        "insert over it",
        lambda w: sql(
            "INSERT INTO runs_config SELECT * FROM runs_config WHERE id = %s "
            "ON CONFLICT (id) DO UPDATE SET name = 'x'",
            [w.config.pk],
        ),
    )


def _on_approvals() -> Iterator[Attempted]:
    new = {"hash": "blake3:0", "base_checkpoint": 7, "state": "requested", "note": "other"}
    for column, value in new.items():
        yield Attempted(
            f"an edit of the approval's {column}",
            lambda w, c=column, v=value: _given(w).update(**{c: v}),
        )
    yield Attempted("another approver", lambda w: _given(w).update(decided_by=w.author))
    yield Attempted("removal of the approval", lambda w: _given(w)._raw_delete("default"))
    yield Attempted("an approval by who asked", lambda w: _decide(w, w.requester))
    yield Attempted("an approval by the author", lambda w: _decide(w, w.author))
    yield Attempted("an approval by nobody", lambda w: _decide(w, None))
    yield Attempted("an approval inserted as given", _inserted)
    yield Attempted("an approval of another document", _of_another)
    yield Attempted(
        "an approval moved to another config", lambda w: _given(w).update(config=w.pending)
    )
    yield Attempted("a copied state", lambda w: Approval.objects.filter(pk=w.request.pk).update(
        decided_by=F("requested_by"), state="approved"))  # fmt: skip
    yield Attempted("a forged approval, then a launch", _forged)


def _given(world: World) -> Any:
    return Approval.objects.filter(config=world.config, state="approved")


def _decide(world: World, user: Any) -> None:
    Approval.objects.filter(pk=world.request.pk).update(
        state="approved", decided_by=user, decided_at=timezone.now()
    )


def _inserted(world: World) -> None:
    Approval.objects.filter(pk=world.request.pk).update(state="withdrawn")
    Approval.objects.create(
        config=world.pending, hash=world.pending.hash, state="approved", requested_by=world.author,
        decided_by=world.approver,
    )  # fmt: skip


def _of_another(world: World) -> None:
    made = Approval(config=world.pending, hash=world.config.hash, requested_by=world.author)
    Approval.objects.filter(pk=world.request.pk).update(state="withdrawn")
    made.save()
    Approval.objects.filter(pk=made.pk).update(state="approved", decided_by=world.approver)


def _forged(world: World) -> None:
    """Write another's name under it: the row can be written, but the audit trail has no such act."""
    from runs.services import runs

    _decide(world, world.approver)
    run = runs.create_run(user=world.author, project=world.project, config=world.pending)
    runs.request_launch(run=run, user=world.author)


def _unapproved_attempts() -> Iterator[Attempted]:
    yield Attempted("an attempt through the ORM", lambda w: make_attempt(run=_planned(w)))
    yield Attempted(
        "attempts in bulk", lambda w: Attempt.objects.bulk_create([_attempt(_planned(w))])
    )
    yield Attempted("an attempt moved to the run", _moved)
    yield Attempted(
        "another config under an approved run",
        lambda w: Run.objects.filter(pk=w.run.pk).update(config=w.pending),
    )
    yield Attempted("the same in SQL", lambda w: sql(
        "UPDATE runs_run SET config_id = %s WHERE id = %s", [w.pending.pk, w.run.pk]))  # fmt: skip


def _planned(world: World) -> Run:
    from runs.services import runs

    return runs.create_run(user=world.author, project=world.project, config=world.pending)


def _attempt(run: Run) -> Attempt:
    now = timezone.now()
    return Attempt(
        run=run, number=1, launcher="local", requested_at=now, state_at=now, token_hash="x"
    )


def _moved(world: World) -> None:
    attempt = make_attempt(run=world.run)
    Attempt.objects.filter(pk=attempt.pk).update(run=_planned(world), number=9)


def sql(text: str, values: list[Any]) -> None:
    """Run a statement past the ORM."""
    with connection.cursor() as cursor:
        cursor.execute(text, values)


def truncate(table: str) -> None:
    """Empty a table as an administrator of the database would: the tests' own leave is taken back first."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL safehold.allow_truncate = 'off'")
        cursor.execute(f"TRUNCATE {table} CASCADE")
