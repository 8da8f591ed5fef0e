"""The SQL of the hot path: a batch that follows on is stored by one statement, in one round trip.

Rows are locked in the order series, journal, run, attempt, here and everywhere, so no two writers wait for
each other in a ring. `prepare=True` spares planning it anew for each batch.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import psycopg
from django.db import connection
from psycopg.types.numeric import Int8

from runs.ingest.facts import Told
from runs.ingest.senders import Sender
from runs.metricstore import tail
from safehold.wire import Batch, Command

# A condition instead of a lock beforehand: of two connections that send the same batch at once the second
# waits for the row, finds that the mark has moved, and stores nothing.
_JOURNAL = """
journal AS (
  UPDATE runs_journal SET acked_seq = %(last_seq)s
  WHERE attempt_id = %(attempt)s AND rank = %(rank)s AND journal = %(journal)s
    AND acked_seq = %(first_seq)s - 1
  RETURNING id
), batch AS (
  INSERT INTO runs_metricbatch (attempt_id, journal_id, rank, first_seq, num_records, num_points,
                                min_step, max_step, received_at, payload)
  SELECT %(attempt)s, id, %(rank)s, %(first_seq)s, %(num_records)s, %(num_points)s,
         %(min_step)s, %(max_step)s, %(now)s, %(payload)s FROM journal
),"""
_NO_JOURNAL = """
journal AS (
  SELECT coalesce((SELECT acked_seq FROM runs_journal WHERE attempt_id = %(attempt)s
                   AND rank = %(rank)s AND journal = %(journal)s), 0) AS id
),"""
_SIGN_OF_LIFE = """
run AS (
  UPDATE runs_run SET
    step = coalesce(%(step)s::bigint, step), tokens = coalesce(%(tokens)s::bigint, tokens),
    last_loss = coalesce(%(loss)s::float8, last_loss),
    tokens_per_second = coalesce(%(speed)s::float8, tokens_per_second),
    sparkline = coalesce(%(sparkline)s::jsonb, sparkline),
    last_point_at = CASE WHEN %(num_points)s > 0 THEN %(now)s ELSE last_point_at END
  WHERE id = %(run)s AND EXISTS (SELECT FROM journal)
    AND EXISTS (SELECT FROM runs_attempt WHERE id = %(attempt)s AND state <> 'ended')
  RETURNING id
), attempt AS (
  UPDATE runs_attempt SET
    last_seen_at = %(now)s, step = coalesce(%(step)s::bigint, step),
    phase = coalesce(%(phase)s, phase),
    first_step_at = coalesce(first_step_at, CASE WHEN %(step)s::bigint > start_step THEN %(now)s END)
  WHERE id = %(attempt)s AND state <> 'ended' AND EXISTS (SELECT FROM run)
  RETURNING state, contact_lost_since IS NOT NULL AS is_lost
)
SELECT (SELECT id FROM journal), (SELECT state FROM attempt), (SELECT is_lost FROM attempt),
  (SELECT json_agg(json_build_array(id, kind, args) ORDER BY id)::text FROM runs_command
   WHERE attempt_id = %(attempt)s AND done_at IS NULL)
"""
FOLLOWING = f"WITH {_JOURNAL}{_SIGN_OF_LIFE}"
BEAT = f"WITH {_NO_JOURNAL}{_SIGN_OF_LIFE}"

_NEW_JOURNAL = """
INSERT INTO runs_journal (attempt_id, rank, journal, acked_seq, created_at)
VALUES (%(attempt)s, %(rank)s, %(journal)s, 0, now())
ON CONFLICT (attempt_id, rank, journal) DO NOTHING
"""
_LOCK_JOURNAL = """
SELECT id, acked_seq FROM runs_journal
WHERE attempt_id = %(attempt)s AND rank = %(rank)s AND journal = %(journal)s FOR NO KEY UPDATE
"""
_MOVE_MARK = "UPDATE runs_journal SET acked_seq = %(last_seq)s WHERE id = %(journal_id)s"
_INSERT_BATCH = """
INSERT INTO runs_metricbatch (attempt_id, journal_id, rank, first_seq, num_records, num_points,
                              min_step, max_step, received_at, payload)
