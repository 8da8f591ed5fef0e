import pytest

from tests.runs.api.callers import Api

REFERENCE = {
    "network": {"parameters": 70e9},
    "data": {"tokens": 100_000_000_000},
    "compute": {"devices": 512, "peak_tflops_per_device": 300, "mfu": 0.5},
}


def test_a_card_comes_with_its_sums(operator: Api) -> None:
    card = operator.post(
        "cards", {"name": "big", "question": "Does it scale?", "data": REFERENCE}
    ).json()
    assert card["estimate"]["flops"] == 4.2e22
    assert card["estimate"]["wall_days"] == pytest.approx(6.33, abs=0.005)
    assert card["missing_agreements"] == ["task_form", "acceptance"]
    assert operator.get(f"cards/{card['id']}").json() == card


def test_a_change_touches_what_it_names_and_leaves_a_trail(operator: Api) -> None:
    card = operator.post("cards", {"name": "big", "data": REFERENCE}).json()
    changed = operator.patch(
        f"cards/{card['id']}",
        {"data": {"compute": {"devices": 256}}, "reason": "half the cluster is booked"},
    ).json()
    assert changed["data"]["compute"]["devices"] == 256
    assert changed["data"]["network"]["parameters"] == 70e9
    (line,) = operator.get(f"cards/{card['id']}/changes").json()["items"]
    assert (line["field"], line["old"], line["new"]) == ("compute.devices", 512, 256)
    assert (line["user"], line["reason"]) == (operator.user.username, "half the cluster is booked")


def test_an_unknown_number_leaves_the_sums_open(operator: Api) -> None:
    assert operator.post("cards", {"name": "a"}).json()["estimate"] is None
