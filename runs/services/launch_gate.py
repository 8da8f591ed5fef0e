"""What the first attempt of every run has to pass, whoever asks for it and by whatever path.

A verdict of preflight for exactly this document, not older than a day, that does not fail; or, for an experiment, a
waiver with name and reason. `attempts.create_attempt` asks here, so nothing goes round it.
"""

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from controlplane.common import access, audit
from controlplane.common.errors import Conflict, Invalid
from controlplane.common.models import User
from runs.models import Config, PreflightReport, Run, Waiver
from runs.services import events

State = PreflightReport.State
GREEN = frozenset({"pass", "warn"})


def newest_whole(config: Config) -> PreflightReport | None:
    """Return the newest finished report of all checks for exactly this document."""
    done = PreflightReport.objects.filter(
        config=config, config_hash=config.hash, state=State.DONE, only=[]
    )
    return done.order_by("-pk").first()


def require(*, run: Run) -> None:
    """Pass a run whose preflight is green, or waived; called before its first attempt is made.

    Raises:
        Conflict: Its preflight was not run, or too long ago.
        Invalid: It failed, and nobody waived it.
    """
    report, config = newest_whole(run.config), run.config
    if report is not None and report.verdict in GREEN and not _is_old(report):
        return
    if not config.is_production and _is_waived(run):
        return
    if report is None or report.verdict in GREEN:
        raise Conflict(
            (
                _("Run %(run)s cannot start: preflight of config %(config)s has not been run.")
                if report is None
                else _(
                    "Run %(run)s cannot start: preflight of config %(config)s was run too long ago."
                )
            )
            % {"run": run.pk, "config": config.pk},
            code="preflight-missing",
            hint=_("Launch it by its page, the API or the command line: they run it."),
        )
    raise Invalid(
        _("Run %(run)s cannot start: preflight of config %(config)s failed.")
        % {"run": run.pk, "config": config.pk},
        code="preflight-failed",
        hint=_("Look at report %(report)s.") % {"report": report.pk},
        extra={"report": report.pk},
    )


@transaction.atomic
def waive(*, run: Run, user: User, report: PreflightReport, reason: str) -> Waiver:
    """Let one run of an experiment start in spite of its preflight; kept with name and reason.

    Args:
        run: One that was never launched.
        user: Needs the role operator.
        report: What is waived.
        reason: Why it may start all the same.

    Raises:
        Conflict: The config is one for production: nobody can waive that.
        Invalid: There is no reason.
    """
    access.require(user, run.project_id, "run.launch")
    text = reason.strip()
    if run.config.is_production:
        raise Conflict(
            _("Run %(run)s trains a production config: its preflight cannot be waived.")
            % {"run": run.pk},
            code="no-waiver-in-production",
            hint=_("Mend what failed; the report names it."),
        )
    if not text:
        raise Invalid(
            _("A waiver needs a reason."), fields={"waiver": [_("Say why it may start.")]}
        )
    made, _is_new = Waiver.objects.update_or_create(
        run=run,
        defaults={
            "report": report, "config_hash": run.config.hash, "waived_by": user, "reason": text,
        },
    )  # fmt: skip
    failed = [one["code"] for one in report.findings if one["severity"] == "fail"]
    data = {"report": report.pk, "findings": failed, "reason": text}
    audit.record(actor=user, action="run.waive_preflight", object=run, data=data)
    message = f"{user} waived preflight: {text}"
    events.record(run=run, kind="preflight_waived", user=user, message=message, data=data)
    return made


def _is_old(report: PreflightReport) -> bool:
    """Whether too much may have changed since: paths, space, tokenizer files."""
    limit = timedelta(seconds=settings.SAFEHOLD_PREFLIGHT_VALID_SECONDS)
    return timezone.now() - (report.ended_at or report.requested_at) > limit


def _is_waived(run: Run) -> bool:
    return Waiver.objects.filter(run=run, config_hash=run.config.hash).exists()
