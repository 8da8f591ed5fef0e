"""Scan a data path: every line of every shard, in bounded memory."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from safehold.preflight.facts import DataFacts, Problem, ShardFacts
from safehold.preflight.gathering.lines import (
    Damaged,
    DigestingFile,
    RawLine,
    open_text,
    read_lines,
)
from safehold.preflight.gathering.records import BOM, json_type, read_record
from safehold.preflight.visible import visible, visible_json

EXAMPLES_OF_A_KIND = 10
LARGEST_NUM_FIELDS = 200  # fields whose types are followed; more is not metadata but data in keys
_UNREAD = (".jsonl.zst", ".parquet", ".jsonl.bz2", ".jsonl.xz")

Progress = Callable[[int, int], None]


def scan(path: str | Path, progress: Progress | None = None) -> DataFacts:
    """Read all shards below a path.

    Args:
        path: A directory, or one .jsonl or .jsonl.gz file.
        progress: Called with (bytes done, bytes in all) after each shard and every few thousand lines.
    """
    root = Path(path)
    try:
        shards, unread = _shards_of(root)
    except OSError as error:
        return DataFacts(str(path), error=f"{error.strerror or error}")
    total = sum(shard.stat().st_size for shard in shards)
    facts, done = [], 0
    for shard in shards:
        facts.append(scan_shard(shard, _shifted(progress, done, total)))
        done += facts[-1].size_bytes
    return DataFacts(str(path), tuple(facts), tuple(str(one) for one in unread))


def records_of(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and value of every record of a shard that can be read."""
    with DigestingFile(path) as raw, open_text(raw, path) as stream:
        try:
            for line in read_lines(stream):
                content = _stripped(line)
                value = read_record(content).value if content.content else None
                if value is not None:
                    yield line.number, value
        except Damaged:
            return


def shards_of(path: str | Path) -> list[Path]:
    """Return the JSONL files of a data path, by name; none where it cannot be read."""
    try:
        return _shards_of(Path(path))[0]
    except OSError:
        return []


def scan_shard(path: Path, progress: Progress | None = None) -> ShardFacts:
    """Read one shard from end to end."""
    facts = ShardFacts(str(path), size_bytes=path.stat().st_size)
    try:
        raw = DigestingFile(path)
    except OSError as error:
        return replace(facts, damage=f"it cannot be read: {error.strerror}")
    with raw:
        if path.suffix == ".gz" and not facts.size_bytes:
            facts.damage = "the compressed file is empty"
        stream = open_text(raw, path)
        try:
            for line in read_lines(stream):
                _note(facts, line)
                if progress and line.number % 4096 == 0:
                    progress(raw.done_bytes, facts.size_bytes)
        except Damaged as error:
            facts.damage = str(error)
        facts.digest = raw.finish()
    if progress:
        progress(facts.size_bytes, facts.size_bytes)
    return facts


def _shards_of(root: Path) -> tuple[list[Path], list[Path]]:
    if not root.is_dir():
        root.stat()
        return ([root], []) if _is_shard(root) else ([], [root])
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return [one for one in files if _is_shard(one)], [
        one for one in files if one.name.endswith(_UNREAD)
    ]


def _is_shard(path: Path) -> bool:
    return path.name.endswith((".jsonl", ".jsonl.gz"))


def _shifted(progress: Progress | None, done: int, total: int) -> Progress | None:
    if progress is None:
        return None
    return lambda more, _: progress(done + more, total)


def _note(facts: ShardFacts, line: RawLine) -> None:
    if line.content is not None:
        facts.num_bom += line.content.startswith(BOM)
        facts.num_crlf += line.content.endswith(b"\r")
        line = _stripped(line)
        if not line.content:
            facts.num_blank += 1
            return
    record = read_record(line)
    facts.num_records += 1
    for problem in record.problems:
        _keep(facts, problem)
    if record.value is not None:
        facts.last_good = {"line": line.number} | (
            {"id": visible_json(record.value["id"])} if "id" in record.value else {}
        )
        _note_types(facts, record.value, line.number)


def _stripped(line: RawLine) -> RawLine:
    """Take off what editors add: a byte-order mark, a carriage return, white space around."""
    if line.content is None:
        return line
    bare = line.content.removeprefix(BOM)
    left = bare.lstrip(b" \t\r")
    return replace(
        line, content=left.rstrip(b" \t\r"), offset=line.offset + len(line.content) - len(left)
    )


def _keep(facts: ShardFacts, problem: Problem) -> None:
    count = facts.problems.get(problem.kind, 0)
    facts.problems[problem.kind] = count + 1
    if count < EXAMPLES_OF_A_KIND:
        facts.examples.append(problem)


def _note_types(facts: ShardFacts, value: dict[str, Any], line: int) -> None:
    for name, item in value.items():
        key = visible(name)
        if key in facts.types or len(facts.types) < LARGEST_NUM_FIELDS:
            facts.types.setdefault(key, {}).setdefault(json_type(item), line)
