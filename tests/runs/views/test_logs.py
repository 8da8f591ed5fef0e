import pytest
from django.utils import timezone

from runs.models import Attempt, LogChunk
from tests.factories import make_attempt, make_run
from tests.runs.views.people import People


@pytest.fixture
def attempt(people: People) -> Attempt:
    attempt = make_attempt(run=make_run(project=people.project, created_by=people.operator_user))
    for source, lines in (
        ("rank-0", [b"step 1 <ok>\n", b"step 2 \x1b[31mred\x1b[0m\n"]),
        ("wrapper", [b"started\n"]),
    ):
        offset = 0
        for data in lines:
            LogChunk.objects.create(
                attempt=attempt,
                source=source,
                offset=offset,
                size=len(data),
                data=data,
                received_at=timezone.now(),
            )
            offset += len(data)
    return attempt


def test_the_page_shows_rank_0_of_the_newest_attempt(people: People, attempt: Attempt) -> None:
    page = people.viewer.get(f"/runs/{attempt.run_id}/logs/").content.decode()
    assert "step 1 &lt;ok&gt;" in page
    assert "step 2 red" in page


def test_another_source_is_chosen_in_the_address(people: People, attempt: Attempt) -> None:
    page = people.viewer.get(
        f"/runs/{attempt.run_id}/logs/?attempt=1&source=wrapper"
    ).content.decode()
    assert "started" in page
    assert "step 1" not in page


def test_the_tail_goes_on_where_the_page_stopped(people: People, attempt: Attempt) -> None:
    answer = people.viewer.get(
        f"/runs/{attempt.run_id}/logs/tail/?attempt=1&source=rank-0&offset=12"
    ).json()
    assert answer == {"text": "step 2 red\n", "next": 32, "has_more": False}
    again = people.viewer.get(
        f"/runs/{attempt.run_id}/logs/tail/?attempt=1&source=rank-0&offset=32"
    ).json()
    assert again == {"text": "", "next": 32, "has_more": False}


def test_the_download_has_the_bytes_as_they_came(people: People, attempt: Attempt) -> None:
    answer = people.viewer.get(f"/runs/{attempt.run_id}/logs/download/?attempt=1&source=rank-0")
    assert b"".join(answer.streaming_content) == b"step 1 <ok>\nstep 2 \x1b[31mred\x1b[0m\n"  # type: ignore[attr-defined]
    assert "attachment" in answer["Content-Disposition"]


@pytest.mark.parametrize("part", ["", "tail/", "download/"])
def test_an_outsider_reads_nothing(people: People, attempt: Attempt, part: str) -> None:
    assert people.outsider.get(f"/runs/{attempt.run_id}/logs/{part}").status_code == 404