VALUES (%(attempt)s, %(journal_id)s, %(rank)s, %(first_seq)s, %(num_records)s, %(num_points)s,
        %(min_step)s, %(max_step)s, %(now)s, %(payload)s)
"""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the statement found.

    Attributes:
        mark: Of `FOLLOWING` the id of the journal, None where the batch did not follow on and nothing was
            stored; of `BEAT` the number of the journal's last stored record.
        state: None = the attempt has ended.
        is_lost: It was not heard for long before.
    """

    mark: int | None
    state: str | None
    is_lost: bool
    commands: tuple[Command, ...]


def run_statement(sql: str, parameters: dict[str, Any]) -> Reply:
    """Execute `FOLLOWING` or `BEAT`."""
    connection.ensure_connection()
    # Django's cursor writes the values into the text; this one sends them beside it, and prepares.
    with psycopg.Cursor(connection.connection) as cursor, connection.wrap_database_errors:
        found = cursor.execute(sql, parameters, prepare=True, binary=True).fetchone()
    if found is None:
        raise RuntimeError("A SELECT without FROM gives one row.")
    mark, state, is_lost, commands = found
    return Reply(mark, state, bool(is_lost), read_commands(commands))


def lock_journal(attempt_id: int, batch: Batch) -> tuple[int, int]:
    """Return id and high-water mark of the journal, made if new, locked until the transaction ends."""
    values: dict[str, int | str] = {
        "attempt": attempt_id,
        "rank": batch.rank,
        "journal": batch.journal,
    }
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_JOURNAL, values)
        found = cursor.fetchone()
        if found is None:
            cursor.execute(_NEW_JOURNAL, values)
            cursor.execute(_LOCK_JOURNAL, values)
            found = cursor.fetchone()
    return found[0], found[1]


def insert_records(attempt_id: int, journal_id: int, new: Batch, now: datetime) -> None:
    """Insert the records of a locked journal and move its mark."""
    plain = replace(new, events=(), heartbeat=None, applied=(), refused=())
    values = batch_parameters(plain, tail.payload_of(plain) if plain.columns else None)
    values |= {"attempt": attempt_id, "journal_id": journal_id, "now": now}
    with connection.cursor() as cursor:
        if plain.columns:
            cursor.execute(_INSERT_BATCH, values)
        cursor.execute(_MOVE_MARK, values)


def parameters_of(
    sender: Sender, batch: Batch, told: Told, now: datetime, payload: bytes | None
) -> dict[str, Any]:
    """Return the values of the statements."""
    return {
        "attempt": Int8(sender.attempt_id),
        "run": Int8(sender.run_id),
        "now": now,
        "step": _int8(told.step),
        "tokens": _int8(told.tokens),
        "loss": told.loss,
        "speed": told.speed,
        "phase": told.phase,
        "sparkline": None if told.sparkline is None else json.dumps(told.sparkline),
    } | batch_parameters(batch, payload)


def batch_parameters(batch: Batch, payload: bytes | None) -> dict[str, Any]:
    """Return the values that describe the batch itself."""
    return {
        "rank": Int8(batch.rank),
        "journal": batch.journal,
        "first_seq": Int8(batch.first_seq),
        "last_seq": Int8(batch.last_seq),
        "num_records": Int8(batch.n),
        "num_points": Int8(batch.num_points),
        "min_step": Int8(batch.steps.min() if batch.n else -1),
        "max_step": Int8(batch.steps.max() if batch.n else -1),
        "payload": payload,
    }


def _int8(value: int | None) -> Int8 | None:
    # One width for all: otherwise each size of a number would be another prepared statement.
    return None if value is None else Int8(value)


def read_commands(text: str | None) -> tuple[Command, ...]:
    """Return the pending commands from the JSON of the statement."""
    return tuple(Command(*row) for row in json.loads(text)) if text else ()
