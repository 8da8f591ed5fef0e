import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safehold.config import ABSENT, edited, to_toml
from tests.safehold.documents import make_config

WRITTEN = """\
# our first one
name = "small"   # a name

[optimizer]      # rates from the sweep of May
warmup_steps = 40
lr = 3e-4        # not 6e-4: it diverged
betas = [0.9, 0.95]  # as usual

# where it lies
[data]
path = '/data/corpus'
mix = { web = 0.7, code = 0.3 }
"""


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, WRITTEN),
        ({"optimizer.lr": 2e-4}, WRITTEN.replace("3e-4  ", "0.0002")),
        ({"name": "other"}, WRITTEN.replace('"small"', '"other"')),
        ({"optimizer.betas": [0.9, 0.99]}, WRITTEN.replace("0.95]", "0.99]")),
    ],
    ids=["nothing", "a rate", "a name", "a pair"],
)
def test_one_value_changes_and_nothing_else(changes: dict[str, Any], expected: str) -> None:
    assert edited(WRITTEN, changes).replace(" ", "") == expected.replace(" ", "")


def test_a_field_that_was_not_there_is_added_to_its_section() -> None:
    text = edited(WRITTEN, {"optimizer.min_lr": 3e-5, "train.seed": 7})
    assert tomllib.loads(text)["optimizer"]["min_lr"] == 3e-5
    assert tomllib.loads(text)["train"] == {"seed": 7}
    assert text.count("#") == WRITTEN.count("#")


def test_a_field_and_a_section_are_taken_out() -> None:
    text = edited(WRITTEN, {"optimizer.warmup_steps": ABSENT, "data": ABSENT})
    assert "warmup_steps" not in text
    assert "data" not in tomllib.loads(text)
    assert "not 6e-4: it diverged" in text


def test_a_table_of_shares_keeps_what_stays() -> None:
    text = edited(WRITTEN, {"data.mix": {"web": 0.6, "maths": 0.4}})
    assert tomllib.loads(text)["data"]["mix"] == {"web": 0.6, "maths": 0.4}
    assert "# where it lies" in text


def test_line_ends_of_windows_become_ours() -> None:
    text = edited(WRITTEN.replace("\n", "\r\n"), {"optimizer.lr": 1e-4})
    assert "\r" not in text
    assert tomllib.loads(text)["optimizer"]["lr"] == 1e-4


def test_what_is_no_toml_is_refused() -> None:
    with pytest.raises(ValueError, match="Invalid value"):
        edited("lr = = 1", {"optimizer.lr": 1})


@pytest.mark.parametrize(
    "written",
    [
        'optimizer.lr = 1.0\noptimizer.clip = 1.0\nname = "a"\n',
        'optimizer = { lr = 1.0, clip = 1.0 }\nname = "a"\n',
        'name = "a"\n[data]\npath = "x"\n[data.mix]\nweb = 1.0\n[optimizer]\nlr = 1.0\nclip = 1.0\n',
        'name = "a"\n[[kubernetes.volumes]]\nname = "v"\n[optimizer]\nlr = 1.0\nclip = 1.0\n',
        'name = "a"\nnotes = """\n# no comment\n"""\n[optimizer]\nlr = 1.0\nclip = 1.0\n',
    ],
    ids=["dotted", "inline", "tables below", "rows", "a text of several lines"],
)
def test_every_form_of_toml_says_the_same_afterwards(written: str) -> None:
    wanted = tomllib.loads(written)
    wanted["optimizer"]["lr"] = 2.0
    wanted["train"] = {"seed": 1}
    assert tomllib.loads(edited(written, {"optimizer.lr": 2.0, "train.seed": 1})) == wanted


VALUES = st.one_of(
    st.integers(-(2**62), 2**62), st.floats(allow_nan=False), st.booleans(), st.text(max_size=20),
    st.lists(st.integers(0, 9), max_size=3),
)  # fmt: skip
PATHS = st.sampled_from(
    ["name", "optimizer.lr", "optimizer.betas", "train.steps", "data.mix", "kubernetes.labels"]
)


@given(st.dictionaries(PATHS, st.one_of(VALUES, st.just(ABSENT)), max_size=5))
def test_it_reads_back_as_the_values_that_were_set(changes: dict[str, Any]) -> None:
    for start in (WRITTEN, to_toml(make_config())):
        found = tomllib.loads(edited(start, changes))
        for path, value in changes.items():
            section, _dot, name = path.rpartition(".")
            table = found.get(section, {}) if section else found
            if value is ABSENT:
                assert name not in table
            else:
                assert table[name] == value
