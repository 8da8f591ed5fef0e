import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.kube import names

CASE = json.loads((Path(__file__).parents[2] / "cases" / "kubeapi" / "run_names.json").read_text())
LABEL = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
DNS_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


def is_sound(name: str, index: int) -> bool:
    longest = f"{name}-{index}"
    return bool(DNS_1035.fullmatch(name)) and len(longest) <= 63


@pytest.mark.parametrize("name", CASE["names"])
def test_any_run_name_has_a_valid_workload_name_and_label(name):
    made = names.workload_name(name)
    assert is_sound(made, CASE["highest_index"])
    assert names.workload_name(name) == made
    assert len(names.label_of(name)) <= 63
    assert LABEL.fullmatch(names.label_of(name))


def test_different_names_stay_different():
    made = {names.workload_name(name) for name in CASE["names"]}
    assert len(made) == len(CASE["names"])


@given(st.text(max_size=300))
def test_any_text_at_all_has_a_valid_name_and_label(text):
    assert is_sound(names.workload_name(text), 99_999)
    label = names.label_of(text)
    assert 0 < len(label) <= 63
    assert LABEL.fullmatch(label)


@given(st.text(max_size=80), st.text(max_size=80))
def test_two_texts_never_share_a_name(one, other):
    assert (names.workload_name(one) == names.workload_name(other)) is (one == other)


def test_the_names_of_attempts_are_kept_as_they_are():
    assert names.workload_name("safehold-r41-a2") == "safehold-r41-a2"


def test_only_what_carries_our_labels_is_ours():
    labels = names.labels(owner="us", run_id=1, attempt=2, name="w")
    assert names.is_ours({"metadata": {"labels": labels}}, owner="us", name="w")
    assert not names.is_ours({"metadata": {"labels": labels}}, owner="them", name="w")
    assert not names.is_ours({"metadata": {"labels": labels}}, owner="us", name="other")
    assert not names.is_ours({"metadata": {}}, owner="us", name="w")
