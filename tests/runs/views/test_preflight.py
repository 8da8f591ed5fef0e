from pathlib import Path

import pytest

from runs.models import Config, PreflightReport
from runs.services import configs
from tests.runs.corpus import documents_on
from tests.runs.views.people import People


@pytest.fixture
def config(people: People, tmp_path: Path) -> Config:
    document = documents_on(tmp_path)()
    return configs.create_config(
        user=people.operator_user, project=people.project, document=document
    )


def test_asking_leads_to_the_report(people: People, config: Config) -> None:
    answer = people.operator.post(f"/configs/{config.pk}/preflight/")
    report = PreflightReport.objects.get()
    assert answer["Location"] == f"/preflight/{report.pk}/"
    page = people.viewer.get(answer["Location"]).content.decode()
    assert "Nothing stands against a launch." in page
    assert 'hx-trigger="load delay:1s"' not in page


def test_what_blocks_stands_before_warnings(people: People, config: Config) -> None:
    findings = [
        {
            "code": "A-1.warned",
            "severity": "warn",
            "message": "Look at this.",
            "evidence": {},
            "advice": "",
        },
        {
            "code": "A-2.failed",
            "severity": "fail",
            "message": "This blocks.",
            "evidence": {"line": 7},
            "advice": "Put it right.",
        },
    ]
    report = PreflightReport.objects.create(
        config=config, config_hash=config.hash, state="done", verdict="fail", findings=findings
    )
    page = people.viewer.get(f"/preflight/{report.pk}/").content.decode()
    assert page.index("This blocks.") < page.index("Look at this.")
    assert "Put it right." in page
    assert "It cannot be launched as it is." in page


def test_an_open_report_asks_again_until_it_is_done(people: People, config: Config) -> None:
    report = PreflightReport.objects.create(config=config, config_hash=config.hash)
    page = people.viewer.get(f"/preflight/{report.pk}/body/").content.decode()
    assert f'hx-get="/preflight/{report.pk}/body/"' in page


def test_rights(people: People, config: Config) -> None:
    report = PreflightReport.objects.create(config=config, config_hash=config.hash)
    assert people.viewer.post(f"/configs/{config.pk}/preflight/").status_code == 403
    assert people.outsider.get(f"/preflight/{report.pk}/").status_code == 404
    assert people.viewer.get("/preflight/").status_code == 200


def test_records_behind_a_finding_are_linked_and_what_is_no_number_is_not(
    people: People, config: Config
) -> None:
    finding = {
        "code": "A-2.failed", "severity": "fail", "message": "This blocks.", "advice": "",
        "evidence": {"config_ids": [config.pk], "run_ids": ["../7", None, {}]},
    }  # fmt: skip
    report = PreflightReport.objects.create(
        config=config, config_hash=config.hash, state="done", verdict="fail", findings=[finding]
    )
    answer = people.viewer.get(f"/preflight/{report.pk}/")
    assert answer.status_code == 200
    links = answer.content.decode().partition("finding-links")[2].partition("</p>")[0]
    assert f'href="/configs/{config.pk}/"' in links
    assert "Run" not in links
