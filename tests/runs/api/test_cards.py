import json
import re
from typing import Any

import pytest

from runs.models import Card
from tests.runs.api.callers import Api

REFERENCE: dict[str, Any] = {
    "network": {"parameters": 70e9},
    "data": {"tokens": 100_000_000_000},
    "compute": {"devices": 512, "peak_tflops_per_device": 300, "mfu": 0.5},
}
LARGEST: dict[str, Any] = {
    "acceptance": [{"metric": "loss", "threshold": 9e18}],
    "network": {"layers": 2**63 - 1, "hidden": 2**63 - 1, "vocabulary": 2**63 - 1, "sequence_length": 2**63 - 1},
    "data": {"tokens": 2**63 - 1, "unique_tokens": 1},
    "compute": {"devices": 2**63 - 1, "devices_per_node": 1, "peak_tflops_per_device": 1e-9, "mfu": 1e-9,
                "memory_gb_per_device": 9e18},
    "plan": {"micro_batch": 2**63 - 1, "accumulation": 2**63 - 1, "failures_per_1000_node_days": 9e18,
             "save_seconds": 9e18, "restart_minutes": 9e18, "queue_minutes": 9e18},
}  # fmt: skip
SMALLEST: dict[str, Any] = {
    "network": {"parameters": 1e-9, "sequence_length": 1},
    "data": {"tokens": 1, "unique_tokens": 2**63 - 1},
    "compute": {"devices": 1, "peak_tflops_per_device": 9e18, "mfu": 1, "memory_gb_per_device": 1e-9},
    "plan": {"step_seconds": 1e-9, "save_seconds": 1e-9, "failures_per_1000_node_days": 1e-9},
}  # fmt: skip


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


def test_a_card_shows_all_its_sums(operator: Api) -> None:
    data = REFERENCE | {
        "network": {"parameters": 70e9, "sequence_length": 4096, "vocabulary": 50_000},
        "compute": REFERENCE["compute"] | {"memory_gb_per_device": 80},
        "plan": {"zero_stage": 3, "micro_batch": 1},
    }
    sums = operator.post("cards", {"name": "big", "data": data}).json()["sums"]
    assert sums["starting_loss"] == pytest.approx(10.82, abs=0.005)
    assert sums["memory"]["before_activations_bytes"] == 70e9 * 16 / 512
    assert sums["memory"]["fit"] == "fits"
    assert (sums["nodes"], sums["data_parallel"], sums["global_batch"]) == (64, 512, 512)
    forecast = sums["forecast"]
    assert forecast["sources"] == {"rate": "default", "restart": "default", "save": "default"}
    assert 0.9 < forecast["ettr_job_wall_clock"] < 1
    assert [one["is_advised"] for one in forecast["intervals"]].count(True) == 1
    assert "CARD-5.tokens_for_size" in [one["code"] for one in sums["advice"]]


def test_sums_are_reckoned_without_keeping_anything(operator: Api, viewer: Api) -> None:
    answer = viewer.post("cards/estimate", {"stage": "sft", "data": REFERENCE})
    assert answer.json()["compute"]["flops"] == 4.2e22
    assert "CARD-7.base_checkpoint" in [one["code"] for one in answer.json()["advice"]]
    assert operator.get("cards").json()["items"] == []
    wrong = viewer.post("cards/estimate", {"data": {"compute": {"mfu": 40}}})
    assert wrong.status_code == 422
    assert wrong.json()["errors"][0]["field"] == "compute.mfu"
    assert wrong.json()["detail"].startswith("The card cannot be used: see compute.mfu.")


def test_a_card_is_exported_as_json_and_as_markdown(operator: Api) -> None:
    card = operator.post("cards", {"name": "big", "data": REFERENCE}).json()
    operator.patch(f"cards/{card['id']}", {"question": "Why?", "reason": "Asked."})
    document = operator.get(f"cards/{card['id']}/export").json()
    assert document["changes"][0]["reason"] == "Asked."
    answer = operator.get(f"cards/{card['id']}/export", form="markdown")
    assert answer["Content-Type"].startswith("text/markdown")
    assert "| Device-days | 3241 |" in answer.content.decode()


def test_a_pilot_is_made_and_listed(operator: Api, viewer: Api, outsider: Api) -> None:
    card = operator.post("cards", {"name": "big", "data": REFERENCE}).json()
    made = operator.post(f"cards/{card['id']}/pilots", {"kind": "pilot"})
    assert made.status_code == 201
    assert made.json()["card"]["data"]["data"]["tokens"] == 1_000_000_000
    assert made.json()["config"] is None
    (listed,) = operator.get("cards", parent=card["id"]).json()["items"]
    assert (listed["parent"], listed["pilot"]) == (card["id"], "pilot")
    assert viewer.post(f"cards/{card['id']}/pilots", {}).status_code == 403
    assert outsider.get(f"cards/{card['id']}/results").status_code == 404


def test_a_pilot_that_is_asked_for_twice_is_made_once(operator: Api) -> None:
    card = operator.post("cards", {"name": "big", "data": REFERENCE}).json()
    key = {"Idempotency_Key": "once"}
    first = operator.post(f"cards/{card['id']}/pilots", {}, **key).json()
    assert operator.post(f"cards/{card['id']}/pilots", {}, **key).json() == first
    assert len(operator.get("cards", parent=card["id"]).json()["items"]) == 1


