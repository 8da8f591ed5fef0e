import pytest

from controlplane.common.errors import Invalid
from runs.models import Cluster
from runs.services import launcher_choice, runs
from safehold.config import canonical_document
from tests.factories import make_config, make_user
from tests.safehold.documents import make_config as make_document

pytestmark = pytest.mark.django_db


def cluster(name, **changes):
    values = {"namespace": "team", "way": "in_cluster", "image": "trainer:1"}
    return Cluster.objects.create(name=name, created_by=make_user(), **values | changes)


def config_for(kind="kubernetes", named=""):
    changes = {"kubernetes__cluster": named} if named else {}
    document = canonical_document(make_document(compute__launcher=kind, **changes))
    return make_config(document=document)


def test_a_config_without_a_word_of_it_runs_here():
    assert launcher_choice.choose(config=make_config()) == "local"
    assert launcher_choice.choices_for(make_config()) == ["local"]


def test_the_only_cluster_need_not_be_named():
    cluster("lab")
    cluster("old", is_enabled=False)
    for asked in ("", "kubernetes", "kubernetes:lab"):
        assert launcher_choice.choose(config=config_for(), asked=asked) == "kubernetes:lab"


def test_the_config_may_insist_on_one():
    cluster("lab")
    cluster("big")
    assert launcher_choice.choose(config=config_for(named="big")) == "kubernetes:big"
    assert launcher_choice.choices_for(config_for(named="big")) == ["kubernetes:big"]
    assert launcher_choice.choices_for(config_for()) == ["kubernetes:big", "kubernetes:lab"]


@pytest.mark.parametrize(
    ("kind", "named", "asked", "field", "message"),
    [
        ("local", "", "kubernetes:lab", "compute.launcher", "written for the launcher local"),
        ("kubernetes", "", "local", "compute.launcher", "written for the launcher kubernetes"),
        ("kubernetes", "big", "kubernetes:lab", "kubernetes.cluster", "insists on the cluster big"),
        ("kubernetes", "", "kubernetes:moon", "launcher", "There is no cluster moon"),
        ("kubernetes", "", "", "launcher", "Which cluster"),
        ("kubernetes", "", "slurm", "compute.launcher", "not for slurm"),
    ],
)
def test_a_choice_that_cannot_be_names_its_field(kind, named, asked, field, message):
    cluster("lab")
    cluster("big")
    config = config_for(kind, named)
    with pytest.raises(Invalid, match=message) as caught:
        runs.create_run(
            user=config.created_by, project=config.project, config=config, launcher=asked
        )
    assert field in caught.value.fields


def test_without_a_cluster_the_page_to_register_one_is_named():
    with pytest.raises(Invalid, match="No cluster is registered") as caught:
        launcher_choice.choose(config=config_for())
    assert "Cluster" in caught.value.hint


def test_a_run_takes_the_launcher_of_its_config():
    cluster("lab")
    config = config_for()
    run = runs.create_run(user=config.created_by, project=config.project, config=config)
    assert run.launcher == "kubernetes:lab"
