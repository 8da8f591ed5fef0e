import pytest
from django.db import connection

from controlplane.common import audit
from controlplane.common.services import audit_checks
from tests.factories import make_user
from workers.tasks.audit import verify_audit

pytestmark = pytest.mark.django_db


def test_the_daily_verification_leaves_its_result(caplog: pytest.LogCaptureFixture) -> None:
    user = make_user()
    audit.record(actor=user, action="person.sign_in", object=user)
    verify_audit()
    newest = audit_checks.newest()
    assert newest is not None
    assert (newest.num_entries, newest.num_faults) == (1, 0)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute("DELETE FROM common_auditentry")
    verify_audit()
    newest = audit_checks.newest()
    assert newest is not None
    assert newest.num_faults == 1
    assert "audit.history_changed" in caplog.text
