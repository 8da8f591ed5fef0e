"""Preflight of a config, recorded; and the gate that every launch passes.

Quick facts (config, tokenizer, checkpoint root) are gathered where they are asked for. Data are read there too while
they are small; larger ones are read by the task `workers.preflight`.
"""

from collections.abc import Collection, Sequence
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from controlplane.common import access, audit
from controlplane.common.errors import Conflict, Invalid
from controlplane.common.models import User
from controlplane.common.queue import wake
from controlplane.common.sentences import sentence
from runs.models import Attempt, Config, PreflightReport, Run
from runs.services import (
    checking,
    dry_runs,
    events,
    launch_gate,
    launcher_choice,
    rule_facts,
    runs,
)
from runs.services.launch_gate import newest_whole
from safehold.findings import Finding
from safehold.preflight import Report, chosen, facts_of, run_checks
from safehold.preflight.gathering.data import shards_of

__all__ = ["gate", "launch", "newest_whole", "request"]
State = PreflightReport.State
# About a second of reading on one core; a request should not wait for longer.
SMALL_DATA_BYTES = 64 << 20


def request(*, config: Config, user: User, only: Sequence[str] = ()) -> PreflightReport:
    """Run the checks of a config now where that is quick, else have a worker run them.

    Args:
        config: What is checked.
        user: Needs the role operator.
        only: Groups or codes of checks; all when empty.

    Raises:
        Invalid: A name in `only` is unknown.
    """
    access.require(user, config.project_id, "preflight.request")
    groups = _groups(only)
    report = PreflightReport.objects.create(
        config=config, config_hash=config.hash, requested_by=user, only=list(only)
    )
    audit.record(
        actor=user, action="preflight.request", object=report, project_id=config.project_id
    )
    if "data" in groups and _data_bytes(config) > SMALL_DATA_BYTES:
        wake("workers.preflight", report_id=report.pk)
    else:
        checking.carry_out(report_id=report.pk)
        report.refresh_from_db()
    return report


def launch(
    *, run: Run, user: User, report: PreflightReport | None = None, reason: str = "",
    waiver: str = "", weights_from: int | None = None,
) -> Attempt:  # fmt: skip
    """Launch a run whose config passes preflight, and whose cluster takes its workload.

    Args:
        run: One that was never launched; else only what `request_launch` says counts.
        user: Needs the role operator.
        report: What `gate` just returned for this config and launcher; asked anew when left out.
        reason: Why more than one variable changes, where nobody said so yet.
        waiver: Why an experiment may start in spite of what failed; kept with the name.
        weights_from: A checkpoint whose weights it begins with, instead of those of its card's base.

    Raises:
        Invalid: A check failed (`findings` says which, `fields` at which field), or a reason is missing.
        Conflict: Preflight is still reading the data.
    """
    access.require(user, run.project_id, "run.launch")
    if not run.attempts.exists():
        asked = report or gate(config=run.config, launcher=run.launcher, user=user)
        _pass_gate(run, asked, user, waiver)
    return runs.request_launch(run=run, user=user, reason=reason, weights_from=weights_from)


def gate(*, config: Config, launcher: str, user: User) -> PreflightReport:
    """Return what stands against a launch now; a report that is not done says that data are still read.

    What is quick is asked anew; what was read of large data counts while the document is the same.

    Args:
        config: What would be launched.
        launcher: Where; a cluster is asked whether it would take the workload.
        user: Needs the role operator.
    """
    report = newest_whole(config)
    if report is None or _data_bytes(config) <= SMALL_DATA_BYTES:
        report = request(config=config, user=user)
    else:
        report = _refreshed(report, user)
    if report.state == State.DONE and launcher.startswith(f"{launcher_choice.KUBERNETES}:"):
        _add(report, dry_runs.dry_run(config=config, launcher=launcher))
    return report


def _add(report: PreflightReport, found: Sequence[Finding]) -> None:
    kept = [Finding.from_dict(one) for one in report.findings if one["code"] != dry_runs.CODE]
    whole = Report((*kept, *found), report.config.kind == Config.Kind.PRODUCTION).to_dict()
    report.findings, report.verdict = whole["findings"], whole["verdict"]
    report.save(update_fields=["findings", "verdict"])


def _pass_gate(run: Run, report: PreflightReport, user: User, waiver: str) -> None:
    """Pass, or raise."""
    if report.state != State.DONE:
        raise Conflict(
            _(
                "Preflight of config %(config)s is reading the data; "
                "launch run %(run)s when it is done."
            )
            % {"config": run.config_id, "run": run.pk},
            code="preflight-running",
            extra={"report": report.pk},
        )
    if report.verdict == "fail" and waiver:
        launch_gate.waive(run=run, user=user, report=report, reason=waiver)
    elif report.verdict == "fail":
        _refuse(run, report, user)


def _refreshed(report: PreflightReport, user: User) -> PreflightReport:
    """Return a report with what it said of the data, and everything else gathered and judged anew."""
    quick = [one.code for one in chosen() if one.group != "data"]
    facts = rule_facts.with_records(facts_of(report.config.document, quick), report.config)
    found = run_checks(facts, quick)
    kept = [Finding.from_dict(one) for one in report.findings if one["code"] not in quick]
    whole = Report((*found.findings, *kept), found.is_production).to_dict()
    if whole["findings"] == report.findings:
        return report
    now = timezone.now()
    return PreflightReport.objects.create(
        config=report.config, config_hash=report.config_hash, requested_by=user, state=State.DONE, started_at=now,
        ended_at=now, verdict=whole["verdict"], findings=whole["findings"],
    )  # fmt: skip


def _refuse(run: Run, report: PreflightReport, user: User) -> None:
    blocking = [one for one in report.findings if _blocks(one, report.config.kind)]
    why = blocking[0]["message"]
    events.record(
        run=run,
        kind="launch_refused",
        user=user,
        message=f"Run {run.pk} cannot start: {why}",
        data={"report": report.pk, "findings": blocking},
    )
    raise Invalid(
        _("Run %(run)s cannot start: %(why)s") % {"run": run.pk, "why": sentence(why)},
        code="preflight-failed",
        hint=sentence(blocking[0].get("advice", "")),
        fields={_field(one): [one["message"]] for one in reversed(blocking)},
        extra={"report": report.pk, "findings": blocking},
    )


def _blocks(finding: dict[str, Any], kind: str) -> bool:
    is_unknown = finding["severity"] == "unknown" and kind == Config.Kind.PRODUCTION
    return finding["severity"] == "fail" or is_unknown


def _field(finding: dict[str, Any]) -> str:
    """Return the field of the config that a finding is about."""
    fields = {
        "DATA-1.format": "data.path", "TOK-1.lock": "tokenizer.digest", "TOK-4.ids_in_embedding": "network.vocabulary",
        "CONF-3.checkpoint_path": "checkpoint.root",
    }  # fmt: skip
    return str(finding["evidence"].get("field") or fields.get(finding["code"], ""))


def _groups(only: Collection[str]) -> set[str]:
    try:
        return {one.group for one in chosen(only)}
    except ValueError as error:
        raise Invalid(str(error), fields={"only": [str(error)]}) from error


def _data_bytes(config: Config) -> int:
    data = config.document.get("data") or {}
    paths = [str(data[name]) for name in ("path", "validation_path") if data.get(name)]
    try:
        return sum(shard.stat().st_size for path in paths for shard in shards_of(path))
    except OSError:
        return 0
