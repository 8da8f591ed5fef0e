"""The list of checks: a file in `checks/` puts itself on it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import replace

from safehold.checkpointing.verification import checks
from safehold.checkpointing.verification.facts import Facts
from safehold.findings import Finding, info, passed

Check = Callable[[Facts], Iterator[Finding]]

CHECKS: dict[str, Check] = {}
_WITHOUT_MANIFEST: set[str] = set()
_OF_ALL_DATA = {"CKPT-5.files", "CKPT-5.finite"}


def check(code: str, *, needs_manifest: bool = True) -> Callable[[Check], Check]:
    """Put a check on the list under its code, which is stored with findings and never changes.

    Args:
        code: `CKPT-5.<name of the file>`.
        needs_manifest: Where there is none the check is not asked, and that is told.
    """

    def register(function: Check) -> Check:
        if code in CHECKS:
            raise ValueError(f"Two checks are called {code}.")
        CHECKS[code] = function
        if not needs_manifest:
            _WITHOUT_MANIFEST.add(code)
        return function

    return register


def judge(facts: Facts) -> tuple[Finding, ...]:
    """Return what every check says; one that found nothing says so."""
    for module in pkgutil.iter_modules(checks.__path__):
        importlib.import_module(f"{checks.__name__}.{module.name}")
    found: list[Finding] = []
    for code, function in sorted(CHECKS.items()):
        if facts.manifest is None and (code not in _WITHOUT_MANIFEST or _is_unread(facts, code)):
            found.append(info("Not judged: there is no manifest to compare with.", code=code))
            continue
        said = [replace(finding, code=code) for finding in function(facts)]
        found += said or [passed(_first_line(function), code=code)]
    return tuple(found)


def _is_unread(facts: Facts, code: str) -> bool:
    """Whether it would judge data that nobody read: of a folder without a manifest only the heads of files were."""
    return facts.shape == "folder" and code in _OF_ALL_DATA


def _first_line(function: Check) -> str:
    return (function.__doc__ or function.__name__).strip().splitlines()[0]
