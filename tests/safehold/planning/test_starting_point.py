from safehold.planning import parse_card
from safehold.planning.starting_point import base_faults, differences

BASE = {
    "architecture": "dense",
    "layers": 12,
    "hidden": 768,
    "heads": 12,
    "vocabulary": 50304,
    "sequence_length": 1024,
}


def test_the_same_architecture_differs_in_nothing() -> None:
    card = parse_card({"network": BASE | {"sequence_length": 4096}, "base_checkpoint": 7})
    assert base_faults(card, BASE) == []


def test_another_architecture_is_named_by_field() -> None:
    card = parse_card({"network": BASE | {"layers": 24}, "base_checkpoint": 7})
    (fault,) = base_faults(card, BASE)
    assert fault.path == "network.layers"
    assert "24" in fault.message
    assert "checkpoint 7 has 12" in fault.message


def test_what_one_side_does_not_know_differs_in_nothing() -> None:
    assert differences({"layers": 0, "hidden": 768}, {"layers": 12}) == {}
