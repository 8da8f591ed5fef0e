"""The frame of preflight: facts in, findings out.

Facts are gathered where they are (`gathering`), and judged here by pure functions, one file each in `checks`.
A check that lacks its fact says `unknown`; it never passes in silence.
"""

import importlib
import logging
import pkgutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from safehold.config import ConfigError, RunConfig
from safehold.findings import Finding, Verdict, passed, unknown, verdict
from safehold.preflight.facts import CheckpointFacts, DataFacts, Proven, TokenizerFacts, Trial
from safehold.preflight.visible import storable
from safehold.rulebook import Observed, Rulebook, Situation, written

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """All that the checks may look at; None: not gathered.

    Attributes:
        config: The config, or None where it is none.
        config_errors: Why it is none.
        data: What a scan of `data.path` met.
        validation: What a scan of `data.validation_path` met; None too where the config names none.
        rulebook: That of the project; None: as it is written.
        parent: The config that this one follows; None too where it follows none.
        observed: What an earlier run showed.
        proven: Rates and batches of finished runs of the same model family.
        trial: The experiment that would prove those of the config; None too where there is none.
    """

    config: RunConfig | None = None
    config_errors: tuple[ConfigError, ...] = ()
    data: DataFacts | None = None
    validation: DataFacts | None = None
    tokenizer: TokenizerFacts | None = None
    checkpoint: CheckpointFacts | None = None
    rulebook: Rulebook | None = None
    parent: RunConfig | None = None
    observed: Observed | None = None
    proven: tuple[Proven, ...] | None = None
    trial: Trial | None = None


Judge = Callable[[Facts], Iterator[Finding]]


@dataclass(frozen=True)
class Check:
    """One registered check: `group` is the word of `--only`."""

    code: str
    group: str
    judge: Judge

    @property
    def summary(self) -> str:
        """Return the first line of its docstring."""
        return (self.judge.__doc__ or self.code).strip().splitlines()[0]


@dataclass(frozen=True)
class Report:
    """What preflight says."""

    findings: tuple[Finding, ...]
    is_production: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """Return the worst finding as one word; a missing fact blocks production."""
        return verdict(self.findings, production=self.is_production)

    def to_dict(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return {
            "verdict": self.verdict,
            "findings": [storable(finding.to_dict()) for finding in self.findings],
            **self.facts,
        }


def by_rules(facts: Facts, family: str) -> Iterator[Finding]:
    """Yield what the rules of a family say of the config; each check of the group `rules` is one family."""
    if facts.config is None:
        yield unknown("The config cannot be read.")
        return
    situation = Situation(config=facts.config, parent=facts.parent, observed=facts.observed)
    found = list((facts.rulebook or written()).judge(family, situation))
    yield from found or [passed("No rule of the family has anything to say of this config.")]


_REGISTRY: dict[str, Check] = {}


def check(code: str, *, group: str) -> Callable[[Judge], Judge]:
    """Register a check; its code is stored with findings, so it never changes meaning."""

    def register(judge: Judge) -> Judge:
        if code in _REGISTRY:
            raise ValueError(f"Two checks are called {code}.")
        _REGISTRY[code] = Check(code, group, judge)
        return judge

    return register


def all_checks() -> tuple[Check, ...]:
    """Return every check of the folder `checks`, by code."""
    from safehold.preflight import checks

    for module in pkgutil.iter_modules(checks.__path__):
        importlib.import_module(f"{checks.__name__}.{module.name}")
    return tuple(_REGISTRY[code] for code in sorted(_REGISTRY))


def chosen(only: Collection[str] | None = None) -> tuple[Check, ...]:
    """Return the checks of these groups or codes; all when none is named.

    Raises:
        ValueError: A name is neither a group nor a code.
    """
    every = all_checks()
    if not only:
        return every
    known = {name for one in every for name in (one.group, one.code)}
    if strangers := sorted(set(only) - known):
        groups = ", ".join(sorted({one.group for one in every}))
        raise ValueError(f"There is no check {', '.join(strangers)}; groups are {groups}.")
    return tuple(one for one in every if one.group in only or one.code in only)


def run_checks(facts: Facts, only: Collection[str] | None = None) -> Report:
    """Judge the facts.

    Args:
        facts: As `gather` found them.
        only: Groups or codes; all checks when empty. Why a config cannot be read is said whatever was asked.

    Raises:
        ValueError: A name in `only` is unknown.
    """
    asked = chosen(only)
    if facts.config_errors and all(one.group != "config" for one in asked):
        asked = (*chosen(["config"]), *asked)
    findings = [finding for one in asked for finding in _judged(one, facts)]
    kind = facts.config.kind if facts.config else "experiment"
    return Report(tuple(findings), is_production=kind == "production")


def _judged(one: Check, facts: Facts) -> Iterable[Finding]:
    try:
        found = list(one.judge(facts))
    except Exception as error:  # one broken check must not lose the report of the others
        logger.exception("preflight.check_broke", extra={"check": one.code})
        found = [unknown(f"The check itself broke: {error!r}.", advice="Please report it.")]
    if all(finding.severity == "info" for finding in found):
        found.insert(0, passed(one.summary))
    return [replace(finding, code=one.code) for finding in found]
