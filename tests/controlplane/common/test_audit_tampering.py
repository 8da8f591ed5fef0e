"""Whoever goes round the trigger of the database is found: any column, any row, any way, also with the chain computed anew."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from controlplane.common import audit, seal
from controlplane.common.models import AuditCheck, AuditEntry, AuditSeal, User
from tests.factories import make_project, make_user
from tests.runs.api.callers import Api

pytestmark = pytest.mark.django_db
NUM = 6
# An example works in a savepoint that it takes back.
examples = settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
text = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)
times = st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
# What a column may be set to; each draws a value that differs from what is there.
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "id": st.integers(100, 10_000),
    "at": times,
    "actor_id": st.none(),
    "actor_name": text,
    "project_id": st.none() | st.integers(0, 2**62),
    "action": text,
    "object_type": text,
    "object_id": text,
    "data": st.dictionaries(st.text("abc", max_size=4), st.integers(), max_size=3),
    "prev_hash": st.text("0123456789abcdef", min_size=64, max_size=64),
    "hash": st.text("0123456789abcdef", min_size=64, max_size=64),
}


@pytest.fixture
def actor() -> User:
    """Fill the trail, and return who did it all."""
    user, project = make_user(), make_project()
    for number in range(NUM):
        audit.record(
            actor=user,
            action="card.create",
            object=project,
            project_id=project.pk,
            data={"n": number},
        )
    return user


def sql(statement: str, *values: Any) -> None:
    """Change the table as somebody with the rights of its owner could, the trigger switched off."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(statement, values)


class taken_back:
    """A savepoint that is always rolled back."""

    def __enter__(self) -> None:
        self.block = transaction.atomic()
        self.block.__enter__()

    def __exit__(self, *error: Any) -> None:
        transaction.set_rollback(True)
        self.block.__exit__(None, None, None)


def test_every_column_is_tried() -> None:
    assert set(VALUES) == {
        field.attname for field in AuditEntry._meta.get_fields() if hasattr(field, "attname")
    }


@pytest.mark.parametrize("column", VALUES)
@examples
@given(data=st.data())
def test_an_edit_of_any_column_of_any_entry_is_found(
    column: str, actor: User, data: st.DataObject
) -> None:
    number = data.draw(st.integers(1, NUM))
    value = data.draw(VALUES[column])
    if AuditEntry.objects.filter(pk=number).values_list(column, flat=True)[0] == value:
        return
    with taken_back():
        if column == "data":
            sql(
                "UPDATE common_auditentry SET data = %s::jsonb WHERE id = %s",
                json.dumps(value),
                number,
            )
        else:
            sql(f"UPDATE common_auditentry SET {column} = %s WHERE id = %s", value, number)
        assert list(audit.broken_links()), (column, number, value)
    assert list(audit.broken_links()) == []


@examples
@given(removed=st.sets(st.integers(1, NUM), min_size=1))
def test_any_deletion_is_found_the_end_and_all_of_it_too(actor: User, removed: set[int]) -> None:
    with taken_back():
        sql("DELETE FROM common_auditentry WHERE id = ANY(%s)", list(removed))
        assert list(audit.broken_links())


@examples
@given(order=st.permutations(range(1, NUM + 1)))
def test_any_other_order_is_found(actor: User, order: list[int]) -> None:
    if order == sorted(order):
        return
    with taken_back():
        sql("UPDATE common_auditentry SET id = id + 1000")
        for new, old in enumerate(order, start=1):
            sql("UPDATE common_auditentry SET id = %s WHERE id = %s", new, old + 1000)
        assert list(audit.broken_links())


@examples
@given(number=st.integers(1, NUM + 1), value=text)
def test_an_addition_anywhere_is_found_however_well_it_is_chained(
    actor: User, number: int, value: str
) -> None:
    with taken_back():
        sql("UPDATE common_auditentry SET id = id + 1000 WHERE id >= %s", number)
        sql("UPDATE common_auditentry SET id = id - 999 WHERE id >= 1000")
        forge(number, actor_name=value, insert=True)
        assert list(audit.broken_links())


