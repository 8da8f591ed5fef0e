"""Whether the data can be read, line by line, with one meaning each."""

from collections.abc import Iterator

from safehold.findings import Finding, fail, info, passed, unknown, warn
from safehold.preflight.base import Facts, check
from safehold.preflight.facts import DataFacts, Problem, ProblemKind, ShardFacts

BLOCKING: dict[ProblemKind, str] = {
    "not_utf8": "not UTF-8",
    "not_json": "not JSON",
    "not_a_record": "not a record",
    "no_text": "without text",
    "not_encodable": "text not encodable",
    "duplicate_key": "a key twice",
    "too_long": "too long to read",
}
WARNING: dict[ProblemKind, str] = {
    "empty_text": "empty text",
    "nul": "NUL in a text",
    "number_out_of_range": "a number outside 64 bits or JSON",
}
SHOWN = 20
POLICY = "None of these lines is repaired or replaced by U+FFFD: they are left out of every count but that of lines."


@check("DATA-1.format", group="data")
def format(facts: Facts) -> Iterator[Finding]:
    """Every record of the data parses, is valid UTF-8 and has text."""
    if facts.data is None:
        yield unknown("The data were not read.", advice="Run the check where data.path is mounted.")
        return
    for data in filter(None, (facts.data, facts.validation)):
        yield from _judge(data)


def _judge(data: DataFacts) -> Iterator[Finding]:
    if data.error or data.unread or not data.shards:
        yield from _unreadable(data)
    if not data.shards:
        return
    blocking = False
    for finding in (*_damage(data), *_problems(data)):
        blocking = blocking or finding.severity == "fail"
        yield finding
    yield from _oddities(data)
    if not blocking:
        evidence = {
            "records": data.num_records,
            "files": [
                {"path": one.path, "records": one.num_records, "digest": one.digest}
                for one in data.shards
            ][:SHOWN],
        }
        yield passed(
            f"{data.num_records} records in {len(data.shards)} files of {data.path} can be read.",
            evidence=evidence,
        )


def _unreadable(data: DataFacts) -> Iterator[Finding]:
    if data.error:
        yield fail(
            f"{data.path}: {data.error}.", evidence={"path": data.path}, advice="Correct the path."
        )
    elif data.unread:
        yield fail(
            f"{len(data.unread)} files below {data.path} are in a form that is not read.",
            evidence={"files": list(data.unread[:SHOWN])},
            advice="Give JSONL, plain or gzip.",
        )
    else:
        yield fail(f"{data.path} holds no .jsonl or .jsonl.gz file.", evidence={"path": data.path})


def _damage(data: DataFacts) -> Iterator[Finding]:
    for shard in data.shards:
        if shard.damage:
            yield fail(
                f"{shard.path} is damaged after {shard.num_records} whole records: {shard.damage}.",
                evidence={
                    "file": shard.path,
                    "records_before_the_break": shard.num_records,
                    "last_good": shard.last_good,
                },
                advice="Copy the file again; its real number of records is not known.",
            )
    if not data.num_records and not any(shard.damage for shard in data.shards):
        yield fail(f"{data.path} holds no record.", evidence={"path": data.path})


def _problems(data: DataFacts) -> Iterator[Finding]:
    for kind, words in (BLOCKING | WARNING).items():
        count = sum(shard.problems.get(kind, 0) for shard in data.shards)
        if not count:
            continue
        examples = [
            _example(shard, one)
            for shard in data.shards
            for one in shard.examples
            if one.kind == kind
        ]
        is_blocking = kind in BLOCKING
        yield (fail if is_blocking else warn)(
            f"{count} of {data.num_records} records: {words}; the first is {examples[0]['place']}: {examples[0]['detail']}",
            evidence={"kind": kind, "count": count, "examples": examples[:SHOWN]},
            advice=f"Repair or remove them. {POLICY}" if is_blocking else "Look at the examples.",
        )


def _example(shard: ShardFacts, problem: Problem) -> dict[str, object]:
    return {
        "place": f"{shard.path}:{problem.line}",
        "file": shard.path,
        "line": problem.line,
        "byte_offset": problem.offset,
        "detail": problem.detail,
    }


def _oddities(data: DataFacts) -> Iterator[Finding]:
    for shard in data.shards:
        met = {
            "byte-order marks": shard.num_bom,
            "CRLF line ends": shard.num_crlf,
            "blank lines": shard.num_blank,
        }
        words = ", ".join(f"{count} {name}" for name, count in met.items() if count)
        if words:
            yield info(
                f"{shard.path}: met {words}; they change no record.",
                evidence={"file": shard.path, **met},
            )
        drifting = {
            name: types for name, types in shard.types.items() if len(types.keys() - {"null"}) > 1
        }
        if drifting:
            yield warn(
                f"{shard.path}: the type of {', '.join(sorted(drifting)[:SHOWN])} changes between lines.",
                evidence={
                    "file": shard.path,
                    "first_line_of_each_type": dict(sorted(drifting.items())[:SHOWN]),
                },
                advice="Give each field one type, or leave it out.",
            )
