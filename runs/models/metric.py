"""Where metric points lie.

A batch is stored as it came, packed, in one row: that is what an acknowledgement promises. Compaction
moves the points of many batches into chunks, one series each, with levels of detail beside them. A chart
reads chunks plus the batches not yet compacted. docs/explanation/metric-store.md gives the reasons.

Foreign keys have no index of their own (`db_index=False`) where a constraint or index begins with them.
"""

from typing import ClassVar

from django.db import models

from runs.models.run import Attempt


class Journal(models.Model):
    """One process's sequence of records and how far it is stored."""

    attempt = models.ForeignKey(
        Attempt, on_delete=models.CASCADE, db_index=False, related_name="journals"
    )
    rank = models.PositiveIntegerField()
    journal = models.CharField(max_length=32)
    acked_seq = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["attempt", "rank", "journal"], name="one_journal")
        ]

    def __str__(self) -> str:
        return f"{self.journal} of rank {self.rank}"


class MetricBatch(models.Model):
    """Records as they came, not yet compacted. `payload`: safehold.wire, zstd."""

    attempt = models.ForeignKey(
        Attempt, on_delete=models.CASCADE, db_index=False, related_name="batches"
    )
    journal = models.ForeignKey(
        Journal, on_delete=models.CASCADE, db_index=False, related_name="batches"
    )
    rank = models.PositiveIntegerField()
    first_seq = models.BigIntegerField()
    num_records = models.PositiveIntegerField()
    num_points = models.PositiveIntegerField()
    min_step = models.BigIntegerField()
    max_step = models.BigIntegerField()
    received_at = models.DateTimeField()
    payload = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["journal", "first_seq"], name="one_batch_per_seq")
        ]
        indexes: ClassVar = [models.Index(fields=["attempt", "id"], name="batch_of_attempt")]

    def __str__(self) -> str:
        return f"batch {self.first_seq} of journal {self.journal_id}"


class Series(models.Model):
    """One name of one rank in one attempt, with the sums that lists and exports need."""

    attempt = models.ForeignKey(
        Attempt, on_delete=models.CASCADE, db_index=False, related_name="series"
    )
    rank = models.PositiveIntegerField()
    name = models.CharField(max_length=250)
    num_points = models.BigIntegerField(default=0)
    num_not_finite = models.BigIntegerField(default=0)
    min_step = models.BigIntegerField(null=True)
    max_step = models.BigIntegerField(null=True)
    last_value = models.FloatField(null=True)
    min_value = models.FloatField(null=True)
    max_value = models.FloatField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["attempt", "rank", "name"], name="one_series")
        ]

    def __str__(self) -> str:
        return self.name


class MetricChunk(models.Model):
    """Up to a few thousand consecutive points of one series, sorted by step.

    `raw` holds them all; `level_<n>` only those that a bucket of n points must keep: its first, last,
    smallest, largest and first not-finite one. They are separate columns so that a zoomed-out chart
    reads only what it draws. `runs.metricstore` packs and reads them.
    """

    series = models.ForeignKey(
        Series, on_delete=models.CASCADE, db_index=False, related_name="chunks"
    )
    number = models.PositiveIntegerField()
    num_points = models.PositiveIntegerField()
    min_step = models.BigIntegerField()
    max_step = models.BigIntegerField()
    min_tokens = models.BigIntegerField()
    max_tokens = models.BigIntegerField()
    min_time = models.BigIntegerField()
    max_time = models.BigIntegerField()
    num_not_finite = models.PositiveIntegerField(default=0)
    raw = models.BinaryField()
    level_16 = models.BinaryField()
    level_256 = models.BinaryField()
    level_4096 = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["series", "number"], name="one_chunk_per_number")
        ]

    def __str__(self) -> str:
        return f"chunk {self.number} of series {self.series_id}"


class SampleIds(models.Model):
    """Which samples the steps of one message consumed: the data behind a spike.

    `payload`: msgpack, zstd, [[step, data], …] as the trainer sent it; one row a message keeps a run of
    millions of steps to few rows.
    """

    attempt = models.ForeignKey(
        Attempt, on_delete=models.CASCADE, db_index=False, related_name="sample_ids"
    )
    rank = models.PositiveIntegerField()
    min_step = models.BigIntegerField()
    max_step = models.BigIntegerField()
    payload = models.BinaryField()

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["attempt", "min_step"], name="sample_ids_of_attempt")
        ]

    def __str__(self) -> str:
        return f"samples of steps {self.min_step} to {self.max_step}"
