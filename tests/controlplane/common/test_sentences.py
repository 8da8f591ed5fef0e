"""What is stored in English is shown in Chinese, with nothing of a sentence left over."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import translation

from controlplane.common.phrases import VALUE
from controlplane.common.sentence_sources import MODULES, sentences
from controlplane.common.sentence_texts import OWN_WORDS, other_sentences
from controlplane.common.sentences import sentence
from safehold.config import ConfigInvalid, parse, read_text
from safehold.findings import Finding
from safehold.planning import read_card
from safehold.planning.advice import advice_for
from safehold.rulebook import Rule, Situation, judging, written
from tests.english import english_in
from tests.safehold.documents import make_document

EVERY_TEXT = sorted({*sentences(), *(text for text, _ in other_sentences())})
OUTSIDE: dict[str, dict[str, Any]] = {
    "network": {"hidden": 100, "heads": 7, "kv_heads": 3, "experts": 4, "layers": "many", "vocabulary": 0},
    "optimizer": {"lr": -1, "betas": [0.9], "clip": True, "schedule": "saw", "lrr": 1},
    "train": {"steps": 1.5, "precision": "fp8"},
    "data": {"mix": {"a": 2}, "path": "\0"},
}  # fmt: skip
TOGETHER: list[dict[str, Any]] = [
    {"network__heads": 7},
    {"network__experts": 4},
    {"data__mix": {"a": 0.5, "b": 0.1}},
    {"train__global_batch": 7, "train__accumulation": 2},
    {"compute__devices": 8, "compute__nodes": 3},
    {"optimizer__min_lr": 1.0},
    {"optimizer__warmup_steps": 10**6},
    {"optimizer__schedule": "three_part"},
    {"checkpoint__anchor_every_steps": 10**6},
    {"log__every": 10**6},
]
BROKEN = [
    "a = ", "a", "= 1", "a = 1\na = 2", "[a", "[a]\n[a]", 'a = "', "a = [1", "a = {b = 1", "a = 1 b = 2", "\0", "a = tru",
    "[[a]]\n[a]", "a.b = 1\na = 2", 'a = "\\q"', "x" * (1 << 20) + "x", "",
]  # fmt: skip


def faults_of(document: dict[str, Any]) -> Iterator[str]:
    with pytest.raises(ConfigInvalid) as refused:
        parse(document)
    for fault in refused.value.errors:
        yield fault.message
        yield fault.hint


def in_chinese(text: str) -> str:
    with translation.override("zh-hans"):
        return sentence(text)


def test_in_english_a_sentence_is_itself():
    with translation.override("en"):
        assert sentence("The attempt ended.") == "The attempt ended."


def test_without_a_language_too():
    with translation.override(None):
        assert sentence("The attempt ended.") == "The attempt ended."


@pytest.mark.parametrize("text", ["", "Alice wrote this by herself.", "运行已启动。"])
def test_what_is_not_ours_stays(text: str):
    assert in_chinese(text) == text


def test_every_sentence_is_whole_in_chinese():
    left = {}
    for text in EVERY_TEXT:
        filled = VALUE.sub(lambda found: f"x_{found[1]}", text)
        told = in_chinese(filled)
        if list(english_in(filled)) and (english := list(english_in(told))):
            left[text] = english
    assert left == {}


@pytest.mark.parametrize("text", OWN_WORDS)
@pytest.mark.parametrize("words", ["change the model", "the model", "The attempt ended. It stopped by itself.", "a: b"])  # fmt: skip
def test_the_words_of_a_person_stay_as_they_were_written(text: str, words: str):
    *_others, last = VALUE.findall(text)
    given = VALUE.sub(lambda found: words if found[1] == last else "model", text)
    told = in_chinese(given)
    assert told.startswith("model ")
    assert told.endswith(f"：{words}")


def test_a_reason_ends_the_sentence_that_gives_it():
    assert in_chinese("alice paused the run: change the model").endswith("：change the model")
    assert list(english_in(in_chinese("3 paused the run."))) == []


def test_every_fault_of_a_field_is_told():
    document = make_document()
    for section, values in OUTSIDE.items():
        document[section] = document.get(section, {}) | values
    found = [in_chinese(text) for text in faults_of(document)]
    assert len(found) >= 20
    assert [english for text in found for english in english_in(text)] == []


@pytest.mark.parametrize("changes", TOGETHER, ids=lambda changes: next(iter(changes)))
def test_every_fault_of_fields_together_is_told(changes: dict[str, Any]):
    for text in faults_of(make_document(**changes)):
        assert list(english_in(in_chinese(text))) == []


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: text[:12])
def test_why_a_text_cannot_be_read_is_told(text: str):
    with pytest.raises(ConfigInvalid) as refused:
        read_text(text)
    for fault in refused.value.errors:
        assert list(english_in(in_chinese(f"{fault.message} {fault.hint}"))) == []


def judged(rule: Rule) -> Iterator[Finding]:
    """Yield what a rule says of a value inside, below and above."""
    situation = Situation(config=parse(make_document()))
    low, high = rule.low or 0.0, rule.high or 1e9
    for value in (
        (*rule.words[:1], "other") if rule.words else ((low + high) / 2, low / 9, high * 9)
    ):
        yield judging._finding(rule, value, situation)


@pytest.mark.parametrize("rule", list(written().rules()), ids=lambda rule: rule.id)
def test_what_a_rule_says_is_told(rule: Rule):
    for finding in judged(rule):
        told = in_chinese(finding.message)
        assert told != finding.message
        assert list(english_in(told)) == []
        assert list(english_in(in_chinese(finding.advice))) == []
    assert in_chinese(rule.where) in {"method = lora"} or in_chinese(rule.where) != rule.where
    assert list(english_in(in_chinese(rule.source))) == []


CARD = {
    "network": {"parameters": 70e9, "layers": 80, "hidden": 8192, "vocabulary": 50000, "sequence_length": 4096},
    "data": {"tokens": 10**9, "unique_tokens": 10**8, "origin": "public", "quality": "low", "domains": {"web": 5}},
    "compute": {
        "devices": 32, "devices_per_node": 8, "peak_tflops_per_device": 300, "memory_gb_per_device": 80,
        "budget_device_days": 1, "available_days": 1,
    },
    "plan": {"tensor_parallel": 16},
}  # fmt: skip


@pytest.mark.parametrize("stage", ["pretrain", "sft"])
@pytest.mark.parametrize("card", [CARD, {"data": {"tokens": 10**9}}], ids=["full", "bare"])
def test_what_a_card_advises_is_told(card: dict[str, Any], stage: str):
    for finding in advice_for(read_card(card), stage):
        told = in_chinese(finding.message)
        assert told != finding.message
        assert [*english_in(told), *english_in(in_chinese(finding.advice))] == []


# What makes sentences; what only passes them on is not looked for.
MAKES = re.compile(
    r"from safehold\.findings import .*\b(fail|info|passed|unknown|warn)\b|\bConfigError\(|\bevents\.record\(|\bEnd\("
)
# Through gettext at once, or told with the fields of others, or in a terminal alone.
ELSEWHERE = ("runs/forms/", "runs/services/agreements.py", "runs/services/base_fit.py", "runs/services/sights.py",
             "safehold/cli/", "safehold/config/errors.py")  # fmt: skip


def test_every_module_that_makes_sentences_is_read():
    root = Path(settings.BASE_DIR)
    read = {path for pattern in MODULES for path in root.glob(pattern)}
    left = [
        str(path.relative_to(root))
        for package in ("safehold", "controlplane", "runs", "checkpoints", "workers")
        for path in (root / package).rglob("*.py")
        if path not in read and MAKES.search(path.read_text())
    ]
    assert [path for path in left if not path.startswith(ELSEWHERE)] == []


@pytest.mark.parametrize(
    "what", ["started", "stopping", "stopped", "paused", "resumed", "finished"]
)
def test_what_a_trainer_tells_of_itself_is_no_english_word(what: str) -> None:
    assert what not in in_chinese(f"Rank 0: {what} at step 40.")
