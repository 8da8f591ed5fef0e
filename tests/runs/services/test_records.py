"""Cards, configs and logs."""

from pathlib import Path
from typing import Any

import pytest

from controlplane.common.errors import Conflict, Forbidden, Invalid
from controlplane.common.models import AuditEntry, Project, Role, User
from runs import card_export
from runs.models import Attempt, Card, Config, LogChunk
from runs.services import cards, configs, logs
from safehold.config import to_toml
from tests.factories import make_attempt, make_user
from tests.runs.corpus import documents_on

pytestmark = pytest.mark.django_db


@pytest.fixture
def card(project: Project, user: User) -> Card:
    return cards.create_card(
        user=user, project=project, name="Small GPT", question="Does it learn?"
    )


@pytest.fixture
def config_document(tmp_path: Path) -> dict[str, Any]:
    return documents_on(tmp_path)()


@pytest.fixture
def attempt() -> Attempt:
    return make_attempt(state="running")


def test_each_changed_field_is_kept_with_who_when_old_new_and_why(card: Card, user: User) -> None:
    data = card.data | {"objective": "Write code.", "data": card.data["data"] | {"tokens": 5_000}}
    changed = cards.update_card(user=user, card=card, reason=" More data ", stage="sft", data=data)
    assert [(c.field, c.old, c.new) for c in changed] == [
        ("stage", "pretrain", "sft"), ("objective", "", "Write code."), ("data.tokens", 0, 5000),
    ]  # fmt: skip
    trail = card_export.document_of(card)["changes"]
    assert {(c["user"], c["reason"]) for c in trail} == {(user.username, "More data")}
    assert AuditEntry.objects.filter(action="card.update").count() == 1


def test_an_update_without_a_difference_leaves_no_trace(card: Card, user: User) -> None:
    assert cards.update_card(user=user, card=card, name=card.name, data=card.data) == []
    assert not AuditEntry.objects.filter(action="card.update").exists()


def test_a_card_that_cannot_be_is_refused_by_field(project: Project, user: User) -> None:
    with pytest.raises(Invalid) as told:
        cards.create_card(
            user=user, project=project, name=" ", stage="later", data={"data": {"tokens": -1}}
        )
    assert sorted(told.value.fields) == ["data.tokens", "name", "stage"]


def test_a_viewer_changes_no_card(card: Card, project: Project) -> None:
    with pytest.raises(Forbidden):
        cards.update_card(user=make_user(Role.VIEWER, project), card=card, name="Mine")


def test_a_config_is_named_by_its_document_and_read_from_toml_alike(
    project: Project, user: User, config_document: dict
) -> None:
    made = configs.create_config(user=user, project=project, document=config_document)
    again = configs.create_config(user=user, project=project, text=to_toml(made.document))
    assert made.hash == again.hash
    assert made.hash.startswith("blake3:")
    assert configs.changes_between(made, again) == []


def test_a_config_that_cannot_be_is_refused_by_field(project: Project, user: User) -> None:
    with pytest.raises(Invalid) as told:
        configs.create_config(user=user, project=project, text='name = "x"\n[train]\nsteps = 0\n')
    assert told.value.code == "config-invalid"
    assert told.value.fields["train.steps"][0].startswith("Line 3: ")
    assert not Config.objects.exists()


def test_a_config_is_frozen_once_and_only_while_it_matches_its_digest(
    project: Project, user: User, config_document: dict
) -> None:
    made = configs.create_config(user=user, project=project, document=config_document)
    frozen = configs.freeze(user=user, config=made)
    assert configs.freeze(user=user, config=made).frozen_at == frozen.frozen_at
    assert frozen.frozen_by == user
    other = configs.create_config(user=user, project=project, document=config_document)
    Config.objects.filter(pk=other.pk).update(document=other.document | {"name": "other"})
    with pytest.raises(Conflict, match="does not match its digest"):
        configs.freeze(user=user, config=other)


def push(attempt: Attempt, offset: int, text: str, source: str = "rank-0") -> int:
    return logs.append_log(attempt=attempt, source=source, offset=offset, data=text.encode())


def test_log_text_is_appended_once_however_often_it_is_sent(attempt: Attempt) -> None:
    assert push(attempt, 0, "one\ntwo\n") == 8
    assert push(attempt, 0, "one\ntwo\n") == 8
    assert push(attempt, 4, "two\nthree\n") == 14
    with pytest.raises(logs.LogGap) as told:
        push(attempt, 99, "x")
    assert told.value.extra == {"next": 14}
    found = logs.read_range(attempt=attempt, source="rank-0", start=0)
    assert (found.text, found.next) == ("one\ntwo\nthree\n", 14)


def test_ranges_and_tails_cross_the_pieces(attempt: Attempt) -> None:
    for at in range(0, 60, 6):
        push(attempt, at, f"line{at // 6}\n")
    assert logs.read_range(attempt=attempt, source="rank-0", start=4, end=14).text == "0\nline1\nli"
    tail = logs.read_tail(attempt=attempt, source="rank-0", limit_bytes=15)
    assert (tail.text, tail.next) == ("line8\nline9\n", 60)


def test_beyond_the_limit_the_oldest_text_goes(attempt: Attempt, settings) -> None:
    settings.SAFEHOLD_LOG_MAX_BYTES = 20
    for at in range(0, 50, 10):
        push(attempt, at, "123456789\n")
    assert LogChunk.objects.count() == 2
    found = logs.read_range(attempt=attempt, source="rank-0", start=0)
    assert (found.first, found.start, found.next) == (30, 30, 50)
    assert push(attempt, 50, "x") == 51


def test_search_finds_the_newest_lines_first_and_across_pieces(attempt: Attempt) -> None:
    push(attempt, 0, "An Error here\nfine\nanother er")
    push(attempt, 29, "ror\nlast")
    push(attempt, 0, "error of rank 1\n", source="rank-1")
    hits = logs.search(attempt=attempt, text="ERROR")
    assert [(hit.source, hit.offset, hit.line) for hit in hits] == [
        ("rank-0", 19, "another error"), ("rank-0", 0, "An Error here"), ("rank-1", 0, "error of rank 1"),
    ]  # fmt: skip
    assert len(logs.search(attempt=attempt, text="error", limit=1)) == 1
    assert logs.search(attempt=attempt, text="") == []
