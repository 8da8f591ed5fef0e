"""The verbs of `safehold card`, against the API itself."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runs.models import Card
from safehold.api_client import ApiClient
from safehold.cli.main import run as run_command
from tests.factories import make_attempt, make_config, make_run
from tests.runs.api.bridging import client_of
from tests.runs.api.callers import Api
from tests.runs.planned import log, make_card

FIELDS = """
name = "Big one"
question = "Does it scale?"
task_form = "open_generation"
acceptance = [{ metric = "loss", split = "val", threshold = 2.0 }]
[network]
parameters = 70e9
sequence_length = 4096
[data]
tokens = 100_000_000_000
[compute]
devices = 512
peak_tflops_per_device = 300
mfu = 0.5
"""


@pytest.fixture
def safehold(
    operator: Api, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Return a function that runs a command as the operator and gives what it printed."""
    monkeypatch.setattr(ApiClient, "from_environment", classmethod(lambda cls: client_of(operator)))

    def call(*words: object, code: int = 0) -> str:
        ended = run_command([str(word) for word in words])
        said = "".join(capfd.readouterr())
        assert ended == code, said
        return said

    return call


@pytest.fixture
def fields(tmp_path: Path) -> Path:
    (tmp_path / "card.toml").write_text(FIELDS)
    return tmp_path / "card.toml"


def read(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    return found


def test_a_card_is_reckoned_made_changed_and_shown(
    safehold: Callable[..., str], fields: Path, tmp_path: Path
) -> None:
    assert read(safehold("card", "estimate", fields, "--json"))["compute"]["flops"] == 4.2e22
    assert not Card.objects.exists()
    card = read(safehold("card", "create", fields, "--json"))
    (tmp_path / "less.toml").write_text("[compute]\ndevices = 256\n")
    safehold("card", "change", card["id"], tmp_path / "less.toml", "--reason", "booked")
    said = safehold("card", "show", card["id"])
    assert "3241" in said
    assert "12.7" in said
    assert "job wall clock" in said
    assert "booked" in safehold("card", "history", card["id"])
    assert "Big one" in safehold("card", "list", "--stage", "pretrain", "--name", "big")


def test_a_wrong_field_is_named(safehold: Callable[..., str], fields: Path) -> None:
    fields.write_text(FIELDS.replace("mfu = 0.5", "mfu = 50.0"))
    said = safehold("card", "create", fields, code=2)
    assert "compute.mfu: It should be less than or equal to 1; it is 50.0." in said


def test_a_card_is_exported(safehold: Callable[..., str], fields: Path, tmp_path: Path) -> None:
    card = read(safehold("card", "create", fields, "--json"))
    assert "# Big one" in safehold("card", "export", card["id"])
    safehold("card", "export", card["id"], "--form", "json", "-o", tmp_path / "card.json")
    assert read((tmp_path / "card.json").read_text())["sums"]["compute"]["device_days"] > 3240


def test_a_pilot_is_made(safehold: Callable[..., str], fields: Path) -> None:
    card = read(safehold("card", "create", fields, "--json"))
    assert f"card {card['id']} (pilot)" in safehold("card", "pilot", card["id"])


def test_mixes_are_written_and_ranked(
    safehold: Callable[..., str], operator: Api, document: Any, fields: Path, tmp_path: Path
) -> None:
    card = read(safehold("card", "create", fields, "--json"))
    operator.post("configs", {"document": document(), "card": card["id"]})
    pilot = read(safehold("card", "pilot", card["id"], "--kind", "mix_pilot", "--json"))["card"]
    mixes = tmp_path / "mixes.toml"
    mixes.write_text("[even]\nweb = 0.5\ncode = 0.5\n")
    assert "Configs written: even." in safehold("card", "mixes", pilot["id"], mixes)
    config = Card.objects.get(pk=pilot["id"]).configs.latest("pk")
    run = make_run(config=config, card=config.card, project=config.project)
    log(make_attempt(run=run), val__loss={5: 1.5})
    assert "loss 1.5" in safehold("card", "mixes", pilot["id"])


def test_results_are_shown_metric_by_metric(
    safehold: Callable[..., str], operator: Api, project: Any
) -> None:
    card = make_card(operator.user, project)
    config = make_config(project=project, created_by=operator.user, card=card)
    run = make_run(config=config, card=card)
    log(make_attempt(run=run), val__loss={5: 2.5})
    said = safehold("card", "results", card.pk)
    assert "not accepted so far" in said
    assert "not measured" in said
    assert "not accepted so far" in safehold("run", "forecast", run.pk)


def test_a_launch_without_agreements_is_refused_with_what_lacks(
    safehold: Callable[..., str], operator: Api, project: Any, document: Any
) -> None:
    card = make_card(operator.user, project, acceptance=[])
    config = operator.post("configs", {"document": document(), "card": card.pk}).json()
    run = read(safehold("run", "create", config["id"], "--json"))
    said = safehold("run", "launch", run["id"], code=1)
    assert "CARD-3.agreements" in said
    assert "It lacks the acceptance metrics." in said
