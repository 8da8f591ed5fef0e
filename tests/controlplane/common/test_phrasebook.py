"""A stored sentence is found again by how it is made."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.common.phrasebook import ENOUGH_LETTERS, Phrasebook
from controlplane.common.phrases import VALUE, Phrase
from controlplane.common.sentence_sources import sentences, sentences_of
from controlplane.common.sentence_texts import other_sentences

BOOK = Phrasebook(
    {
        "{1} files below {2} are in a form that is not read.": "{2} 下有 {1} 个文件的格式不受支持。",
        "{1} is {2}; the span is {3}. {4}": "{1} 为 {2}；范围为 {3}。{4}",
        "{1}: {2}": "{1}：{2}",
        "{1}, {2}": "{1}，{2}",
        "{1} ({2})": "{1}（{2}）",
        "{1} is {2}": "{1} 为 {2}",
        "{1} steps": "{1} 步",
        "at step {1}": "第 {1} 步",
        "Evaluated{1}: {2} is {3}.": "{1} 评估：{2} 为 {3}。",
        "The attempt ended.": "尝试已结束。",
        "The warmup": "预热",
        "No such file or directory": "没有该文件或目录",
        "It is too short.": "过短。",
        "pretrain": "预训练",
        "(saved {1}, now {2})": "（保存时 {1}，现为 {2}）",
    }
)
EVERY_TEXT = sorted({*sentences(), *(text for text, _ in other_sentences())})
PATTERNS = [text for text in EVERY_TEXT if VALUE.search(text)]
STRONG = [
    text for text in PATTERNS if len(re.findall(r"[^\W\d_]", VALUE.sub("", text))) >= ENOUGH_LETTERS
]
ENGLISH = Phrasebook({text: text for text in EVERY_TEXT})
MARKED = Phrasebook({text: f"<{text}>" for text in EVERY_TEXT})
VALUES = st.text("abcXYZ0189/_-=[]'é中", min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("The attempt ended.", "尝试已结束。"),
        ("3 files below /d are in a form that is not read.", "/d 下有 3 个文件的格式不受支持。"),
        ("/d/x: No such file or directory", "/d/x：没有该文件或目录"),
        ("The attempt ended. It is too short.", "尝试已结束。过短。"),
        ("The attempt ended. Traceback: x", "尝试已结束。Traceback: x"),
        ("Evaluated at step 5: val/loss is 2.5.", "第 5 步评估：val/loss 为 2.5。"),
        ("Evaluated: val/loss is 2.5.", "评估：val/loss 为 2.5。"),
        (
            "The warmup is 1 steps; the span is 5 steps (pretrain). It is too short.",
            "预热为 1 步；范围为 5 步（预训练）。过短。",
        ),
    ],
)
def test_a_sentence_is_told_with_its_values(text: str, told: str):
    assert BOOK.translated(text) == told


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "Nobody wrote this sentence.",
        "the loss is too high",
        "/data: see the ticket",
        "Lunch. Back at two.",
        "The attempt ended" + "." * 3000,
    ],
)
def test_what_nobody_knows_stays_as_it_is(text: str):
    assert BOOK.translated(text) == text


def test_the_reading_that_leaves_least_untold_counts():
    book = Phrasebook(
        {"{1} of it": "其 {1}", "{1} of it; {2}": "{1} 之二；{2}", "a part": "一部分"}
    )
    assert book.translated("a part of it; a part") == "一部分之二；一部分"


def test_a_value_may_hold_what_stands_between_two():
    found = Phrase(("", ", ", ""), "{1}; {2}").values_in("a, b, c")
    assert list(found) == [["a", "b, c"], ["a, b", "c"]]


def test_a_long_text_of_many_parts_is_soon_given_up():
    assert BOOK.translated(text := "a: b, c (d) is e " * 16) == text


@pytest.mark.parametrize(
    "text",
    [
        "is 1, is 2, is 3; " * 16,
        "a and b or c, d: e; f (g) " * 11,
        "the key " * 90 + "x" + " stands twice" * 90,
    ],
)
def test_so_is_one_that_all_sentences_could_make(text: str):
    begun = time.process_time()
    assert MARKED.translated(text) == text
    assert time.process_time() - begun < 1.0


def test_the_texts_of_a_module_are_read_with_numbered_values():
    source = '''
"""Not this one."""
@check("A-1.b")
def one(facts):
    """Everything is as it should be."""
    logger.info("something.happened", extra={"a b": 1})
    yield fail(f"{path!r} has {size:,} bytes{more}{unit}.", advice="Give {it} up." + _("of gettext"))
'''
    assert list(sentences_of(source)) == [
        "{1} has {2} bytes{3}.",
        "Give {it} up.",
        "Everything is as it should be.",
    ]


def test_no_sentence_is_nothing_but_values():
    assert [
        text for text in EVERY_TEXT if not re.search(r"[^\W\d_]|[:;,(]", VALUE.sub("", text))
    ] == []


@given(st.data())
def test_told_in_english_every_sentence_is_itself(data: st.DataObject):
    text = _filled(data, data.draw(st.sampled_from(PATTERNS)))
    assert ENGLISH.translated(text) == text


@given(st.data())
def test_every_sentence_with_letters_enough_is_known_whatever_its_values(data: st.DataObject):
    text = _filled(data, data.draw(st.sampled_from(STRONG)))
    assert MARKED.translated(text) != text


def _filled(data: st.DataObject, pattern: str) -> str:
    return VALUE.sub(lambda _: data.draw(VALUES), pattern)
