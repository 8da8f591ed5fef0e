"""What rules look at beyond the config: the project's bounds, the config before, and what earlier runs showed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db.models import F, Q

from runs.models import Card, Config, Run
from runs.services import metrics, rulebook
from safehold.config import ConfigInvalid, RunConfig, family_hash, parse
from safehold.findings import Finding
from safehold.preflight import Facts, run_checks
from safehold.preflight.facts import Proven, Trial
from safehold.rulebook import Observed
from safehold.rulebook.curves import is_saw_tooth, spread_of

# The newest so many finished runs of a family are looked at.
_MOST_PROVEN = 200
_POINTS = 4000
_PILOTS = (Card.Pilot.SHRUNK, Card.Pilot.MIX)
_PROVEN_FIELDS = (("optimizer", "lr"), ("train", "global_batch"))
_LOSS, _NORM = "train/loss", "grad_norm/global"


def with_records(facts: Facts, config: Config) -> Facts:
    """Return the facts with what our records know about a config."""
    return replace(
        facts,
        rulebook=rulebook.in_force(config.project_id),
        parent=read(config.parent),
        observed=observed_before(config),
        proven=proven_for(config),
        trial=_trial_in(config.project_id, config.family_hash, config.document),
    )


def judge_typed(*, config: RunConfig, project_id: int, parent: Config | None) -> list[Finding]:
    """Return what the rules say of a config that is being written; what passes is left out.

    Args:
        config: Sound by itself.
        project_id: Whose rulebook counts.
        parent: The stored config that it follows.
    """
    document = config.model_dump(mode="json")
    facts = Facts(
        config=config,
        rulebook=rulebook.in_force(project_id),
        parent=read(parent),
        observed=observed_before(parent) if parent else None,
        proven=_proven_in(project_id, family_hash(config), document),
        trial=_trial_in(project_id, family_hash(config), document),
    )
    found = run_checks(facts, ["rules"]).findings
    return [one for one in found if one.severity != "pass" and "field" in one.evidence]


def judge_stored(config: Config) -> list[dict[str, Any]]:
    """Return what the rules say of a stored config, for its page; what passes is left out."""
    typed = read(config)
    if typed is None:
        return []
    found = judge_typed(config=typed, project_id=config.project_id, parent=config.parent)
    return [one.to_dict() for one in found]


def read(config: Config | None) -> RunConfig | None:
    """Return a stored config as the schema of today reads it; None where it does not."""
    try:
        return parse(config.document) if config is not None else None
    except ConfigInvalid:
        return None


def proven_for(config: Config) -> tuple[Proven, ...]:
    """Return rate and batch of the runs of the same model family and stage in the project that did all their steps.

    What ended earlier by itself, and pilots, prove nothing at this scale; fine-tuning proves nothing for pretraining.
    """
    return _proven_in(config.project_id, config.family_hash, config.document)


def _proven_in(project_id: int, family: str, document: Mapping[str, Any]) -> tuple[Proven, ...]:
    finished = Run.objects.filter(
        _of_stage(document, "config__"), project=project_id, config__family_hash=family,
        attempts__outcome="finished", step__gte=F("total_steps"),
    ).exclude(card__pilot__in=_PILOTS).distinct()  # fmt: skip
    rows = finished.order_by("-pk").values_list("name", *_in_config("config__"), "pk")
    return tuple(one for row in rows[:_MOST_PROVEN] if (one := _proven(*row)))


def _trial_in(project_id: int, family: str, document: Mapping[str, Any]) -> Trial | None:
    """Return the newest experiment that would prove rate and batch of a production config, had it a finished run."""
    rate, batch = (document.get(part, {}).get(name) for part, name in _PROVEN_FIELDS)
    wanted = _proven("", rate, batch)
    if document.get("kind") != Config.Kind.PRODUCTION or wanted is None:
        return None
    experiments = Config.objects.filter(
        _of_stage(document), project=project_id, family_hash=family, kind=Config.Kind.EXPERIMENT,
        document__train__global_batch=wanted.global_batch,
    ).exclude(card__pilot__in=_PILOTS)  # fmt: skip
    rows = experiments.order_by("-pk").values_list("pk", *_in_config())
    for pk, *values in rows[:_MOST_PROVEN]:
        if _proven("", *values) == wanted:
            return _trial(experiments.get(pk=pk))
    return None


def _of_stage(document: Mapping[str, Any], prefix: str = "") -> Q:
    """Return the condition that a config is of the same stage; stored documents may leave the default out."""
    default = str(RunConfig.model_fields["stage"].default)
    stage = document.get("stage", default)
    same = Q(**{f"{prefix}document__stage": stage})
    return same | Q(**{f"{prefix}document__stage__isnull": True}) if stage == default else same


def _trial(config: Config) -> Trial:
    run = config.runs.order_by(F("step").desc(nulls_last=True), "-pk").first()
    steps = config.document["train"].get("steps") or 0
    if run is None:
        return Trial(config.name, config.pk, steps)
    return Trial(config.name, config.pk, steps, run_id=run.pk, steps=run.step or 0)


def observed_before(config: Config) -> Observed | None:
    """Return what the newest trained run of the config, or of the one it follows, showed."""
    runs = Run.objects.filter(config__in=[config.pk, config.parent_id or config.pk], step__gt=0)
    run = runs.order_by("-pk").first()
    if run is None:
        return None
    chart = metrics.read_chart(run=run, names=[_LOSS, _NORM], x="step", points=_POINTS)
    spread = spread_of(_values(chart, _NORM))
    mean, deviation = spread or (None, None)
    return Observed(
        run=run.name, norm_mean=mean, norm_deviation=deviation,
        is_saw_tooth=is_saw_tooth(_values(chart, _LOSS)),
    )  # fmt: skip


def _in_config(prefix: str = "") -> list[str]:
    """Return the lookups of rate and batch: whole documents are large."""
    return [f"{prefix}document__{part}__{name}" for part, name in _PROVEN_FIELDS]


def _proven(name: str, rate: Any, batch: Any, run_id: int = 0) -> Proven | None:
    try:
        return Proven(name, float(rate), int(batch), run_id)
    except (TypeError, ValueError):
        return None


def _values(chart: Mapping[str, Any], name: str) -> list[float]:
    parts = [part for one in chart["series"] if one["name"] == name for part in one["parts"]]
    return [float(value) for part in parts if not part["superseded"] for value in part["values"]]
