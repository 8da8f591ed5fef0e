"""The verbs of the command line, against the API itself."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from controlplane.common import audit
from controlplane.common.models import Project
from runs.models import Config, Run
from runs.services import config_texts, ingest
from safehold.api_client import ApiClient
from safehold.cli.main import run as run_command
from safehold.config import parse, to_toml
from safehold.wire import Column
from tests.factories import make_attempt, make_run
from tests.runs.api.bridging import client_of
from tests.runs.api.callers import Api
from tests.runs.corpus import documents_on
from tests.runs.ingest.posting import make_batch

Command = Callable[..., tuple[int, str]]


@pytest.fixture
def safehold(
    operator: Api, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """Return a function that runs a command as the operator: its exit code and what it printed."""
    monkeypatch.setattr(ApiClient, "from_environment", classmethod(lambda cls: client_of(operator)))

    def call(*words: object) -> tuple[int, str]:
        code = run_command([str(word) for word in words])
        return code, "".join(capfd.readouterr())

    return call


@pytest.fixture
def run(project: Project) -> Run:
    return logged(project, "first", [3.0, np.nan, 1.5])


def logged(project: Project, name: str, losses: list[float]) -> Run:
    run = make_run(project=project, name=name)
    columns = (Column("train/loss", None, np.array(losses)),)
    ingest.store_batch(
        attempt=make_attempt(run=run), batch=make_batch(len(losses), columns=columns)
    )
    return run


@pytest.mark.parametrize("name", ["loss.csv", "loss.parquet", "events.out.tfevents.1.me"])
def test_every_point_is_written_to_a_file(
    safehold: Command, run: Run, tmp_path: Path, name: str
) -> None:
    code, said = safehold("run", "metrics", run.pk, "--output", tmp_path / name)
    assert (code, "bytes" in said) == (0, True)
    assert (tmp_path / name).stat().st_size > 100
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_of_no_known_form_is_refused(safehold: Command, run: Run, tmp_path: Path) -> None:
    code, said = safehold("run", "metrics", run.pk, "-o", tmp_path / "loss.xlsx")
    assert code == 2
    assert "name it .csv" in said


def test_a_refused_export_leaves_the_file_that_was_there(safehold: Command, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("before")
    code, _ = safehold("run", "metrics", 987654, "-o", tmp_path / "a.csv")
    assert (code, (tmp_path / "a.csv").read_text()) == (2, "before")


def test_runs_are_compared(safehold: Command, project: Project, run: Run) -> None:
    other = logged(project, "second", [4.0, 2.0])
    code, said = safehold("run", "compare", run.pk, other.pk)
    assert code == 0
    assert "first → second" in said
    assert "train/loss" in said


def test_a_run_that_is_not_there_is_not_left_out_of_a_comparison(
    safehold: Command, run: Run
) -> None:
    code, said = safehold("run", "compare", run.pk, 987654)
    assert (code, said) == (
        2,
        "safehold: There is no run 987654, or you are no member of its project.\n",
    )


def test_a_comparison_shows_four_digits(safehold: Command, project: Project, run: Run) -> None:
    other = logged(project, "second", [4.551913181940715])
    _, said = safehold("run", "compare", run.pk, other.pk)
    assert "4.552 " in said
    assert "4.551913181940715" in safehold("run", "compare", run.pk, other.pk, "--json")[1]


def test_a_rate_that_is_no_number_is_listed_by_its_word(safehold: Command, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(desired="running", tokens_per_second=float("nan"))
    run.attempts.update(state="running")
    code, said = safehold("run", "list")
    assert (code, "NaN" in said) == (0, True)


def test_the_trail_shows_no_empty_and_no_python_values(
    safehold: Command, project: Project, run: Run
) -> None:
    audit.record(
        actor=None, action="run.create", object=run, project_id=project.pk,
        data={"checkpoint": {}, "from": {"step": 5, "is_pinned": True}, "parent": None},
    )  # fmt: skip
    _, said = safehold("audit", "list", "--action", "run.create")
    assert 'from {"step": 5, "is_pinned": true}' in said
    assert "checkpoint" not in said


def test_the_client_gives_a_data_frame(operator: Api, run: Run) -> None:
    with client_of(operator) as client:
        (found,) = client.runs()
        frame = found.metrics("train/loss", form="pandas")
        kinds = [event["kind"] for event in found.events(kind="created")]
        assert found.metric_names() == ["train/loss"]
        assert found.config()["schema_version"] == 1
        assert (kinds, list(found.checkpoints())) == ([], [])
    assert found.name == "first"
    assert frame["step"].tolist() == [1, 2, 3]
    assert np.isnan(frame["value"][1])


def test_runs_are_labelled_and_listed_by_their_labels(safehold: Command, run: Run) -> None:
    code, said = safehold(
        "run", "label", run.pk, "--group", "width", "--tag", "bf16", "--tag", "slow"
    )
    assert (code, said) == (0, f"run {run.pk} first in width #bf16 #slow\n")
    safehold("run", "label", run.pk, "--untag", "slow", "--name", "renamed")
    for words in (
        ("--tag", "bf16"),
        ("--group", "width"),
        ("--text", "renam"),
        ("--order", "loss"),
    ):
        assert "renamed" in safehold("run", "list", *words)[1]
    assert "renamed" not in safehold("run", "list", "--tag", "slow")[1]
    assert safehold("run", "label", run.pk, run.pk, "--name", "x")[0] == 2
    assert safehold("run", "label", run.pk, "--tag", "two words")[0] == 2


def test_runs_go_to_the_archive_and_back(safehold: Command, project: Project) -> None:
    runs = [make_run(project=project, name=name).pk for name in ("a", "b")]
    assert safehold("run", "archive", *runs)[0] == 0
    assert "archived" in safehold("run", "list", "--shelf", "archived", "--json")[1]
    code, said = safehold("run", "delete", runs[0], "--yes")
    assert code == 2
    assert "needs the role admin" in said
    assert safehold("run", "unarchive", *runs)[0] == 0


def test_views_are_kept_listed_and_forgotten(safehold: Command) -> None:
    code, said = safehold("view", "save", "failed ones", "--state", "failed", "--shared")
    assert (code, "state=failed" in said) == (0, True)
    assert "failed ones" in safehold("view", "list")[1]
    for words in (("--state", "bogus"), ("--order", "bogus"), ("--shelf", "bogus")):
        code, said = safehold("view", "save", "x", *words)
        assert (code, f"{words[0][2:]} is 'bogus'; known: " in said) == (2, True)
    number = safehold("view", "list")[1].split("\n")[1].split()[0]
    assert safehold("view", "remove", number) == (0, "Forgotten.\n")


def test_search_finds_from_the_command_line(safehold: Command, run: Run) -> None:
    assert "first" in safehold("search", "fir")[1]
    assert safehold("search", "nothing-like-it") == (0, "Nothing matches.\n")


def test_watching_shows_again_until_it_is_interrupted(
    safehold: Command, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("safehold.cli.watching.time.sleep", sleep)
    code, said = safehold("run", "show", run.pk, "--watch", 5, "--json")
    assert (code, said.count("\n"), slept) == (0, 3, [5.0, 5.0, 5.0])


def test_the_lineage_of_a_run_names_who_took_its_weights(
    safehold: Command, project: Project, run: Run
) -> None:
    start = {"id": 87, "path": "/c", "run": run.pk, "step": 3}
    taker = make_run(project=project, start_checkpoint=start | {"takes": "weights"})
    fork = make_run(project=project, parent=run, forked_from_checkpoint=87, start_checkpoint=start)
    code, said = safehold("run", "lineage", run.pk)
    assert (code, f"run {taker.pk} began with the weights of checkpoint 87" in said) == (0, True)
    assert f"run {fork.pk} began from checkpoint 87" in said
    assert f"run {taker.pk} began from" not in said


def test_the_difference_of_runs_names_their_bases(
    safehold: Command, project: Project, run: Run
) -> None:
    start = {"id": 87, "path": "/c", "run": 1, "step": 3, "takes": "weights"}
    other = make_run(project=project, config=run.config, start_checkpoint=start)
    code, said = safehold("run", "diff", run.pk, other.pk)
    assert (code, "One variable changed: Base checkpoint." in said) == (0, True)
    assert "87" in said


def test_a_config_is_stored_as_it_was_written_and_a_second_one_is_told_of(
    safehold: Command, tmp_path: Path
) -> None:
    path = tmp_path / "run.toml"
    path.write_text(f"# Why so.\n{to_toml(parse(documents_on(tmp_path)()))}", encoding="utf-8")
    safehold("config", "create", path)
    first = Config.objects.get()
    assert config_texts.written_of(first).startswith("# Why so.")
    code, said = safehold("config", "create", path)
    assert (code, f"Config {first.pk} has the same document." in said) == (0, True)
    safehold("run", "create", path)
    assert config_texts.written_of(Run.objects.get().config).startswith("# Why so.")


def test_a_trail_without_the_entry_that_was_noted_gives_1(safehold: Command, run: Run) -> None:
    code, said = safehold("audit", "verify", "--head", "0" * 64, "--json")
    assert (code, '{"verdict": "fail"' in said) == (1, True)
    assert "this is not the trail" in safehold("audit", "verify", "--head", "0" * 64)[1]
