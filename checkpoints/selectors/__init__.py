"""What pages, the API and services ask of the registry."""

from checkpoints.selectors.lists import Filters, for_run, newest_usable, page, seconds_since_saved
from checkpoints.selectors.parents import parent_of_save
from checkpoints.selectors.resume import NoRecoveryPoint, newest_for_resume

__all__ = [
    "Filters",
    "NoRecoveryPoint",
    "for_run",
    "newest_for_resume",
    "newest_usable",
    "page",
    "parent_of_save",
    "seconds_since_saved",
]
