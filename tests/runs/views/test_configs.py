import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.files.uploadedfile import SimpleUploadedFile

from runs.forms import document as forms
from runs.forms.configs import SPECS
from runs.models import Config, RulebookValue
from runs.services import configs
from safehold.config import to_toml
from tests.factories import make_config
from tests.runs.corpus import documents_on
from tests.runs.planned import make_card
from tests.runs.views.people import People


@pytest.fixture
def documents(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    return documents_on(tmp_path)


@pytest.fixture
def config(people: People, documents: Callable[..., dict[str, Any]]) -> Config:
    return configs.create_config(
        user=people.operator_user, project=people.project, document=documents()
    )


def typed(document: dict[str, Any]) -> dict[str, str]:
    """Return the form fields of a document, as a browser sends them."""
    return {
        field.spec.path: field.text
        for section in forms.sections(SPECS, document)
        for field in section.fields
    }


def test_the_form_and_the_toml_make_the_same_config(
    people: People, documents: Callable[..., dict[str, Any]]
) -> None:
    as_form = people.operator.post("/configs/new/", {"side": "form", **typed(documents())})
    as_toml = people.operator.post("/configs/new/", {"side": "toml", "toml": to_toml(documents())})
    assert as_form.status_code == as_toml.status_code == 302
    assert len(set(Config.objects.values_list("hash", flat=True))) == 1


def test_a_config_that_cannot_work_is_refused_with_the_field_named(
    people: People, documents: Callable[..., dict[str, Any]]
) -> None:
    answer = people.operator.post(
        "/configs/new/",
        {"side": "form", **typed(documents()), "optimizer.warmup_steps": "99999999"},
    )
    page = answer.content.decode()
    assert answer.status_code == 422
    assert 'href="#f-optimizer-warmup_steps"' in page
    assert not Config.objects.exists()


def test_toml_faults_carry_the_line(
    people: People, documents: Callable[..., dict[str, Any]]
) -> None:
    toml = to_toml(documents()).replace("lr = ", 'lr = "fast" # ')
    page = people.operator.post("/configs/check/", {"side": "toml", "toml": toml}).content.decode()
    assert "optimizer.lr" in page
    assert "line " in page


def test_typing_in_the_form_brings_the_toml_along(
    people: People, documents: Callable[..., dict[str, Any]]
) -> None:
    page = people.operator.post(
        "/configs/check/", {"side": "form", **typed(documents()), "train.seed": "77"}
    ).content.decode()
    assert "seed = 77" in page
    assert "data-toml-update" in page


def test_typing_toml_brings_the_form_along(
    people: People, documents: Callable[..., dict[str, Any]]
) -> None:
    toml = to_toml(documents(train__seed=77))
    page = people.operator.post("/configs/check/", {"side": "toml", "toml": toml}).content.decode()
    assert 'hx-swap-oob="innerHTML:#config-form-side"' in page
    assert 'value="77"' in page


def test_half_typed_toml_leaves_the_form_alone(people: People) -> None:
    page = people.operator.post(
        "/configs/check/", {"side": "toml", "toml": "[train"}
    ).content.decode()
    assert "Not valid TOML" in page
    assert "config-form-side" not in page


def test_a_config_shows_its_document_and_is_downloaded(people: People, config: Config) -> None:
    page = people.viewer.get(f"/configs/{config.pk}/").content.decode()
    assert config.hash in page
    answer = people.viewer.get(f"/configs/{config.pk}/download/")
    assert answer["Content-Type"].startswith("application/toml")
    assert answer.content.decode() == to_toml(config.document)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"train.seed": 5}, "One variable changed"),
        ({"train.seed": 5, "optimizer.clip": 0.5}, "More than one variable changed"),
    ],
)
def test_the_difference_counts_the_variables(
    people: People,
    config: Config,
    documents: Callable[..., dict[str, Any]],
    changes: dict[str, Any],
    verdict: str,
) -> None:
    document = documents()
    for path, value in changes.items():
        section, name = path.split(".")
        document[section][name] = value
    other = configs.create_config(
        user=people.operator_user, project=people.project, document=document, parent=config
    )
    page = people.viewer.get(f"/configs/{other.pk}/diff/?with={config.pk}").content.decode()
    assert verdict in page
    assert "train.seed" in page


def test_rights(people: People, config: Config) -> None:
    assert people.viewer.get("/configs/new/").status_code == 403
    assert people.viewer.post("/configs/new/", {"side": "toml", "toml": ""}).status_code == 403
    assert people.viewer.get("/configs/").status_code == 200
    for path in ("", "diff/", "download/"):
        assert people.outsider.get(f"/configs/{config.pk}/{path}").status_code == 404


def test_another_config_starts_from_the_one_it_follows(people: People, config: Config) -> None:
    page = people.operator.get(f"/configs/new/?parent={config.pk}").content.decode()
    assert config.document["data"]["path"] in page
    assert f"Follows {config.name}" in page


def test_rules_stand_beside_the_fields_as_one_types(
    people: People, documents: Callable[..., dict[str, Any]]
) -> None:
    fields = typed(documents()) | {"optimizer.weight_decay": "0.2"}
    page = people.operator.post("/configs/check/", {"side": "form", **fields}).content.decode()
    beside = page.partition('id="f-optimizer-weight_decay-faults"')[2].partition("</div>")[0]
    assert "usual: 0.01–0.1" in beside
    assert "1 rule has something to say" in page


