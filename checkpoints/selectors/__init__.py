"""What pages, the API and services ask of the registry."""

from checkpoints.selectors.lists import (
    Filters,
    for_run,
    newest_failed,
    newest_usable,
    page,
    seconds_since_saved,
    space_used,
)
from checkpoints.selectors.parents import parent_of_save
from checkpoints.selectors.resume import NoRecoveryPoint, can_resume, newest_for_resume

__all__ = [
    "Filters",
    "NoRecoveryPoint",
    "can_resume",
    "for_run",
    "newest_failed",
    "newest_for_resume",
    "newest_usable",
    "page",
    "parent_of_save",
    "seconds_since_saved",
    "space_used",
]
