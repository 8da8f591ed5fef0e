"""Calling verified checkpoints stable once the loss after them stayed healthy."""

import logging
from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from checkpoints import stability
from checkpoints.models import Checkpoint, StartedFrom
from checkpoints.services import moves
from checkpoints.stability import Health, Judgement, Point
from checkpoints.states import State
from runs.metricstore import reading
from runs.metricstore.window import Range
from runs.models import Attempt
from runs.services import events

logger = logging.getLogger(__name__)
# Names under which trainers log the loss of a step; the first one that has points counts.
LOSS_NAMES = ("train/loss", "loss")
# Where the loss is logged rarely, the stretch is looked for in so many times its length.
_REACH = 10
# A sweep judges at most so many; the next one goes on behind the last of them.
_A_SWEEP = 200
_LAST = "stability:last"


def judge_verified() -> int:
    """Judge every verified checkpoint that enough steps have followed; return how many became stable."""
    due = list(_due().filter(pk__gt=cache.get(_LAST, 0))[:_A_SWEEP])
    cache.set(_LAST, due[-1].pk if len(due) == _A_SWEEP else 0, timeout=None)
    return sum(_judge_one(checkpoint) for checkpoint in due)


def _judge_one(checkpoint: Checkpoint) -> bool:
    try:
        return judge(checkpoint)
    except Exception:
        # Points that cannot be read; the others still deserve their turn.
        logger.exception("checkpoint.not_judged", extra={"checkpoint_id": checkpoint.pk})
        return False


def judge(checkpoint: Checkpoint) -> bool:
    """Read the loss that followed; the newest attempt that went on from it has the first word."""
    for attempt_id in _followers(checkpoint):
        judgement = stability.judge(
            _loss(attempt_id, checkpoint.step),
            step=checkpoint.step,
            num_steps=settings.SAFEHOLD_STABLE_STEPS,
            most_rise=settings.SAFEHOLD_STABLE_RISE_PERCENT / 100,
        )
        if judgement.health is not Health.TOO_EARLY:
            return _keep(checkpoint, judgement)
        if checkpoint.judged_at:  # what an older attempt said is known already
            return False
    return _keep(checkpoint, judgement) if _no_more_comes(checkpoint) else False


def _due() -> QuerySet[Checkpoint]:
    """Verified ones with enough steps behind them that were not judged since they last began an attempt."""
    later = F("step") + settings.SAFEHOLD_STABLE_STEPS
    own = Q(judged_at=None, attempt__step__gte=later)
    whole = Q(started_attempts__takes=StartedFrom.Takes.STATE)
    restarted = (
        whole
        & Q(started_attempts__attempt__step__gte=later)
        & (Q(judged_at=None) | Q(started_attempts__at__gt=F("judged_at")))
    )
    rows = (
        Checkpoint.objects.without_manifest().filter(state=State.VERIFIED).filter(own | restarted)
    )
    return rows.select_related("run", "attempt").order_by("pk").distinct()


def _followers(checkpoint: Checkpoint) -> Iterator[int]:
    """Return the attempts that went on from it; one that took its weights alone trains something else."""
    whole = StartedFrom.objects.filter(checkpoint=checkpoint, takes=StartedFrom.Takes.STATE)
    starts = whole.order_by("-pk")
    yield from starts.values_list("attempt_id", flat=True)
    yield checkpoint.attempt_id


def _no_more_comes(checkpoint: Checkpoint) -> bool:
    """Whether every attempt that went on from it is past what is read of it: it would be read in vain for ever."""
    past = checkpoint.step + _REACH * settings.SAFEHOLD_STABLE_STEPS
    early = Q(ended_at=None) & (Q(step=None) | Q(step__lt=past))
    late = timedelta(seconds=settings.SAFEHOLD_LATE_METRICS_SECONDS)
    recent = Q(ended_at__gt=timezone.now() - late)
    followers = Attempt.objects.filter(pk__in=list(_followers(checkpoint)))
    return not followers.filter(early | recent).exists()


def _loss(attempt_id: int, step: int) -> list[Point]:
    length = settings.SAFEHOLD_STABLE_STEPS
    wanted = Range(x="step", start=max(0, step - length), end=step + _REACH * length)
    found = reading.gather([attempt_id], LOSS_NAMES, wanted, _REACH * length * 2)
    for name in LOSS_NAMES:
        one = found.get((name, attempt_id))
        if one is not None and one.points is not None and one.points.size:
            pairs = zip(one.points.steps.tolist(), one.points.values.tolist(), strict=True)
            return [Point(*pair) for pair in pairs if wanted.start <= pair[0] <= wanted.end]
    return []


@transaction.atomic
def _keep(checkpoint: Checkpoint, judgement: Judgement) -> bool:
    checkpoint.run = moves.hold_run(checkpoint.run_id)
    kept = {"judged_at": timezone.now(), "judgement": judgement.reason}
    if judgement.health is not Health.HEALTHY:
        Checkpoint.objects.filter(pk=checkpoint.pk).update(**kept)
        return False
    try:
        moves.move(checkpoint=checkpoint, to=State.STABLE, **kept)
    except moves.StaleState:  # verified again and damaged meanwhile, or promoted by another sweep
        return False
    events.record(
        run=checkpoint.run,
        attempt=checkpoint.attempt,
        kind="checkpoint",
        message=f"Checkpoint of step {checkpoint.step} is stable. {judgement.reason}",
        data=moves.facts(checkpoint),
    )
    return True