@examples
@given(number=st.integers(1, NUM), value=text)
def test_a_chain_computed_anew_to_its_end_is_found_by_the_seal(
    actor: User, number: int, value: str
) -> None:
    if value == actor.username:
        return
    with taken_back():
        forge(number, actor_name=value)
        told = [words for _, words in audit.broken_links()]
        assert told == ["the chain is not the one that was sealed here"]


def test_a_seal_made_without_the_key_is_found(actor: User) -> None:
    forge(2, action="innocent")
    newest = AuditEntry.objects.order_by("-pk")[0]
    AuditSeal.objects.update(hash=newest.hash, signature="0" * 64)
    assert [words for _, words in audit.broken_links()] == ["the seal was not made by this service"]


@pytest.mark.parametrize(
    "change",
    ["DELETE FROM common_auditseal", "UPDATE common_auditseal SET entry_id = entry_id - 1"],
)
def test_a_seal_that_is_missing_or_old_is_found(actor: User, change: str) -> None:
    sql(change)
    assert list(audit.broken_links())


def test_a_key_that_was_replaced_still_holds(actor: User, settings: Any) -> None:
    old = settings.SECRET_KEY
    settings.SAFEHOLD_ENCRYPTION_KEY = f"a new key,{old}"
    assert list(audit.broken_links()) == []
    settings.SAFEHOLD_ENCRYPTION_KEY = "a new key"
    assert list(audit.broken_links()) != []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE common_auditentry SET action = 'x' WHERE id = 2",
        "UPDATE common_auditentry SET id = 99 WHERE id = 2",
        "DELETE FROM common_auditentry WHERE id = 6",
        "DELETE FROM common_auditentry",
        "INSERT INTO common_auditentry SELECT * FROM common_auditentry WHERE id = 2 ON CONFLICT (id) DO UPDATE SET action = 'x'",
        "MERGE INTO common_auditentry e USING (SELECT 2 AS id) o ON e.id = o.id WHEN MATCHED THEN UPDATE SET action = 'x'",
        "WITH gone AS (DELETE FROM common_auditentry RETURNING id) SELECT * FROM gone",
    ],
)
def test_the_database_itself_refuses(actor: User, statement: str) -> None:
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    assert list(audit.broken_links()) == []


@examples
@given(
    data=st.dictionaries(st.text(max_size=6), json_values, max_size=4),
    name=st.text(max_size=20),
    at=times,
)
def test_whatever_is_recorded_reads_back_whole(
    actor: User, data: dict[str, Any], name: str, at: datetime
) -> None:
    with taken_back():
        audit.record(
            actor=actor, action="card.create", object=actor, data={"name": name, **data}, at=at
        )
        assert list(audit.broken_links()) == []


def test_the_command_and_the_api_say_the_same(actor: User) -> None:
    api = Api(make_user(is_superuser=True))
    good = api.post("audit/verify").json()
    assert (good["verdict"], good["num_entries"], good["faults"]) == ("pass", NUM, [])
    assert api.post("audit/verify", {"head": good["head"]}).status_code == 200
    call_command("verify_audit", verbosity=0)
    AuditCheck.objects.update(at=datetime.now(UTC) - timedelta(minutes=1))
    forge(3, action="innocent")
    bad = api.post("audit/verify").json()
    assert (bad["verdict"], bad["num_faults"]) == ("fail", 1)
    assert api.post("audit/verify", {"head": good["head"]}).status_code == 404
    with pytest.raises(CommandError, match="broken in 1 places"):
        call_command("verify_audit", verbosity=0)


def forge(number: int, *, insert: bool = False, **changes: Any) -> None:
    """Change or add an entry and compute every digest after it anew, as somebody without the key could."""
    columns = [*VALUES]
    rows = {row["id"]: row for row in AuditEntry.objects.values(*columns)}
    if insert:
        rows[number] = dict(next(iter(rows.values()))) | {"id": number}
    rows[number] |= changes
    before = audit.FIRST
    for key in sorted(rows):
        row = rows[key]
        row["prev_hash"] = before
        row["hash"] = before = audit.digest(row)
    sql("DELETE FROM common_auditentry")
    AuditEntry.objects.bulk_create([AuditEntry(**rows[key]) for key in sorted(rows)])
    assert seal.read().entry_id == NUM
