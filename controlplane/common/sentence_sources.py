"""The sentences that code makes in English, as the catalogue wants them, with numbered values: `{1}`, `{2}`.

They are read from the source of the modules below: every text and f-string of more than one word, but docstrings, what
goes to a log or to gettext, and names. So a new finding, fault or event is in the catalogue by being written.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

MODULES = (
    "safehold/checkpointing/*.py",
    "safehold/checkpointing/formats/*.py",
    "safehold/checkpointing/verification/**/*.py",
    "safehold/config/base.py",
    "safehold/config/following.py",
    "safehold/config/kubernetes.py",
    "safehold/config/reading.py",
    "safehold/config/rules.py",
    "safehold/config/schema.py",
    "safehold/config/set_apart.py",
    "safehold/config/validation.py",
    "safehold/config/yaml12.py",
    "safehold/data/*.py",
    "safehold/guards/*.py",
    "safehold/journal/writer.py",
    "safehold/manifest/*.py",
    "safehold/obedience.py",
    "safehold/planning/advice.py",
    "safehold/planning/card_rules.py",
    "safehold/planning/starting_point.py",
    "safehold/preflight/**/*.py",
    "safehold/recorder.py",
    "safehold/reference/loader.py",
    "safehold/rulebook/book.py",
    "safehold/rulebook/judging.py",
    "safehold/run.py",
    "safehold/wrapper/ending.py",
    "safehold/wrapper/meeting.py",
    "safehold/wrapper/rank.py",
    "controlplane/common/audit.py",
    "controlplane/common/seal.py",
    "runs/services/attempts.py",
    "runs/services/changes.py",
    "runs/services/checking.py",
    "runs/services/commands.py",
    "runs/services/contact.py",
    "runs/services/dry_runs.py",
    "runs/services/launch_gate.py",
    "runs/services/new_runs.py",
    "runs/services/preflight.py",
    "runs/services/rendezvous.py",
    "runs/services/reports.py",
    "runs/services/run_shelf.py",
    "runs/services/runs.py",
    "runs/starts.py",
    "runs/states.py",
    "checkpoints/stability.py",
    "checkpoints/services/*.py",
    "workers/*.py",
    "workers/kube/**/*.py",
    "workers/launchers/*.py",
)
# What stands within these is for a log, for gettext already, a pattern, or described elsewhere.
_CALLS = {
    "_", "gettext", "gettext_lazy", "ngettext", "pgettext", "describe", "compile", "sub", "execute", "debug",
    "exception", "warning", "getLogger", "Field", "TypeVar",
}  # fmt: skip
_LOGGERS = {"logger", "log"}
_PROSE = re.compile(r"[A-Za-z]{2}.* |.* .*[A-Za-z]{2}")
_FRAGMENTS = {
    "{1} of {2}",
    "the {1}",
    "of {1}",
}  # of too many sentences to say anything by themselves


def sentences() -> Iterator[str]:
    """Yield every sentence of the modules, with numbered values."""
    root = Path(settings.BASE_DIR)
    for pattern in MODULES:
        for path in sorted(root.glob(pattern)):
            yield from sentences_of(path.read_text())


def sentences_of(source: str) -> Iterator[str]:
    """Yield those of one module."""
    tree = ast.parse(source)
    skipped = set(_skipped(tree))
    for node in ast.walk(tree):
        if id(node) not in skipped and (text := _text(node)) and _is_prose(text):
            yield text
    yield from _summaries(tree)


def numbered(parts: list[str | None]) -> str:
    """Return a text whose values, None among the parts, are numbered; two side by side cannot be told apart: they are one."""
    text = "".join("\0" if part is None else part.replace("\0", "") for part in parts)
    text = re.sub("\0[\0 ]*\0|\0", "\0", text.strip(" ,"))
    count = iter(range(1, text.count("\0") + 1))
    return re.sub("\0", lambda _: f"{{{next(count)}}}", text)


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.strip(" ,")
    if isinstance(node, ast.JoinedStr):
        return numbered(
            [str(one.value) if isinstance(one, ast.Constant) else None for one in node.values]
        )
    return ""


def _is_prose(text: str) -> bool:
    return text not in _FRAGMENTS and not {"\n", "\\"} & set(text) and bool(_PROSE.search(text))


def _summaries(tree: ast.Module) -> Iterator[str]:
    """Yield what a check says that found nothing: the first line of its docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(map(_is_check, node.decorator_list)):
            yield (ast.get_docstring(node) or node.name).splitlines()[0]


def _is_check(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and _name(decorator.func) == "check"


def _skipped(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield from (id(one) for one in node.values if isinstance(one, ast.Constant))
        elif isinstance(node, ast.FormattedValue) and node.format_spec:
            yield from map(id, ast.walk(node.format_spec))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield id(node.value)
        elif isinstance(node, ast.Call) and _is_aside(node.func):
            yield from map(id, ast.walk(node))


def _is_aside(function: ast.expr) -> bool:
    owner = function.value if isinstance(function, ast.Attribute) else None
    return _name(function) in _CALLS or (owner is not None and _name(owner) in _LOGGERS)


def _name(node: ast.expr) -> str:
    return getattr(node, "attr", "") or getattr(node, "id", "")
