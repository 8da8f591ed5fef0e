"""What may be done with a run now, how the page asks for it, and what happens next by itself."""

from dataclasses import dataclass, replace

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from controlplane.common.models import Role
from runs.run_table import RunRow
from runs.states import State

# Words of `states.Shown.acts` in the order of the page, with the path that asks for them.
SLUGS = {
    "launch": "launch", "resume": "resume", "save": "save", "pause": "pause", "stop": "stop", "force_stop": "force-stop",
}  # fmt: skip


@dataclass(frozen=True)
class Act:
    """One button.

    Attributes:
        slug: Last part of the path; empty for a link.
        question: What the dialog asks, naming the object; empty asks nothing.
        effect: What will have happened afterwards.
        tone: `danger` where work can be lost.
    """

    slug: str
    word: str | Promise
    icon: str
    question: str = ""
    effect: str = ""
    tone: str = ""
    is_main: bool = False
    href: str = ""


_ACTS = {
    "launch": Act("launch", gettext_lazy("Launch"), "play", is_main=True),
    "resume": Act("resume", gettext_lazy("Resume"), "play", is_main=True),
    "save": Act("save", gettext_lazy("Save now"), "save"),
    "pause": Act("pause", gettext_lazy("Pause"), "pause"),
    "stop": Act("stop", gettext_lazy("Stop"), "stop"),
    "force_stop": Act("force-stop", gettext_lazy("Force stop"), "bolt", tone="danger"),
}


def acts_of(row: RunRow, *, role: Role | None, fork_href: str) -> list[Act]:
    """Return the buttons for a person with this role; a viewer gets none."""
    if role is None or role < Role.OPERATOR:
        return []
    put_away = {"launch", "resume"} if row.run.archived_at else set()
    words = row.shown.acts - put_away
    acts = [_asking(act, row) for word, act in _ACTS.items() if word in words]
    if row.run.checkpoint_step is not None:
        acts.append(Act("", _("Fork"), "fork", href=fork_href))
    return acts


def next_of(row: RunRow) -> str:
    """Return what happens next if nobody does anything, or what a person may do."""
    if row.run.archived_at:  # the page says beside it that it is put away
        return ""
    step = row.run.checkpoint_step
    begins = (
        _("Resume begins a new attempt at the verified checkpoint of step %(step)s.")
        % {"step": f"{step:,}"}
        if step is not None
        else _("There is no verified checkpoint yet: Resume begins at step 0.")
    )
    texts = {
        "draft": _("Launch it when it is ready."),
        "queued": _("A worker starts it within seconds."),
        "starting": _("The first step follows once every rank has joined."),
        "pausing": _("The trainer saves at the next step, then holds its devices."),
        "stopping": _("The trainer saves at the next step, then ends."),
        "contact_lost": _("Nothing is restarted while it may still be training."),
        "finished": _("Fork a run from one of its checkpoints, or launch the config again."),
    }  # fmt: skip
    if row.attempt is not None and row.attempt.state == State.WAITING:
        return _("It starts by itself as soon as its devices are free.")
    if row.shown.word == "paused" and row.shown.is_active:
        return _(
            "It holds its devices for a while, then gives them back; Resume goes on at the same step."
        )
    if row.shown.word in texts:
        return texts[row.shown.word]
    return begins if "resume" in row.shown.acts else ""


def _asking(act: Act, row: RunRow) -> Act:
    name = row.run.name
    if act.slug == "stop":
        return replace(
            act, question=_("Stop %(name)s?") % {"name": name},
            effect=_("It saves a checkpoint, then ends and gives its devices back. Resume goes on from there."),
        )  # fmt: skip
    if act.slug == "force-stop":
        return replace(
            act, question=_("Force %(name)s to stop?") % {"name": name},
            effect=_("Its processes are killed without a save: everything since %(since)s is lost.") % {"since": _last_save(row)},
        )  # fmt: skip
    if act.slug == "pause":
        return replace(
            act, question=_("Pause %(name)s?") % {"name": name},
            effect=_("It saves a checkpoint and waits, holding its devices for a limited time."),
        )  # fmt: skip
    return act


def _last_save(row: RunRow) -> str:
    step = row.run.checkpoint_step
    return (
        _("the start of the run")
        if step is None
        else _("the checkpoint of step %(step)s") % {"step": f"{step:,}"}
    )
