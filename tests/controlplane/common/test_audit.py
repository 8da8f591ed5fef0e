import threading

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from controlplane.common import audit
from controlplane.common.models import AuditEntry
from tests.factories import make_project, make_user


def record(count: int = 1) -> list[AuditEntry]:
    user, project = make_user(), make_project()
    return [
        audit.record(
            actor=user, action=f"act-{n}", object=project, project_id=project.pk, data={"n": n}
        )
        for n in range(count)
    ]


@pytest.mark.django_db
def test_entries_form_a_chain():
    first, second, third = record(3)
    assert first.prev_hash == "0" * 64
    assert (second.prev_hash, third.prev_hash) == (first.hash, second.hash)
    assert list(audit.broken_links()) == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE common_auditentry SET action = 'innocent'",
        "DELETE FROM common_auditentry",
    ],
)
def test_database_refuses_to_change_history(statement):
    record()
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    assert AuditEntry.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change",
    [
        "SET action = 'innocent'",
        "SET actor_name = 'somebody'",
        "SET actor_id = NULL",
        "SET project_id = 999",
        "SET object_type = 'run'",
        "SET object_id = '7'",
        "SET data = '{}'",
        "SET at = at - interval '1 microsecond'",
        "SET prev_hash = repeat('a', 64)",
        "SET hash = repeat('b', 64)",
    ],
)
def test_an_edit_that_goes_round_the_database_is_found(change):
    entry = record(3)[1]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(f"UPDATE common_auditentry {change} WHERE id = %s", [entry.pk])
    assert entry.pk in {entry_id for entry_id, _ in audit.broken_links()}
    with pytest.raises(CommandError, match="broken"):
        call_command("verify_audit", verbosity=0)


@pytest.mark.django_db
def test_a_removed_entry_is_found():
    entry = record(3)[1]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute("DELETE FROM common_auditentry WHERE id = %s", [entry.pk])
    assert [fault for _, fault in audit.broken_links()] == [
        "an entry before it is missing or was changed"
    ]


@pytest.mark.django_db(transaction=True)
def test_writers_at_the_same_time_do_not_fork_the_chain():
    user, project = make_user(), make_project()

    def write() -> None:
        try:
            for _ in range(5):
                audit.record(actor=user, action="act", object=project)
        finally:
            connection.close()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert AuditEntry.objects.count() == 20
    assert list(audit.broken_links()) == []
    call_command("verify_audit", verbosity=0)
