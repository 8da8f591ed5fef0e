"""The states of a checkpoint as words within a sentence, in the language of the reader."""

from django.utils.translation import pgettext

from checkpoints.states import State


def word_of(state: str) -> str:
    """Return what a sentence calls the state; in English that is the stored word."""
    return {
        State.WRITING: pgettext("state of a checkpoint", "writing"),
        State.COMPLETE: pgettext("state of a checkpoint", "complete"),
        State.VERIFIED: pgettext("state of a checkpoint", "verified"),
        State.STABLE: pgettext("state of a checkpoint", "stable"),
        State.DAMAGED: pgettext("state of a checkpoint", "damaged"),
        State.FAILED: pgettext("state of a checkpoint", "failed"),
        State.DELETING: pgettext("state of a checkpoint", "deleting"),
        State.DELETED: pgettext("state of a checkpoint", "deleted"),
    }[State(state)]
