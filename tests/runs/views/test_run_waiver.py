"""The page of a draft lets an experiment start in spite of its preflight, as the launch page does."""

from pathlib import Path

import pytest

from runs.models import Config, Run, Waiver
from runs.services import configs, runs
from tests.runs.corpus import documents_on
from tests.runs.views.people import People

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
WHY = "the data arrive at ten"


@pytest.fixture
def draft(people: People, tmp_path: Path) -> Run:
    """A run that was never launched; its data are not there."""
    document = documents_on(tmp_path)(data__path=str(tmp_path / "nowhere"))
    user = people.operator_user
    config = configs.create_config(user=user, project=people.project, document=document)
    return runs.create_run(user=user, project=people.project, config=config)


def page_of(people: People, run: Run) -> str:
    return people.operator.get(f"/runs/{run.pk}/").content.decode()


def test_a_refused_launch_offers_the_waiver_with_what_failed(people: People, draft: Run) -> None:
    assert "data-waiver" not in page_of(people, draft)
    answer = people.operator.post(f"/runs/{draft.pk}/launch/act/", headers=HTMX)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert 'name="waiver"' in page
    assert 'data-finding="DATA-1.format"' in page
    answer = people.operator.post(f"/runs/{draft.pk}/launch/act/", {"waiver": WHY}, headers=HTMX)
    assert answer.status_code == 200
    assert "data-waiver" not in answer.content.decode()
    waiver = Waiver.objects.get(run=draft)
    assert (waiver.waived_by, waiver.reason) == (people.operator_user, WHY)
    assert draft.attempts.count() == 1


def test_without_a_script_it_stands_on_the_page_after_the_refusal(
    people: People, draft: Run
) -> None:
    people.operator.post(f"/runs/{draft.pk}/launch/act/")
    assert 'name="waiver"' in page_of(people, draft)
    assert "data-waiver" not in people.viewer.get(f"/runs/{draft.pk}/").content.decode()
    answer = people.operator.post(f"/runs/{draft.pk}/launch/act/", {"waiver": WHY})
    assert answer.status_code == 302
    assert Waiver.objects.get().reason == WHY


def test_too_long_a_reason_is_refused_and_kept_in_the_field(people: People, draft: Run) -> None:
    people.operator.post(f"/runs/{draft.pk}/launch/act/")
    long = "x" * 2001
    answer = people.operator.post(f"/runs/{draft.pk}/launch/act/", {"waiver": long}, headers=HTMX)
    assert answer.status_code == 422
    assert f'value="{long}"' in answer.content.decode()
    assert not Waiver.objects.exists()


def test_production_has_none(people: People, draft: Run) -> None:
    people.operator.post(f"/runs/{draft.pk}/launch/act/")
    with_kind = Config.objects.filter(pk=draft.config_id)
    with_kind.update(kind=Config.Kind.PRODUCTION)
    assert "data-waiver" not in page_of(people, draft)
    answer = people.operator.post(f"/runs/{draft.pk}/launch/act/", {"waiver": WHY}, headers=HTMX)
    assert answer.status_code == 422
    assert not draft.attempts.exists()
    assert not Waiver.objects.exists()


def test_another_act_asks_for_no_reason(people: People, draft: Run) -> None:
    answer = people.operator.post(f"/runs/{draft.pk}/stop/act/", {"waiver": WHY}, headers=HTMX)
    assert "never launched" in answer.content.decode()
