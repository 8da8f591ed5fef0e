"""The text that a config was written as: kept with comments and order, and where the next one begins."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from runs.models import Config, ConfigText
from runs.services import config_texts, configs
from safehold.config import to_toml
from tests.runs.corpus import documents_on
from tests.runs.planned import make_card
from tests.runs.views.people import People

Documents = Callable[..., dict[str, Any]]


@pytest.fixture
def documents(tmp_path: Path) -> Documents:
    return documents_on(tmp_path)


@pytest.fixture
def written(documents: Documents) -> str:
    return to_toml(documents()).replace("lr = 0.0003", "lr = 3e-4  # from the sweep")


def typed(toml: str) -> dict[str, str]:
    return {"side": "toml", "toml": toml.replace("\n", "\r\n")}


def test_comments_are_kept_and_the_next_one_begins_with_them(people: People, written: str) -> None:
    assert people.operator.post("/configs/new/", typed(written)).status_code == 302
    made = Config.objects.get()
    page = people.viewer.get(f"/configs/{made.pk}/").content.decode()
    assert "lr = 3e-4  # from the sweep" in page
    answer = people.viewer.get(f"/configs/{made.pk}/download/?written")
    assert answer.content.decode() == written
    follows = people.operator.get(f"/configs/new/?parent={made.pk}").content.decode()
    assert "lr = 3e-4  # from the sweep" in follows


def test_what_says_no_more_than_the_document_is_not_kept_twice(
    people: People, documents: Documents
) -> None:
    people.operator.post(
        "/configs/new/", {"side": "form", "toml": ""} | typed(to_toml(documents()))
    )
    made = Config.objects.get()
    people.operator.post("/configs/new/", typed(to_toml(made.document)))
    assert ConfigText.objects.filter(config=Config.objects.first()).count() == 0
    assert (
        "As it was written"
        not in people.viewer.get(
            f"/configs/{Config.objects.first().pk}/"  # type: ignore[union-attr]
        ).content.decode()
    )


@pytest.mark.parametrize("format", ["toml", "yaml"])
def test_a_text_by_the_api_is_kept_as_it_is(people: People, written: str, format: str) -> None:
    text = written if format == "toml" else f"# by hand\n{_as_yaml(written)}"
    made = configs.create_config(
        user=people.operator_user, project=people.project, text=text.encode(), format=format  # type: ignore[arg-type]
    )  # fmt: skip
    assert config_texts.written_of(made) == text
    # What is no TOML is no start of another config.
    start = text if format == "toml" else to_toml(made.document)
    assert config_texts.text_of(made) == start
    file = people.viewer.get(f"/configs/{made.pk}/download/?written")
    assert (file.content.decode(), f'.{format}"' in file["Content-Disposition"]) == (text, True)


def _as_yaml(toml: str) -> str:
    import tomllib

    import yaml

    return yaml.safe_dump(tomllib.loads(toml))


def test_a_text_that_says_something_else_today_is_no_start(people: People, written: str) -> None:
    made = configs.create_config(
        user=people.operator_user, project=people.project, text=written, format="toml"
    )
    ConfigText.objects.filter(config=made).update(text=written.replace("3e-4", "4e-4"))
    assert config_texts.text_of(made) == to_toml(made.document)


def test_a_yaml_file_tells_that_its_comments_stay_behind(people: People, written: str) -> None:
    content = f"# by hand\n{_as_yaml(written)}".encode()
    page = people.operator.post(
        "/configs/new/", {"file": SimpleUploadedFile("a.yaml", content)}
    ).content.decode()
    assert "The comments of the file are not taken over into TOML." in page


def test_a_name_of_two_hundred_characters_is_whole_everywhere(
    people: People, documents: Documents
) -> None:
    name = "n" * 200
    people.operator.post("/configs/new/", typed(to_toml(documents(name=name))))
    assert Config.objects.get().name == name
    assert f'title="{name}"' in people.viewer.get("/configs/").content.decode()


def test_without_script_the_form_is_written_over_broken_toml_only_when_asked(
    people: People, documents: Documents
) -> None:
    from tests.runs.views.test_configs import typed as fields_of

    fields = {"side": "form", "toml": "[broken", **fields_of(documents())}
    refused = people.operator.post("/configs/new/", fields)
    assert refused.status_code == 422
    assert "The form is out of date: the TOML cannot be read." in refused.content.decode()
    assert not Config.objects.exists()
    page = people.operator.post("/configs/new/", fields | {"restore": "form"}).content.decode()
    assert "Every field is sound" in page
    assert "[broken" in page  # what stood there is still to be read
    assert not Config.objects.exists()


@pytest.mark.parametrize("stage", ["pretrain", "continued", "sft", "preference"])
def test_a_new_config_of_any_stage_begins_without_a_finding(people: People, stage: str) -> None:
    page = people.operator.get(f"/configs/new/?stage={stage}").content.decode()
    assert "Every field is sound, alone and together." in page
    assert f"stage = &quot;{stage}&quot;" in page


@pytest.mark.parametrize("stage", ["pretrain", "continued", "sft", "preference"])
def test_so_does_that_of_a_card_and_one_after_a_config_of_another_stage(
    people: People, documents: Documents, stage: str
) -> None:
    configs.create_config(
        user=people.operator_user,
        project=people.project,
        document=documents(kind="production", optimizer__lr=4e-4, train__precision="fp16"),
    )
    card = make_card(people.operator_user, people.project, stage=stage)
    for address in (f"/configs/new/?card={card.pk}", f"/configs/new/?stage={stage}"):
        page = people.operator.get(address).content.decode()
        assert f"stage = &quot;{stage}&quot;" in page
        assert "rules have something to say" not in page
        assert "rule has something to say" not in page


def test_what_cannot_be_read_is_no_fault_of_a_field(people: People, written: str) -> None:
    broken = written.replace("lr = 3e-4", "lr = 3e-4x")
    page = people.operator.post("/configs/new/", typed(broken)).content.decode()
    assert "Not valid TOML" in page
    assert "field keeps it from running" not in page
    wrong = written.replace("lr = 3e-4", 'lr = "fast"')
    page = people.operator.post("/configs/new/", typed(wrong)).content.decode()
    assert "1 field keeps it from running" in page
