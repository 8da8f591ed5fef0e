"""Every command against the API itself: people get text, scripts one object with a verdict, and nothing breaks."""

import json
import logging
from pathlib import Path

import pytest

from controlplane.common.models import Project, Role
from runs.models import SavedView
from safehold.api_client import ApiClient
from safehold.cli.main import run as run_command
from tests.checkpoints.makers import save
from tests.factories import make_attempt, make_run, make_user
from tests.runs.api.bridging import client_of
from tests.runs.api.callers import Api
from tests.safehold.cli.tree import online

# They wait for a worker, or write where the test stands.
WAITING = {"checkpoint verify", "config preflight", "cluster test", "audit export"}
# What a person may be refused here: drafts, missing approvals, names that are none.
VERDICTS = {"pass", "warn", "fail"}


@pytest.fixture
def known(project: Project, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """One of each, by the name that commands give it; the caller is an admin."""
    monkeypatch.setattr(
        logging.getLogger("django.request"), "disabled", True
    )  # it writes on stdout
    api = Api(make_user(Role.ADMIN, project, is_superuser=True))
    monkeypatch.setattr(ApiClient, "from_environment", classmethod(lambda cls: client_of(api)))
    run = make_run(project=project)
    view = SavedView.objects.create(project=project, user=api.user, name="a", query="")
    return {
        "run": run.pk, "runs": run.pk, "other": run.pk, "config": run.config_id, "slug": project.slug,
        "card": api.post("cards", {"name": "a", "project": project.slug}).json()["id"], "view": view.pk, "rule": "warmup.pretrain",
        "checkpoint": save(make_attempt(run=run), 5).pk, "username": make_user(Role.VIEWER, project).username, "role": "operator",
    }  # fmt: skip


def test_every_command_speaks_to_people_and_to_scripts(
    known: dict[str, object], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    answered = set()
    for leaf in online():
        if leaf.name in WAITING or leaf.name == "run wait":
            continue
        call = leaf.call(tmp_path, known)
        for words in ([*call, "--json"], call):
            code = run_command(words)
            out, err = capfd.readouterr()
            assert "fault of its own" not in err, (words, err)
            if code == 2:
                assert (out, err.count("\n")) == ("", 1), (words, out, err)
                continue
            assert err == "", (words, err)
            answered.add(leaf.name)
            if words is not call:
                assert json.loads(out)["verdict"] in VERDICTS, words
                assert isinstance(json.loads(out)["findings"], list), words
    assert len(answered) > 40, sorted({leaf.name for leaf in online()} - answered)
