"""Kinds of events and acts of the trail have words for people."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from controlplane.common.audit_words import act_in_words, fact_in_words, noun_in_words
from controlplane.common.rights import ACTS
from runs.event_kinds import KINDS, kind_in_words
from safehold.wire.batch import EventKind

PACKAGES = ("controlplane", "runs", "checkpoints", "workers")


def found(pattern: str) -> set[str]:
    return {match for source in _sources() for match in re.findall(pattern, source)}


def _sources() -> Iterator[str]:
    for package in PACKAGES:
        for path in Path(settings.BASE_DIR, package).rglob("*.py"):
            yield path.read_text()


def test_every_kind_of_event_has_a_word():
    told = {
        kind
        for call in found(r"events\.record\((.{0,200})")
        for kind in re.findall(r'kind="(\w+)"', call)
    }
    named = found(r'_(?:desire|tell)\(\w+, (?:[\w.]+, )?user, "(\w+)"')
    sent = set(EventKind.__args__) - {"batch_ids"}
    assert told | named | sent <= KINDS.keys()


def test_every_act_of_the_trail_has_words():
    acts = found(r'action="([a-z]+\.[a-z_]+)"') | ACTS.keys()
    assert {act for act in acts if act_in_words(act) == act} == set()


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (kind_in_words("attempt_requested"), "Attempt requested"),
        (kind_in_words("something_new"), "Something new"),
        (act_in_words("run.launch"), "Launch a run"),
        (act_in_words("run.sing"), "run.sing"),
        (noun_in_words("preflightreport"), "preflight report"),
        (noun_in_words("songbook"), "songbook"),
        (fact_in_words("expires_at"), "ends"),
        (fact_in_words("num_songs"), "num songs"),
    ],
)
def test_what_has_no_word_is_shown_as_it_is(told: str, text: str):
    assert told == text
