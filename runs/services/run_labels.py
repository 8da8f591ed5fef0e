"""What people write on a run: its name, group, tags and notes."""

from collections.abc import Iterable, Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from controlplane.common import access, audit, versions
from controlplane.common.errors import Invalid
from controlplane.common.models import User
from runs.labels import cleaned_name, cleaned_run_name, cleaned_tags
from runs.models import Run

NOTES_LENGTH = 20_000


@transaction.atomic
def label_run(
    *,
    run: Run,
    user: User,
    name: str | None = None,
    group: str | None = None,
    tags: Iterable[str] | None = None,
    notes: str | None = None,
    seen: str = "",
) -> Run:
    """Change what is given; the trail keeps old and new.

    Args:
        run: The run.
        user: Needs the role operator.
        name: New name; None = as it is. So with the others.
        group: New group; empty: none.
        tags: All of them.
        notes: New notes.
        seen: `version_of` the run as it was read; empty: whatever it is now.

    Raises:
        ChangedMeanwhile: Somebody changed it after that.
        Invalid: A name or tag cannot be used.
    """
    access.require(user, run.project_id, "run.label")
    held = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    versions.require_unchanged(seen, _written(held), held, "run.label")
    wanted = {
        "name": None if name is None else _named(name),
        "group": None if group is None else cleaned_name(group, "group"),
        "tags": None if tags is None else cleaned_tags(tags),
        "notes": None if notes is None else notes.strip()[:NOTES_LENGTH],
    }
    changed = {
        field: value
        for field, value in wanted.items()
        if value is not None and value != getattr(held, field)
    }
    if changed:
        data = {
            field: {"old": getattr(held, field), "new": value} for field, value in changed.items()
        }
        for field, value in changed.items():
            setattr(held, field, value)
            setattr(run, field, value)
        held.save(update_fields=list(changed))
        audit.record(actor=user, action="run.label", object=held, data=data)
    return held


@transaction.atomic
def label_runs(
    *,
    runs: Sequence[Run],
    user: User,
    group: str | None = None,
    add_tags: Iterable[str] = (),
    remove_tags: Iterable[str] = (),
) -> None:
    """Put several runs into a group, and give or take tags; all or none."""
    gone, fresh = set(cleaned_tags(remove_tags)), cleaned_tags(add_tags)
    for run in sorted(runs, key=lambda one: one.pk):  # one order of locks
        tags = [tag for tag in run.tags if tag not in gone] + fresh
        label_run(run=run, user=user, group=group, tags=tags)


def version_of(run: Run) -> str:
    """Return the version of what people write on a run."""
    return versions.version_of(_written(run))


def _written(run: Run) -> dict[str, object]:
    return {"name": run.name, "group": run.group, "tags": list(run.tags), "notes": run.notes}


def _named(text: str) -> str:
    name = cleaned_run_name(text)
    if not name:
        raise Invalid(_("A run has a name."), fields={"name": [_("It is missing.")]})
    return name
