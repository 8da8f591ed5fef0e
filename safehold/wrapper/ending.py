"""How the ranks ended, in one document: `exit.json`, also the termination message of the pod."""

from __future__ import annotations

import contextlib
import copy
import json
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safehold.statusfile import drop_room, read_status, write_json
from safehold.wrapper.tail import summary

MOST_BYTES = 4096  # the most that Kubernetes keeps of a termination message
# Where that file cannot be written, Kubernetes takes the end of the output, at most 2 KiB of it.
MOST_OUTPUT_BYTES = 2048
_SPARE_BYTES = (
    100  # for what is added once the document fits: the name of the pod, the end of the line
)
TERMINATION_LOG = "/dev/termination-log"

Ranks = dict[int, dict[str, Any]]


def read_ranks(folder: Path) -> Ranks:
    """Return the records that the shims have written so far."""
    found: Ranks = {}
    for path in (folder / "ranks").glob("*.json"):
        if path.stem.isdigit():
            try:
                found[int(path.stem)] = json.loads(path.read_bytes())
            except (OSError, ValueError):
                continue
    return found


def describe_end(
    folder: Path,
    *,
    started_at: str,
    ended_at: str,
    root_code: int,
    num_ranks: int,
    asked_signal: int | None,
) -> dict[str, Any]:
    """Return the document, at most 4 KiB.

    Args:
        folder: Of the attempt.
        started_at: ISO time.
        ended_at: ISO time.
        root_code: Of the process that started the ranks; negative = signal.
        num_ranks: Expected on this machine.
        asked_signal: Signal that the wrapper got, if any.
    """
    ranks = read_ranks(folder)
    outcome = _outcome(folder, ranks, root_code, num_ranks)
    document = {
        "v": 1,
        "started_at": started_at,
        "ended_at": ended_at,
        "outcome": outcome,
        "ranks": {
            str(rank): {key: record.get(key) for key in ("exit_code", "signal", "error")}
            for rank, record in sorted(ranks.items())
        },
        "signal": asked_signal,
        "message": _message(outcome, ranks, root_code, asked_signal, folder),
    }
    return _fitted(document)


def describe_unstarted(
    *, started_at: str, ended_at: str, reason: str, asked_signal: int | None
) -> dict[str, Any]:
    """Return the document of an attempt whose ranks never began."""
    outcome = "could_not_start" if asked_signal is None else "stopped"
    document: dict[str, Any] = {"v": 1, "started_at": started_at, "ended_at": ended_at}
    return document | {"outcome": outcome, "ranks": {}, "signal": asked_signal, "message": reason}


def write_end(
    folder: Path, name: str, document: Mapping[str, Any], environ: Mapping[str, str]
) -> None:
    """Write the document for the launcher, and in a pod as its termination message.

    The document names the pod, so that whoever reads the message knows whose it is. A full disk keeps neither
    the message nor what follows from being told.
    """
    try:
        write_json(folder / name, document)
        drop_room(folder / name)
    except OSError as error:
        with contextlib.suppress(OSError):
            sys.stderr.write(f"safehold: {folder / name} could not be written: {error}\n")
    pod = environ.get("SAFEHOLD_POD", "")
    path = environ.get("SAFEHOLD_TERMINATION_LOG") or (TERMINATION_LOG if pod else "")
    if not path:
        return
    told = {**document, "pod": pod}
    try:
        Path(path).write_text(json.dumps(told, ensure_ascii=False))
    except OSError:
        short = _fitted(copy.deepcopy(told), MOST_OUTPUT_BYTES)
        with contextlib.suppress(OSError):
            sys.stdout.write(json.dumps(short, ensure_ascii=False) + "\n")
            sys.stdout.flush()


def _outcome(folder: Path, ranks: Ranks, root_code: int, num_ranks: int) -> str:
    told = {read_status(folder, rank) for rank in ranks}
    if ranks and told == {"stopped"} and len(ranks) >= num_ranks:
        return "stopped"  # everything was saved, whatever the exit code became
    if ranks and all(record.get("could_not_start") for record in ranks.values()):
        return "could_not_start"
    all_zero = all(record.get("exit_code") == 0 for record in ranks.values())
    if not (ranks and all_zero and root_code == 0 and len(ranks) >= num_ranks):
        return "failed"
    return "stopped" if "stopped" in told else "finished"


def _message(
    outcome: str, ranks: Ranks, root_code: int, asked_signal: int | None, folder: Path
) -> str:
    if outcome == "finished":
        return "All ranks finished."
    if outcome == "stopped":
        return "All ranks saved and stopped."
    by_time = sorted(ranks.items(), key=lambda item: item[1].get("ended_at") or "~")
    failed = [(rank, record) for rank, record in by_time if record.get("exit_code") != 0]
    # Ranks that torchrun ended after another failed are not the cause.
    causes = [f for f in failed if f[1].get("signal") != signal.SIGTERM] or failed
    if not causes:
        return f"The launcher of the ranks ended with {_ending(root_code)}; see the wrapper's log."
    rank, record = causes[0]
    if record.get("ended_at") is None:
        asked = f" {_name(asked_signal)} came before." if asked_signal else ""
        return f"Rank {rank} was killed with its shim; the ranks ended with {_ending(root_code)}.{asked}"
    how = _name(record["signal"]) if record.get("signal") else f"exit code {record['exit_code']}"
    return f"Rank {rank} ended with {how}: {summary(record.get('error') or '') or 'no output'}"


def _ending(code: int) -> str:
    return _name(-code) if code < 0 else f"exit code {code}"


def _name(number: int | None) -> str:
    try:
        return signal.Signals(number or 0).name
    except ValueError:
        return f"signal {number}"


def _fitted(document: dict[str, Any], most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """Shorten errors until the document fits; the message stays."""
    for most in (1500, 400, 100, 0):
        for record in document["ranks"].values():
            if record["error"]:
                record["error"] = record["error"][-most:] if most else None
        if _size(document) <= most_bytes - _SPARE_BYTES:
            return document
    failed = {r: end for r, end in document["ranks"].items() if end["exit_code"] != 0}
    document["ranks"] = dict(list((failed or document["ranks"]).items())[:20])
    return document


def _size(document: Mapping[str, Any]) -> int:
    return len(json.dumps(document, ensure_ascii=False).encode(errors="replace"))
