"""What was found where the data, the tokenizer and the checkpoints lie: plain values, no judgement."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ProblemKind = Literal[
    "not_utf8",
    "not_json",
    "not_a_record",
    "no_text",
    "empty_text",
    "not_encodable",
    "duplicate_key",
    "nul",
    "number_out_of_range",
    "too_long",
]


@dataclass(frozen=True)
class Problem:
    """One line that is not as it should be.

    Attributes:
        line: Counted by line feeds only, from 1.
        offset: Byte at which the line (or the bad byte in it) begins, in the uncompressed text.
        detail: What exactly, with names made visible.
    """

    kind: ProblemKind
    line: int
    offset: int
    detail: str


@dataclass
class ShardFacts:
    """One JSONL file, read from end to end.

    Attributes:
        digest: BLAKE3 of the bytes on disk.
        num_records: Lines that hold something and were read whole, sound or not.
        damage: Why reading ended early, or empty.
        last_good: Line and `id` of the last whole record.
        problems: Count by kind.
        examples: The first few of each kind.
        types: Field -> JSON type -> first line with it.
    """

    path: str
    size_bytes: int = 0
    digest: str = ""
    num_records: int = 0
    num_blank: int = 0
    num_bom: int = 0
    num_crlf: int = 0
    damage: str = ""
    last_good: dict[str, Any] = field(default_factory=dict)
    problems: dict[ProblemKind, int] = field(default_factory=dict)
    examples: list[Problem] = field(default_factory=list)
    types: dict[str, dict[str, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class DataFacts:
    """A data path and its shards.

    Attributes:
        error: Why nothing could be read, or empty.
        unread: Shards in forms that are not read (.zst, .parquet).
    """

    path: str
    shards: tuple[ShardFacts, ...] = ()
    unread: tuple[str, ...] = ()
    error: str = ""

    @property
    def num_records(self) -> int:
        """Return the records read whole, of all shards."""
        return sum(shard.num_records for shard in self.shards)


@dataclass(frozen=True)
class TokenizerFacts:
    """The files of a tokenizer.

    Attributes:
        digest: By the algorithm that the config names.
        files: Name -> digest.
        largest_id: Over vocabulary and added tokens; None where tokenizer.json could not be read.
        tokens_by_id: The tokens with the highest ids, by id.
        first_uses: Token beyond the embedding -> place in the data that holds it.
        error: Why it could not be read, or empty.
    """

    path: str
    digest: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    largest_id: int | None = None
    tokens_by_id: Mapping[int, str] = field(default_factory=dict)
    first_uses: Mapping[str, str] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True)
class Proven:
    """A run of the same model family that did all its steps: its peak rate and global batch work together."""

    run: str
    lr: float
    global_batch: int
    run_id: int = 0


@dataclass(frozen=True)
class Trial:
    """A stored experiment of the same model family with the same peak rate and global batch: finished, it would prove them.

    Attributes:
        steps: That its run has done so far; None: it has no run yet.
    """

    config: str
    config_id: int
    total_steps: int
    run_id: int = 0
    steps: int | None = None


@dataclass(frozen=True)
class CheckpointFacts:
    """The folder for checkpoints.

    Attributes:
        probed: The nearest folder that exists, where a small file was really written.
        error: What refused the write, sync or rename, or empty.
        free_bytes: For us, as the file system says.
        quota_bytes: What the quota leaves, None without one.
    """

    root: str
    probed: str
    error: str = ""
    free_bytes: int = 0
    quota_bytes: int | None = None

    @property
    def usable_bytes(self) -> int:
        """Return what can really be written."""
        return (
            self.free_bytes if self.quota_bytes is None else min(self.free_bytes, self.quota_bytes)
        )