def test_the_bounds_of_the_project_count_there(
    people: People, documents: Callable[..., dict[str, Any]]
) -> None:
    RulebookValue.objects.create(
        project=people.project, rule="weight_decay.any", low=0, high=0.3, reason="Ours.", set_by=people.operator_user
    )  # fmt: skip
    fields = typed(documents()) | {"optimizer.weight_decay": "0.2"}
    page = people.operator.post("/configs/check/", {"side": "form", **fields}).content.decode()
    assert "Every field is sound" in page


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "lr: 3e-4"),
        ("a.json", '"lr": 3e-4'),
        ("a.toml", "lr = 3e-4"),
    ],
)
def test_a_file_is_read_into_both_sides(
    people: People, documents: Callable[..., dict[str, Any]], name: str, text: str
) -> None:
    document = documents()
    whole = {
        "a.yaml": yaml.safe_dump(document).replace("lr: 0.0003", text),
        "a.json": json.dumps(document).replace('"lr": 0.0003', text),
        "a.toml": to_toml(document).replace("lr = 0.0003", text),
    }[name]
    assert text in whole
    page = people.operator.post(
        "/configs/new/", {"file": SimpleUploadedFile(name, whole.encode())}
    ).content.decode()
    assert "Every field is sound" in page
    assert (
        "lr = 3e-4" if name == "a.toml" else "lr = 0.0003"
    ) in page  # TOML stays as it was written
    assert not Config.objects.exists()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.yaml", b"name: no\nname: x", "stands twice"),
        ("a.ini", b"name=x", "Name it .toml, .yaml or .json"),
        ("a.json", b"{", "Not valid JSON"),
        ("a.toml", b"\xff\x00", "is not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(
    people: People, name: str, content: bytes, words: str
) -> None:
    page = people.operator.post("/configs/new/", {"file": SimpleUploadedFile(name, content)})
    assert words in page.content.decode()


def test_the_list_is_filtered_and_asks_few_questions(
    people: People,
    config: Config,
    documents: Callable[..., dict[str, Any]],
    django_assert_max_num_queries: Any,
) -> None:
    for number in range(8):
        configs.create_config(
            user=people.operator_user, project=people.project, document=documents(name=f"c{number}", kind="production")
        )  # fmt: skip
    with django_assert_max_num_queries(12):
        page = people.viewer.get("/configs/?kind=experiment").content.decode()
    assert page.count("data-row-link") == 1
    assert "data-row-link" not in people.viewer.get("/configs/?approval=approved").content.decode()


def test_a_config_shows_what_the_rules_say_of_it(
    people: People, documents: Callable[..., dict[str, Any]]
) -> None:
    made = configs.create_config(
        user=people.operator_user, project=people.project, document=documents(optimizer__weight_decay=0.2)
    )  # fmt: skip
    page = people.viewer.get(f"/configs/{made.pk}/").content.decode()
    assert f"/settings/rulebook/?config={made.pk}#weight_decay.any" in page


def test_any_config_is_named_by_its_number_or_the_beginning_of_its_digest(
    people: People, config: Config, documents: Callable[..., dict[str, Any]]
) -> None:
    other = configs.create_config(
        user=people.operator_user, project=people.project, document=documents(train__seed=5)
    )
    for named in (str(config.pk), config.short_hash, config.hash):
        page = people.viewer.get(f"/configs/{other.pk}/diff/?with={named}").content.decode()
        assert "One variable changed" in page
    page = people.viewer.get(f"/configs/{other.pk}/diff/?with=zzz").content.decode()
    assert "No config of the project" in page


def test_the_difference_shows_names_as_they_are_written(people: People) -> None:
    old, new = (
        make_config(project=people.project, document={"schema_version": 1, "name": name})
        for name in ("old", "长名字")
    )
    page = people.viewer.get(f"/configs/{new.pk}/diff/?with={old.pk}").content.decode()
    assert "&quot;长名字&quot;" in page


def test_a_config_for_a_card_begins_with_its_network(people: People) -> None:
    card = make_card(people.operator_user, people.project)
    page = people.operator.get(f"/configs/new/?card={card.pk}").content.decode()
    assert "layers = 8" in page
    assert "vocabulary = 1000" in page


def test_the_next_config_of_a_card_begins_with_its_newest(
    people: People, config: Config, documents: Callable[..., dict[str, Any]]
) -> None:
    card = make_card(people.operator_user, people.project)
    document = documents() | {"name": "own"}
    configs.create_config(
        user=people.operator_user, project=people.project, document=document, card=card
    )
    configs.create_config(
        user=people.operator_user, project=people.project, document=documents() | {"name": "other"}
    )
    page = people.operator.get(f"/configs/new/?card={card.pk}").content.decode()
    assert "name = &quot;own&quot;" in page


def test_a_document_that_is_kept_twice_is_told_of(
    people: People, config: Config, documents: Callable[..., dict[str, Any]]
) -> None:
    for seed, is_told in ((config.document["train"]["seed"], True), (77, False)):
        typed_toml = {"side": "toml", "toml": to_toml(documents(train__seed=seed))}
        page = people.operator.post("/configs/new/", typed_toml, follow=True).content.decode()
        assert "was kept." in page
        assert (f"The same document as config #{config.pk}." in page) == is_told
