"""Settings, Rulebook values."""

import pytest
from django.test import Client

from controlplane.common.models import AuditEntry, Role
from runs.models import RulebookValue
from safehold.rulebook import written
from tests.factories import make_user
from tests.runs.views.people import People

RULE = "weight_decay.any"
BOUNDS = {"low": "0", "high": "0.3", "reason": "Small networks here."}


@pytest.fixture
def approver(people: People) -> Client:
    client = Client()
    client.force_login(make_user(Role.APPROVER, people.project))
    return client


def test_every_rule_is_listed_with_reason_and_source(people: People) -> None:
    page = people.viewer.get("/settings/rulebook/").content.decode()
    for rule in written().rules():
        assert f'id="{rule.id}"' in page
    assert "Change the span" not in page


def test_bounds_are_set_with_a_reason_and_taken_back(people: People, approver: Client) -> None:
    page = approver.post(f"/settings/rulebook/{RULE}/", BOUNDS, follow=True).content.decode()
    assert "Small networks here." in page
    assert "0–0.3" in page
    entry = AuditEntry.objects.get(action="rulebook.set")
    assert (entry.data["old"], entry.data["new"]) == ([0.01, 0.1], [0.0, 0.3])
    approver.post(f"/settings/rulebook/{RULE}/", {"reset": "1"})
    assert not RulebookValue.objects.exists()
    assert AuditEntry.objects.filter(action="rulebook.reset").exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"low": "much"}, "is no number"),
        ({"low": "9"}, "lies above the upper bound"),
        ({"reason": " "}, "needs a reason"),
    ],
)
def test_bounds_that_cannot_be_are_refused(
    approver: Client, changes: dict[str, str], words: str
) -> None:
    page = approver.post(
        f"/settings/rulebook/{RULE}/", BOUNDS | changes, follow=True
    ).content.decode()
    assert words in page
    assert 'value="0.3"' in page
    assert not RulebookValue.objects.exists()


def test_an_operator_cannot_loosen_what_holds_him(people: People) -> None:
    page = people.operator.post(f"/settings/rulebook/{RULE}/", BOUNDS, follow=True).content.decode()
    assert "needs the role approver" in page
    assert not RulebookValue.objects.exists()


@pytest.mark.parametrize("text", ["0,3", "0,01", "x", "9" * 400])
def test_what_is_no_number_never_becomes_a_bound(
    people: People, approver: Client, text: str
) -> None:
    page = approver.post(f"/settings/rulebook/{RULE}/", BOUNDS | {"high": text}, follow=True)
    assert "is no number" in page.content.decode()
    assert not RulebookValue.objects.exists()


def test_what_somebody_set_meanwhile_is_not_written_over_unseen(approver: Client) -> None:
    def version() -> str:
        page = approver.get("/settings/rulebook/")
        rows = [row for _family, rows in page.context["families"] for row in rows]
        return next(row.version for row in rows if row.rule.id == RULE)

    before = version()
    approver.post(f"/settings/rulebook/{RULE}/", BOUNDS | {"version": before})
    typed = BOUNDS | {"high": "0.4", "version": before}
    page = approver.post(f"/settings/rulebook/{RULE}/", typed)
    assert page.status_code == 422
    assert 'value="0.4"' in page.content.decode()
    assert "What you typed stands below" in page.content.decode()
    refused = approver.post(f"/settings/rulebook/{RULE}/", {"reset": "1", "version": before})
    assert (refused.status_code, RulebookValue.objects.get().high) == (422, 0.3)
    approver.post(
        f"/settings/rulebook/{RULE}/", typed | {"version": page.context["refused"]["version"]}
    )
    assert RulebookValue.objects.get().high == 0.4


def test_a_bound_sent_back_unchanged_stays_what_it_was(approver: Client) -> None:
    approver.post(f"/settings/rulebook/{RULE}/", BOUNDS | {"high": "1234567.25"})
    page = approver.get("/settings/rulebook/").content.decode()
    assert 'name="high" inputmode="decimal" value="1234567.25"' in page
