from typing import Any

from runs.flags import flags_among


def saved(state: str, number: int = 7, step: int = 200) -> tuple[str, dict[str, Any], str, int]:
    return ("checkpoint", {"id": number, "step": step, "state": state}, f"It is {state}.", 1)


def test_the_newest_word_on_a_checkpoint_counts() -> None:
    (flag,) = flags_among([saved("stable"), saved("verified"), saved("complete")])
    assert (flag.kind, flag.step, flag.tone, flag.href) == (
        "checkpoint",
        200,
        "good",
        "/checkpoints/7/",
    )
    assert flag.text == "It is stable."


def test_flags_come_by_step() -> None:
    flags = flags_among([saved("complete", 9, 300), saved("damaged", 8, 100)])
    assert [(flag.step, flag.tone) for flag in flags] == [(100, "bad"), (300, "wait")]


def test_an_alert_and_a_loud_message_are_flagged_and_a_quiet_one_is_not() -> None:
    flags = flags_among(
        [
            ("alert", {"step": 5}, "The loss jumped.", 1),
            ("message", {"step": 6, "level": "warning"}, "Gradients were dropped.", None),
            ("message", {"step": 7, "level": "info"}, "All is well.", 1),
        ]
    )
    assert [(flag.kind, flag.step, flag.tone) for flag in flags] == [
        ("alert", 5, "bad"),
        ("alert", 6, "wait"),
    ]


def test_an_event_without_a_step_has_no_place() -> None:
    assert flags_among([("alert", {}, "x", 1), ("alert", {"step": True}, "x", 1)]) == []
