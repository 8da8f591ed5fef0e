"""`manage.py verify_audit`: recompute the chain of the audit trail."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.common import audit
from controlplane.common.models import AuditEntry


class Command(BaseCommand):
    """Ends with status 1 and the entries at fault when history was changed."""

    help = "Check that no entry of the audit trail was changed or removed."

    def handle(self, *args: Any, **options: Any) -> None:
        """Report every broken link, or how many entries hold together."""
        faults = list(audit.broken_links())
        for entry_id, fault in faults:
            self.stderr.write(f"Entry {entry_id}: {fault}.")
        if faults:
            raise CommandError(f"The audit trail is broken in {len(faults)} places.", returncode=1)
        self.stdout.write(f"{AuditEntry.objects.count()} entries, unbroken.")
