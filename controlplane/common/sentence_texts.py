"""Sentences that no source of ours has in one piece: what they are put together from."""

from collections.abc import Iterator

from controlplane.common.foreign_texts import foreign_texts
from safehold.rulebook import QUANTITIES, written

# How texts are joined.
JOINTS = (
    "{1}: {2}",
    "{1}; {2}",
    "{1}, {2}",
    "{1} or {2}",
    "{1} and {2}",
    "{1} ({2})",
    "{1}: {2}.",
    "{1} is {2}.",
    "{1} is {2}, within {3}.",
    "{1} is {2}; it should be {3}. {4}",
    "{1} is {2}; the span is {3}. {4}",
    "{1} asked to save and stop.",
    "{1} ended the run by force.",
    "{1} paused the run.",
    "{1} behind",
    "{1} ahead of",
    "As seen from outside: {1}",
    "at most {1}",
    "at least {1}",
    "above {1}",
    "below {1}",
    "{1} attempt is before it.",
    "{1} attempts are before it.",
    "{1} other rank ended with it.",
    "{1} other ranks ended with it.",
    "{1} and {2} more",
    "{1} is empty",
    "{1} is longer than {2} characters",
    "{1} holds a control character",
    "{1} holds a backslash",
    "{1} is absolute",
    "{1} climbs or is not in plain form",
    "{1} byte-order marks",
    "{1} CRLF line ends",
    "{1} blank lines",
    "Its container used more host memory than its limit of {1} (OOMKilled); the same settings would end the same way.",
    "The cluster gave no answer to the request to list {1}: {2}",
    "The cluster gave no answer to the request to read the {1}: {2}",
    "The cluster gave no answer to the request to watch {1}: {2}",
    "The cluster refused to list {1}: {2} ({3})",
    "The cluster refused to read the {1}: {2} ({3})",
    "The cluster refused to watch {1}: {2} ({3})",
    "[Errno {1}] {2}",
    "{1} within {2} s",
    "the Job",
    "the JobSet",
    "the TrainJob",
    "{1}, line {2}",
    "line {1}: {2}",
    "{1} (saved {2}, now {3})",
    "{1} at step {2}",
    "`text` is a {1}.",
    "There is no `text`.",
    "Rank {1}: {2} at step {3}.",
)
# What ends with the words of a person: these are shown as they were written.
OWN_WORDS = (
    "{1} asked to save and stop: {2}",
    "{1} ended the run by force: {2}",
    "{1} gave the reason for {2} changed variables: {3}",
    "{1} paused the run: {2}",
    "{1} waived preflight: {2}",
)
# Single words that stand for a value in some sentence; words of a config stay as they are typed there.
WORDS = (
    "any",
    "applied",
    "as before",
    "averaged",
    "batch alone",
    "batch and rate",
    "boolean",
    "complete",
    "ended",
    "everywhere",
    "failed",
    "finished",
    "gone",
    "manifest",
    "metadata",
    "list",
    "model",
    "nothing",
    "null",
    "number",
    "object",
    "optimizer",
    "pause",
    "paused",
    "pausing",
    "preempted",
    "recomputed",
    "resume",
    "resumed",
    "running",
    "sampler",
    "saw-tooth",
    "save",
    "scheduler",
    "smooth",
    "started",
    "starting",
    "stopped",
    "stopping",
    "string",
    "summed",
    "there",
    "unknown",
    "waiting",
    "writing",
)


def other_sentences() -> Iterator[tuple[str, str]]:
    """Yield each text and its context."""
    for text in (*JOINTS, *OWN_WORDS, *WORDS, *foreign_texts()):
        yield text, "sentence"
    yield from _of_rules()


def _of_rules() -> Iterator[tuple[str, str]]:
    for known in QUANTITIES.values():
        if known.unit.strip("×"):
            yield f"{{1}} {known.unit}", "sentence"
    for rule in written().rules():
        for text in (rule.below, rule.above, rule.advice, rule.span if len(rule.words) > 1 else ""):
            if text:
                yield text, "sentence"
        yield rule.where, "where"
        yield rule.source, "source"
