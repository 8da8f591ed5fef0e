"""What a run was launched with (CONF-8): from its config, which never changes, and from what its trainer reported."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from blake3 import blake3

from runs.models import Attempt, Run
from safehold.config import canonical_json

NOT_LOCKED = ""


@dataclass(frozen=True)
class Record:
    """The facts of one attempt; empty where the config locks nothing or the trainer has not reported yet.

    Attributes:
        libraries: Name -> version: python, torch, cuda, nccl …
        nodes: Names of the machines.
    """

    config_hash: str
    code_commit: str
    code_dirty: str
    image: str
    image_digests: tuple[str, ...]
    data_version: str
    tokenizer_digest: str
    mix_version: str
    seed: int | None
    libraries: Mapping[str, Any]
    nodes: tuple[str, ...]


def record_of(run: Run, attempt: Attempt | None) -> Record:
    """Return what an attempt was launched with; of a run that was never launched what its config says."""
    document = run.config.document
    reported = attempt.environment if attempt else {}
    code = reported.get("code") or {}
    return Record(
        config_hash=run.config.hash,
        code_commit=str(code.get("commit") or ""),
        code_dirty=str(code.get("dirty") or ""),
        image=str((document.get("kubernetes") or {}).get("image", "")),
        image_digests=_image_digests(attempt),
        data_version=str((document.get("data") or {}).get("version", NOT_LOCKED)),
        tokenizer_digest=str((document.get("tokenizer") or {}).get("digest", NOT_LOCKED)),
        mix_version=mix_version(document),
        seed=(document.get("train") or {}).get("seed"),
        libraries={name: v for name, v in (reported.get("versions") or {}).items() if v},
        nodes=_nodes(attempt, reported),
    )


def mix_version(document: Mapping[str, Any]) -> str:
    """Return the name of a mix: the digest of its shares; empty where the data are taken as they lie."""
    mix = (document.get("data") or {}).get("mix")
    return f"blake3:{blake3(canonical_json(mix).encode()).hexdigest()}" if mix else ""


def _image_digests(attempt: Attempt | None) -> tuple[str, ...]:
    sight = getattr(attempt, "sight", None)
    return tuple(sight.image_ids) if sight else ()


def _nodes(attempt: Attempt | None, reported: Mapping[str, Any]) -> tuple[str, ...]:
    sight = getattr(attempt, "sight", None)
    rows = sight.pods.get("rows", []) if sight else []
    names = {str(row["node"]) for row in rows if row.get("node")}
    host = reported.get("host")
    return tuple(sorted(names)) or ((str(host),) if host else ())
