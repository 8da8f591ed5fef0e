from __future__ import annotations

import json

import pytest

from safehold import wire

ACK = wire.Ack(
    acked=160,
    records=16,
    stored=160,
    refused=(wire.Refusal(3, "损失", "value is null"),),
    commands=(
        wire.Command(12, "save_and_stop", {"reason": "by hand"}),
        wire.Command("c-1", "save"),
    ),
    server_time=1_764_000_000_000,
)


@pytest.mark.parametrize("content_type", ["application/msgpack", "application/json"])
def test_an_acknowledgement_comes_back_in_the_form_of_the_request(content_type: str) -> None:
    body = wire.encode_ack(ACK, content_type)
    assert wire.decode_ack(body, content_type) == ACK


def test_a_command_of_a_later_version_is_left_alone() -> None:
    answer = ACK.to_dict()
    answer["commands"].append({"id": 99, "kind": "dance", "args": {}})
    assert wire.read_ack(answer) == ACK


@pytest.mark.parametrize("answer", [{}, {"acked": "1"}, {"acked": 1, "commands": [1]}])
def test_what_is_no_acknowledgement_is_refused(answer: dict[str, object]) -> None:
    with pytest.raises(wire.WireError, match="is not an acknowledgement"):
        wire.read_ack(answer)


def test_a_gap_tells_where_to_go_on() -> None:
    status, problem = wire.problem_of(wire.Gap(10, 4))
    assert (status, problem["type"], problem["acked"]) == (409, "gap", 4)
    assert json.dumps(problem)


def test_free_data_is_made_safe_to_keep() -> None:
    data = {"a\0": float("inf"), "n": 2**70, "s": "\ud800", "b": b"\xff", "t": (1, None, True)}
    tidied = wire.tidy(data)
    json.dumps(tidied, allow_nan=False).encode()
    assert tidied["a\ufffd"] == "Infinity"
    assert tidied["n"] == str(2**70)
    assert tidied["t"] == [1, None, True]
    assert wire.number("-Infinity") == float("-inf")
    with pytest.raises(wire.WireError, match="holds a set"):
        wire.tidy({1, 2})
    with pytest.raises(ValueError, match="'text' is not a number"):
        wire.number("text")
