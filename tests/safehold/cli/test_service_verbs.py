"""What the verbs say when the service refuses or is away; the verbs themselves are in the end-to-end story."""

import json
import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.safehold.cli.conftest import Command

FINDING = {
    "code": "TOK-1.lock",
    "severity": "fail",
    "message": "Another tokenizer.",
    "evidence": {},
    "advice": "",
}
FIELD = {
    "code": "CONF-3.config_fields",
    "severity": "fail",
    "message": "optimizer.lr: Too high.",
    "evidence": {"field": "optimizer.lr"},
    "advice": "",
}
ANSWERS: dict[str, tuple[int, dict[str, Any]]] = {
    "/api/v1/runs": (201, {"id": 1, "state": "draft"}),
    "/api/v1/runs/1/launch": (422, {"detail": "Run 1 cannot start.", "findings": [FINDING]}),
    "/api/v1/configs": (
        422,
        {
            "detail": "bad",
            "errors": [{"field": "optimizer.lr", "message": "Too high."}],
            "findings": [FIELD],
        },
    ),
    "/api/v1/runs/2/stop": (409, {"detail": "Run 2 was never launched.", "hint": "Launch it."}),
    "/api/v1/runs/3": (200, {"id": 3, "name": "a", "state": "failed", "step": 7, "tokens": None}),
    "/api/v1/runs/4": (502, {}),
    "/api/v1/runs/5": (200, {"id": 5, "name": "a", "state": "could_not_start", "step": None}),
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, body = ANSWERS[self.path.partition("?")[0]]
        content = json.dumps(body).encode() if status != 502 else b"<html>bad gateway</html>"
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *args: object) -> None:
        """Stay silent."""


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setenv("SAFEHOLD_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("SAFEHOLD_TOKEN", "shp_test")
    yield
    server.shutdown()
    server.server_close()


@pytest.mark.usefixtures("service")
class TestAnswers:
    def test_refused_findings_give_1(self, safehold: Command) -> None:
        ran = safehold("run", "launch", 1, "--json")
        assert (ran.code, ran.document["verdict"], ran.document["findings"]) == (
            1,
            "fail",
            [FINDING],
        )
        assert "✗ fail    TOK-1.lock  Another tokenizer." in safehold("run", "launch", 1).out

    def test_a_run_that_was_made_and_not_launched_is_told_of(self, safehold: Command) -> None:
        ran = safehold("run", "create", 5, "--launch")
        assert (ran.code, "TOK-1.lock" in ran.out) == (1, True)
        assert ran.err == "Run 1 stays a draft; try again by: safehold run launch 1\n"

    def test_what_a_launch_takes_is_refused_without_one(self, safehold: Command) -> None:
        for words in (["--waive", "Why"], ["--weights-from", 7]):
            ran = safehold("run", "create", 5, *words)
            assert (ran.code, "say --launch too" in ran.err) == (2, True)
        assert (
            safehold("run", "create", 5, "--launch", "--waive", "x", "--weights-from", 7).code == 1
        )

    def test_refused_fields_of_a_config_are_findings(
        self, safehold: Command, tmp_path: Path
    ) -> None:
        (tmp_path / "a.toml").write_text("name = 'a'")
        ran = safehold("config", "create", tmp_path / "a.toml", "--json")
        assert ran.code == 1
        assert ran.document["findings"][0]["message"] == "optimizer.lr: Too high."

    def test_any_other_refusal_is_one_line(self, safehold: Command) -> None:
        ran = safehold("run", "stop", 2)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err == "safehold: Run 2 was never launched. Launch it.\n"

    def test_an_answer_is_one_object(self, safehold: Command) -> None:
        ran = safehold("run", "show", 3, "--json")
        assert (ran.code, ran.document["state"], ran.document["verdict"]) == (0, "failed", "pass")
        assert "failed" in safehold("run", "show", 3).out

    def test_a_state_that_does_not_come_gives_2(self, safehold: Command) -> None:
        ran = safehold("run", "wait", 3, "--state", "finished", "--timeout", 0)
        assert (ran.code, ran.err) == (2, "safehold: Run 3 is failed at step 7 after 0 seconds.\n")

    def test_no_proxy_is_asked_for_the_service_of_this_machine(
        self, safehold: Command, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        assert safehold("run", "show", 3).code == 0

    def test_any_end_ends_the_waiting(self, safehold: Command) -> None:
        assert safehold("run", "wait", 5, "--timeout", 0).code == 0

    def test_a_time_that_is_no_number_is_refused(self, safehold: Command) -> None:
        for words in (["wait", 3, "--timeout", "nan"], ["show", 3, "--watch", "inf"]):
            ran = safehold("run", *words)
            assert (ran.code, ran.out, f"'{words[2]}'" in ran.err) == (2, "", True)

    def test_a_bound_that_is_no_number_is_refused(self, safehold: Command) -> None:
        ran = safehold("rulebook", "set", "warmup.pretrain", "--reason", "x", "--low", "nan")
        assert (ran.code, "nan is not a finite number" in ran.err) == (2, True)

    def test_a_state_that_there_is_not_is_refused_at_once(self, safehold: Command) -> None:
        ran = safehold("run", "wait", 3, "--state", "finished,done")
        assert ran.code == 2
        assert ran.err.startswith("safehold: 'done' is no state of a run, it would never come.")
        assert "contact_lost" in ran.err

    def test_a_proxy_that_answers_nonsense_is_one_line(self, safehold: Command) -> None:
        ran = safehold("run", "show", 4)
        assert (ran.code, ran.err) == (
            2,
            f"safehold: {os.environ['SAFEHOLD_URL']} answers 502 Bad Gateway, not as Safehold does. Is the service up?\n",
        )


def test_a_service_that_is_away_is_one_line(
    safehold: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFEHOLD_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("SAFEHOLD_TOKEN", "shp_test")
    ran = safehold("run", "list")
    assert ran.code == 2
    assert ran.err.startswith("safehold: http://127.0.0.1:9 does not answer")
    assert ran.err.count("\n") == 1


def test_a_missing_token_is_one_line(
    safehold: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SAFEHOLD_HOME", str(tmp_path))
    ran = safehold("run", "list")
    assert (ran.code, ran.err.startswith("safehold: No token")) == (2, True)


def test_an_argument_that_is_no_text_is_one_line(
    safehold: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFEHOLD_TOKEN", "shp_test")
    ran = safehold("run", "label", 1, "--notes", "\udcfc")  # a byte of another character set
    assert ran.code == 2
    assert ran.err.startswith("safehold: an argument is no text")
