"""What keeps a production config from being approved: the findings that would keep it from starting.

`approvals.approve` asks here, so page, API and command line refuse alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from controlplane.common.errors import Conflict
from controlplane.common.sentences import sentence
from runs.models import Config, PreflightReport
from runs.services import launch_gate, rule_facts
from safehold.findings import Finding, Verdict, verdict
from safehold.preflight import chosen

# A missing fact blocks production as a failure does; nobody can waive either there.
BLOCKS = frozenset({"fail", "unknown"})
_MOST_TOLD = 3

Told = Mapping[str, Any]


@dataclass(frozen=True)
class Judgement:
    """What is known against a config now.

    Attributes:
        findings: Of the rules as they judge it now, and of the newest preflight of exactly this document.
        report: That preflight; None: it was not run.
    """

    findings: Sequence[Told]
    report: PreflightReport | None = None

    @property
    def blocking(self) -> list[Told]:
        """The findings that refuse an approval."""
        return [one for one in self.findings if one["severity"] in BLOCKS]

    @property
    def is_met_since(self) -> bool:
        """Whether the report says that something blocks, which the rules as of now do not any more."""
        return self.report is not None and self.report.verdict == "fail" and not self.blocking

    @property
    def verdict(self) -> Verdict:
        """The worst of them as one word, as production counts."""
        found = [Finding(str(one["code"]), one["severity"], "") for one in self.findings]
        return verdict(found, production=True)


def judge(config: Config) -> Judgement:
    """Return what speaks against a config: its rules now, and what its preflight found beyond the rules."""
    # A document that the schema of today cannot read is judged by no rule now: what its report says stays.
    rules = {one.code for one in chosen(["rules"])} if rule_facts.read(config) else set()
    report = launch_gate.newest_whole(config)
    found = [one for one in report.findings if one["code"] not in rules] if report else []
    return Judgement([*rule_facts.judge_stored(config), *found], report)


def require(config: Config) -> None:
    """Pass a config that nothing speaks against, or raise.

    Raises:
        Conflict: With the findings that block it.
    """
    blocking = judge(config).blocking
    if not blocking:
        return
    told = ngettext(
        "Config %(config)s cannot be approved: %(num)s finding blocks it.",
        "Config %(config)s cannot be approved: %(num)s findings block it.",
        len(blocking),
    )
    mend = _(
        "Mend it in a config that follows this one, or run preflight again once its facts changed."
    )
    said = " ".join(f"{one['code']}: {sentence(one['message'])}" for one in blocking[:_MOST_TOLD])
    raise Conflict(
        told % {"config": config.pk, "num": len(blocking)},
        code="approval-blocked",
        hint=f"{said} {mend}",
        extra={"findings": blocking},
    )
