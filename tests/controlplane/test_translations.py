"""Every text that a person reads can be read in Simplified Chinese."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.utils import translation

TEMPLATES = sorted(Path(settings.BASE_DIR, "templates").rglob("*.html"))
TRANSLATED = re.compile(r"{%-?\s*blocktrans(?:late)?\b.*?{%-?\s*endblocktrans(?:late)?\s*%}", re.S)
COMMENT = re.compile(r"{#.*?#}|{%\s*comment\b.*?{%\s*endcomment\s*%}", re.S)
DJANGO = re.compile(r"{%.*?%}|{{.*?}}", re.S)
WORD = re.compile(r"[A-Za-z]{2,}")
# Names, units and formats; they are the same in every language.
SAME_EVERYWHERE = {
    "Ctrl", "Enter", "Safehold", "TOML", "YAML", "JSON", "CSV", "Parquet", "TensorBoard", "Markdown", "API", "OpenAPI", "kubeconfig",
    "Kubernetes", "FLOP", "FLOPs", "ln", "ETTR", "GiB", "GB", "GB/s", "MFU", "TFLOP/s", "s", "ms", "id", "URL", "OpenID", "Connect",
}  # fmt: skip
# What can be typed, word for word, as an example in an empty field.
EXAMPLES = {
    "web = 0.7",
    "even: web = 0.5, code = 0.5",
    "eval/loss validation <= 2.5",
    "-----BEGIN CERTIFICATE-----",
}


class Texts(HTMLParser):
    """Collects what a person would read."""

    SHOWN_ATTRIBUTES = ("title", "aria-label", "placeholder", "alt", "data-confirm")
    CODE = ("script", "style", "code", "pre", "kbd", "samp")

    def __init__(self) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self.CODE:
            self.inside.append(tag)
        self.found += [value for name, value in attrs if name in self.SHOWN_ATTRIBUTES and value]

    def handle_endtag(self, tag: str) -> None:
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.found.append(data)


def untranslated(source: str) -> Iterator[str]:
    reader = Texts()
    # What stands around a tag is not one text: the branches of a condition above all.
    reader.feed(DJANGO.sub("\n", TRANSLATED.sub("\n", COMMENT.sub("\n", source))))
    for text in (line.strip() for found in reader.found for line in found.splitlines()):
        if text not in EXAMPLES and any(word not in SAME_EVERYWHERE for word in WORD.findall(text)):
            yield text


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_has_no_text_outside_the_catalogue(path: Path):
    assert list(untranslated(path.read_text())) == []


def test_the_reader_finds_a_forgotten_text():
    assert list(untranslated('<p title="Old">{% translate "New" %} forgotten</p>')) == [
        "Old",
        "forgotten",
    ]


def test_every_text_has_a_translation_and_the_compiled_catalogue_is_that_of_the_source():
    call_command("catalogue", check=True)


def test_a_page_speaks_the_language_that_the_browser_asks_for(db):
    # The client asks in this very thread, which would keep the language for the tests after this one.
    with translation.override("en"):
        page = Client().get("/sign-in", headers={"accept-language": "zh-CN,zh;q=0.9"})
    assert page.headers["Content-Language"] == "zh-hans"
    assert "登录" in page.text
