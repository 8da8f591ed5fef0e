"""Before the first release: entries are numbered without gaps, their number is in the digest, and the end is sealed."""

import hashlib
import json
from datetime import UTC

from django.conf import settings
from django.db import migrations
from django.utils.crypto import salted_hmac

OPEN = "ALTER TABLE common_auditentry DISABLE TRIGGER audit_rows_stay"
CLOSE = "ALTER TABLE common_auditentry ENABLE TRIGGER audit_rows_stay"


def number_and_seal(apps, schema_editor):
    entries = apps.get_model("common", "AuditEntry").objects
    last, before = 0, "0" * 64
    for old in entries.order_by("pk").iterator(chunk_size=1000):
        last, number = last + 1, old.pk
        content = [
            last, before, old.at.astimezone(UTC).isoformat(), old.actor_id, old.actor_name, old.project_id, old.action,
            old.object_type, old.object_id, old.data,
        ]  # fmt: skip
        text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        made = hashlib.sha256(text.encode()).hexdigest()
        entries.filter(pk=number).update(id=last, prev_hash=before, hash=made)
        before = made
    if last:
        keys = [key.strip() for key in settings.SAFEHOLD_ENCRYPTION_KEY.split(",") if key.strip()]
        signature = salted_hmac(
            "safehold.audit.seal",
            f"{last}:{before}",
            secret=(keys or [settings.SECRET_KEY])[0],
            algorithm="sha256",
        ).hexdigest()
        apps.get_model("common", "AuditSeal").objects.create(
            pk=1, entry_id=last, hash=before, signature=signature
        )


class Migration(migrations.Migration):
    dependencies = [("common", "0003_rights")]

    operations = [
        migrations.RunSQL(OPEN, migrations.RunSQL.noop),
        migrations.RunPython(number_and_seal, migrations.RunPython.noop, elidable=True),
        migrations.RunSQL(CLOSE, migrations.RunSQL.noop),
    ]
