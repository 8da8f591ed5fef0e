"""Finds the English that a page in another language still has."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from django.test import Client
from django.utils import translation

MOST_WORDS = 2
_WORD = re.compile(r"[(“\"']*[A-Za-z]+(?:['’][a-z]+)?[,.;:!?)”\"']*")
# Names, units and words of the trade that Chinese engineers write in English too.
NAMES = {
    "Adam", "ADMIN", "API", "Autocast", "Betas", "CSV", "CUDA", "FLOPs", "GB", "GPU", "GPT", "IDs", "JSON", "JSONL",
    "Job", "Kubernetes", "Kueue", "LambdaLR", "Markdown", "MFU", "NaN", "NCCL", "Pod", "Safehold", "Secret", "Small", "TOML",
    "TrainJob", "URL", "YAML", "ZeRO", "arXiv", "bf16", "checkpointer", "digest", "ln", "rank", "shim", "token", "tokenizer",
    "torch", "tokens", "wrapper",
}  # fmt: skip


class _Texts(HTMLParser):
    """Collects what a person would read, without code."""

    SHOWN = (
        "title",
        "aria-label",
        "placeholder",
        "alt",
        "data-confirm",
        "data-confirm-text",
        "data-confirm-yes",
    )
    CODE = ("script", "style", "code", "pre", "kbd", "samp", "textarea")
    VOID = ("br", "hr", "img", "input", "link", "meta", "use", "rect", "polyline", "path")

    def __init__(self) -> None:
        super().__init__()
        self.inside: list[bool] = []
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if not any(self.inside):
            self.found += [values[name] for name in self.SHOWN if name in values]
        if tag not in self.VOID:
            self.inside.append(tag in self.CODE or "mono" in values.get("class", "").split())

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID and self.inside:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if not any(self.inside):
            self.found.append(data)


def english_in(text: str) -> Iterator[str]:
    """Yield every run of more than two English words."""
    run: list[str] = []
    for part in [*text.split(), ""]:
        is_word = _WORD.fullmatch(part) and part.strip("(),.;:!?\"'“”") not in NAMES
        if is_word:
            run.append(part)
            continue
        if len(run) > MOST_WORDS:
            yield " ".join(run)
        run = []


def english_on(html: str) -> list[str]:
    """Return what of a page is English."""
    reader = _Texts()
    reader.feed(html)
    return [found for text in reader.found for found in english_in(text)]


def chinese(client: Client, method: str, url: str, data: object = None) -> str:
    """Return the page that a Chinese browser gets."""
    # The client asks in this very thread, which would keep the language for the tests after this one.
    with translation.override("en"):
        ask = getattr(client, method)
        answer = ask(url, data, headers={"accept-language": "zh-CN,zh;q=0.9"}, follow=True)
    assert answer.status_code in {200, 422}, url
    text: str = answer.content.decode()
    return text