def test_a_mix_that_cannot_be_is_named(operator: Api, document: Any) -> None:
    card = operator.post("cards", {"name": "big", "data": REFERENCE}).json()
    operator.post("configs", {"document": document(), "card": card["id"]})
    pilot = operator.post(f"cards/{card['id']}/pilots", {"kind": "mix_pilot"}).json()["card"]
    answer = operator.post(f"cards/{pilot['id']}/mixes", {"mixes": {"odd": {"web": 0.5}}})
    assert answer.json()["errors"][0]["field"] == "mixes.odd"
    made = operator.post(f"cards/{pilot['id']}/mixes", {"mixes": {"web": {"web": 1.0}}})
    assert len(made.json()["items"]) == 1
    assert operator.get(f"cards/{pilot['id']}/mixes").json()["items"] == []


def test_cards_are_found_by_stage_and_name(operator: Api) -> None:
    operator.post("cards", {"name": "Big one"})
    operator.post("cards", {"name": "Tuned", "stage": "sft"})
    names = [one["name"] for one in operator.get("cards", stage="sft").json()["items"]]
    assert names == ["Tuned"]
    assert [one["name"] for one in operator.get("cards", name="big").json()["items"]] == ["Big one"]


def test_the_launch_of_a_card_without_agreements_is_refused(operator: Api, document: Any) -> None:
    card = operator.post("cards", {"name": "big", "data": REFERENCE}).json()
    config = operator.post("configs", {"document": document(), "card": card["id"]}).json()
    run = operator.post("runs", {"config": config["id"]}).json()
    answer = operator.post(f"runs/{run['id']}/launch")
    assert answer.status_code == 422
    assert answer.json()["type"].endswith("agreements-missing")
    assert {one["evidence"]["field"] for one in answer.json()["findings"]} == {"task_form", "acceptance"}  # fmt: skip


def test_a_run_says_what_it_is_held_against(operator: Api, document: Any) -> None:
    data = REFERENCE | {"acceptance": [{"metric": "loss", "threshold": 2.0}]}
    card = operator.post("cards", {"name": "big", "data": data}).json()
    config = operator.post("configs", {"document": document(), "card": card["id"]}).json()
    run = operator.post("runs", {"config": config["id"]}).json()
    found = operator.get(f"runs/{run['id']}/forecast").json()
    assert (found["acceptance"]["verdict"], found["forecast"], found["start"]) == ("not measured", None, None)  # fmt: skip
    (result,) = operator.get(f"cards/{card['id']}/results").json()["items"]
    assert result["run"] == run["id"]


@pytest.mark.parametrize("data", [LARGEST, SMALLEST], ids=["largest", "smallest"])
def test_absurd_numbers_are_kept_and_listed_as_any_other(
    operator: Api, data: dict[str, Any]
) -> None:
    made = operator.post("cards", {"name": "absurd", "data": data})
    assert made.status_code == 201, made.content
    for path in ("cards", f"cards/{made.json()['id']}"):
        answer = operator.get(path)
        assert answer.status_code == 200, answer.content
        json.loads(answer.content, parse_constant=pytest.fail)


@pytest.mark.parametrize(
    ("data", "field", "message"),
    [
        ({"network": {"parameters": 1e-300}}, "network.parameters", "closer to 0"),
        ({"compute": {"mfu": 1e-12}}, "compute.mfu", "closer to 0"),
        ({"compute": {"peak_tflops_per_device": 1e20}}, "compute.peak_tflops_per_device", "64-bit"),
        ({"acceptance": [{"metric": "loss", "threshold": -1e300}]}, "acceptance.0.threshold", "64-bit"),
    ],
)  # fmt: skip
def test_a_number_that_no_sum_survives_is_refused_at_its_field(
    operator: Api, data: dict[str, Any], field: str, message: str
) -> None:
    answer = operator.post("cards", {"name": "absurd", "data": data})
    assert answer.status_code == 422
    (fault,) = answer.json()["errors"]
    assert fault["field"] == field
    assert message in fault["message"]


def test_a_card_kept_before_a_bound_came_does_not_stop_the_list(operator: Api) -> None:
    data = {"network": {"parameters": 1e-300}, "data": {"tokens": 5}, "surprise": 1}
    card = Card.objects.get(pk=operator.post("cards", {"name": "old"}).json()["id"])
    Card.objects.filter(pk=card.pk).update(data=data)
    for path in ("cards", f"cards/{card.pk}", f"cards/{card.pk}/export"):
        assert operator.get(path).status_code == 200
    shown = operator.get(f"cards/{card.pk}").json()["data"]
    assert (shown["network"]["parameters"], shown["data"]["tokens"]) == (0.0, 5)


def test_the_exported_trail_is_in_utc_and_in_no_language_of_ours(operator: Api) -> None:
    card = operator.post("cards", {"name": "big", "data": REFERENCE}).json()
    acceptance = [{"metric": "损失", "threshold": 2}]
    operator.patch(f"cards/{card['id']}", {"data": {"acceptance": acceptance}})
    text = operator.get(f"cards/{card['id']}/export", form="markdown").content.decode()
    (line,) = (one for one in text.splitlines() if "| acceptance |" in one)
    assert re.match(r"\| \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \|", line)
    assert '"metric": "损失"' in line
    assert "'" not in line
