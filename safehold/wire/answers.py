"""What the server answers: acknowledgement, refusals, commands; and problems by their status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from safehold.wire.batch import COMMAND_KINDS, CommandKind, Refusal
from safehold.wire.errors import Gap, TooLarge, UnsupportedVersion, WireError
from safehold.wire.limits import GAP_TYPE, VERSION


@dataclass(frozen=True, slots=True)
class Command:
    """Something that the trainer is asked to do; delivered again until reported as applied."""

    id: int | str
    kind: CommandKind
    args: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ack:
    """The answer to a batch that was stored.

    Attributes:
        acked: Number of the last stored record of the journal.
        records: Records that were new.
        stored: Points that were new.
        server_time: The server's clock, unix milliseconds.
    """

    acked: int
    records: int = 0
    stored: int = 0
    refused: tuple[Refusal, ...] = ()
    commands: tuple[Command, ...] = ()
    server_time: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the map that is sent, in either form."""
        return {
            "v": VERSION,
            "acked": self.acked,
            "records": self.records,
            "stored": self.stored,
            "refused": [{"i": r.i, "name": r.name, "reason": r.reason} for r in self.refused],
            "commands": [{"id": c.id, "kind": c.kind, "args": c.args} for c in self.commands],
            "server_time": self.server_time,
        }


def read_ack(data: Mapping[str, Any]) -> Ack:
    """Read the answer to a batch. Kinds of command that this side does not know are left out.

    Raises:
        WireError: a part is missing or of the wrong kind.
    """
    try:
        return Ack(
            acked=_mark(data["acked"]),
            records=_int(data.get("records", 0)),
            stored=_int(data.get("stored", 0)),
            refused=tuple(
                Refusal(_int(r["i"]), str(r["name"]), str(r["reason"]))
                for r in data.get("refused", [])
            ),
            commands=tuple(
                Command(c["id"], cast(CommandKind, c["kind"]), dict(c.get("args") or {}))
                for c in data.get("commands", [])
                if c["kind"] in COMMAND_KINDS
            ),
            server_time=_int(data.get("server_time", 0)),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise WireError("answer", f"is not an acknowledgement ({error!r})") from error


def problem_of(error: WireError) -> tuple[int, dict[str, Any]]:
    """Return the HTTP status and the facts of the problem document for an error.

    The server adds its own `type` prefix, `title` and `instance`.
    """
    facts: dict[str, Any] = {"detail": str(error), "field": error.field, "reason": error.reason}
    if isinstance(error, Gap):
        return 409, facts | {"type": GAP_TYPE, "acked": error.acked}
    if isinstance(error, UnsupportedVersion):
        return 426, facts | {"type": "wire-version", "supported": list(error.supported)}
    if isinstance(error, TooLarge):
        return 413, facts | {"type": "too-large"}
    return 400, facts | {"type": "wire"}


def _mark(value: object) -> int:
    if _int(value) < 0:
        raise TypeError(f"{value!r} is no number of a record")
    return _int(value)


def _int(value: object) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r} is not a whole number")
    return value
