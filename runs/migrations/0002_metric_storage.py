"""How PostgreSQL keeps the busy tables.

Payloads are compressed already: EXTERNAL keeps the server from trying again. Rows that every batch
rewrites get room on their page, so that the new version needs no index entry (a HOT update).
"""

from django.db import migrations

PACKED = {
    "runs_metricbatch": ["payload"],
    "runs_metricchunk": ["raw", "level_16", "level_256", "level_4096"],
}
REWRITTEN = ["runs_journal", "runs_attempt", "runs_run"]

STORAGE = [
    f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL"
    for table, columns in PACKED.items()
    for column in columns
]
ROOM = [f"ALTER TABLE {table} SET (fillfactor = 50)" for table in REWRITTEN]


class Migration(migrations.Migration):
    dependencies = [("runs", "0001_initial")]
    operations = [migrations.RunSQL([*STORAGE, *ROOM], migrations.RunSQL.noop)]
