"""A viewer finds no button that would only be refused; nor does anybody in an archived project."""

import pytest
from django.utils import timezone

from runs.models import Run
from runs.services import cards
from tests.factories import make_config, make_run
from tests.runs.views.people import People

FORBIDDEN = ("/runs/new/", "/cards/new/", "/configs/new/", "/preflight/", "/reason/")


@pytest.fixture
def run(people: People) -> Run:
    return make_run(config=make_config(project=people.project, created_by=people.operator_user))


def acts(page: str) -> list[str]:
    """Return what a page offers besides looking."""
    main = page.partition('id="main"')[2]
    return [
        path
        for path in FORBIDDEN
        if f'action="{path}' in main or f'btn-primary" href="{path}' in main
    ]


def test_a_viewer_is_offered_nothing_that_would_be_refused(people: People, run: Run) -> None:
    report = run.config.preflight_reports.get()
    paths = ("/runs/", "/cards/", "/configs/", f"/preflight/{report.pk}/", f"/runs/{run.pk}/proof/")
    for path in paths:
        assert acts(people.viewer.get(path).content.decode()) == [], path
    for path in paths[:4]:
        assert acts(people.operator.get(path).content.decode()), path
    assert "Run again" not in people.viewer.get(paths[3]).content.decode()


def test_a_card_of_an_archived_project_takes_no_typing(people: People) -> None:
    card = cards.create_card(user=people.operator_user, project=people.project, name="kept")
    assert people.operator.get(f"/cards/{card.pk}/").context["can_change"]
    people.project.archived_at = timezone.now()
    people.project.save()
    assert not people.operator.get(f"/cards/{card.pk}/").context["can_change"]
