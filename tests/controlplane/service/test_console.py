"""What `up` and `demo` say: lines for people, or one object for a script."""

import json
from collections.abc import Iterator

import pytest

from controlplane.common.errors import SafeholdError
from controlplane.service import console


@pytest.fixture(autouse=True)
def speaking_plainly() -> Iterator[None]:
    yield
    console.speak_json(False)


def test_people_get_lines_and_no_object(capsys: pytest.CaptureFixture[str]) -> None:
    console.say("It runs.")
    console.tell(url="http://127.0.0.1:8000")
    assert capsys.readouterr() == ("It runs.\n", "")


def test_a_script_gets_one_object_alone(capsys: pytest.CaptureFixture[str]) -> None:
    console.speak_json(True)
    console.say("It runs.")
    console.tell(url="http://127.0.0.1:8000")
    out, err = capsys.readouterr()
    assert json.loads(out) == {"verdict": "pass", "findings": [], "url": "http://127.0.0.1:8000"}
    assert err == "It runs.\n"


def test_what_is_wrong_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    console.complain(SafeholdError("The port is taken.", hint="Choose another:\n--port 8001"))
    assert capsys.readouterr().err == "safehold: The port is taken. Choose another: --port 8001\n"
