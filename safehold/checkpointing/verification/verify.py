"""`verify(path)`: the one entry, for the command line, the worker and the trainer."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from safehold.checkpointing.verification.base import judge
from safehold.checkpointing.verification.facts import Facts
from safehold.checkpointing.verification.gather import Progress, gather
from safehold.findings import Finding, Verdict, verdict
from safehold.manifest import Expected, Manifest


@dataclass(frozen=True, slots=True)
class Verification:
    """The result for one checkpoint.

    Attributes:
        verdict: `fail` means that it is no recovery point; the findings say why.
        num_bytes: Bytes read.
        seconds: Wall time.
        digests: Of each file that could be read, by path.
        manifest: As it was read; None where there is none.
    """

    verdict: Verdict
    findings: tuple[Finding, ...]
    num_bytes: int
    seconds: float
    digests: dict[str, str]
    manifest: Manifest | None = None
    num_tensors: int = 0

    @property
    def facts(self) -> dict[str, Any]:
        """Return the figures as the command line and the registry show them."""
        return {
            "bytes": self.num_bytes,
            "seconds": round(self.seconds, 6),
            "digests": dict(self.digests),
            "num_tensors": self.num_tensors,
            "step": self.manifest.step if self.manifest else None,
        }

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return the messages of the findings that failed."""
        return tuple(item.message for item in self.findings if item.severity == "fail")


def verify(
    path: str | os.PathLike[str],
    *,
    expected: Expected | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Verify a checkpoint folder or file; each byte is read once, nothing of it is run.

    Args:
        path: A folder with a manifest, a DCP folder, or a single file.
        expected: What the run that wants to load it says; differences become findings.
        progress: Called with bytes done and bytes in all.

    Raises:
        OSError: there is nothing at the path, or the disk refused.
    """
    began = time.perf_counter()
    facts = replace(gather(Path(path), progress), expected=expected)
    findings = judge(facts)
    return Verification(
        verdict=verdict(findings),
        findings=findings,
        num_bytes=sum(item.size or 0 for item in facts.files.values()),
        seconds=time.perf_counter() - began,
        digests={name: item.digest for name, item in facts.files.items() if item.digest},
        manifest=facts.manifest,
        num_tensors=_num_tensors(facts),
    )


def _num_tensors(facts: Facts) -> int:
    return sum(len(item.contents.spans) for item in facts.files.values() if item.contents)
