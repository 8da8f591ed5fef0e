"""A run config as it was typed: in the form or as TOML, the same document either way."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from controlplane.common.errors import Invalid
from controlplane.common.sentences import sentence
from runs.forms import document
from safehold import config
from safehold.config import ConfigError, ConfigInvalid, FieldSpec, RunConfig
from safehold.findings import Finding

SPECS: tuple[FieldSpec, ...] = config.all_fields()
_YAML_COMMENT = re.compile(r"(^|\s)#", re.M)
Judge = Callable[[RunConfig], Sequence[Finding]]


class TypedConfig:
    """What was typed: both sides, brought into step, with every fault by its field.

    What was written as TOML leads: a change in the form is carried into it, where comments and order stay. While it
    cannot be read nothing of the form is written over it.

    Attributes:
        document: The plain values, as far as they could be read.
        toml: The other side of the same document; the typed text itself where that came as TOML.
        base: The last text of a person that could be read: changes in the form are carried into it. Empty: `toml` itself.
        faults: What keeps it from being a config.
        findings: What the rules say of it, where `judge` was given and it is one; passed ones are left out.
        has_left_comments: It was read from a file whose comments are not in `toml`.
    """

    has_left_comments = False

    def __init__(self, typed: Mapping[str, str], judge: Judge | None = None) -> None:
        self.is_toml = typed.get("side") == "toml"
        self.faults: list[ConfigError] = []
        self.findings: Sequence[Finding] = ()
        self.document: dict[str, Any] = {}
        self.toml = _unix(typed.get("toml", ""))
        self.base = _unix(typed.get("base", ""))
        self._lines: dict[str, int] = {}
        self._typed = {} if self.is_toml else typed
        self.is_readable = self._read_toml() if self.is_toml else self._read_form(typed)
        if not self.faults:
            self._validate()
        if self.is_toml and self.is_readable:
            self.base = self.toml
        if not self.is_readable:  # the form goes on showing what it showed
            self.document = document.document_of(SPECS, typed)
        if judge is not None and self.is_valid:
            self.findings = judge(config.parse(self.document))

    @classmethod
    def of_document(cls, stored: Mapping[str, Any], judge: Judge | None = None) -> "TypedConfig":
        """Return a stored or starting document as if it had been typed."""
        return cls.of_text(config.to_toml(stored), judge)

    @classmethod
    def of_text(cls, toml: str, judge: Judge | None = None) -> "TypedConfig":
        """Return TOML as if it had been typed."""
        return cls({"side": "toml", "toml": toml}, judge)

    @classmethod
    def of_file(cls, name: str, content: bytes, judge: Judge | None = None) -> "TypedConfig":
        """Return what a file holds as if it had been typed; its suffix names the format, and TOML stays as it is."""
        try:
            format = config.format_of(name)
            read, _lines = config.read_document(content, format)
        except ConfigInvalid as invalid:
            empty = cls.of_text(_plain(content))
            empty.document, empty.faults, empty.is_readable = {}, list(invalid.errors), False
            return empty
        if format == "toml":
            return cls.of_text(content.decode("utf-8-sig"), judge)
        found = cls.of_document(read, judge)
        found.has_left_comments = format == "yaml" and bool(_YAML_COMMENT.search(_plain(content)))
        return found

    @classmethod
    def of_form(cls, typed: Mapping[str, str], judge: Judge | None = None) -> "TypedConfig":
        """Return what the form holds, whatever stands on the other side, with what was last read from there."""
        return cls({**typed, "side": "form", "toml": typed.get("base", ""), "base": ""}, judge)

    @property
    def is_valid(self) -> bool:
        """Whether it is a run config."""
        return not self.faults

    @property
    def worst(self) -> str:
        """The severity of the gravest thing that rules say."""
        said = {one.severity for one in self.findings}
        return next((one for one in ("fail", "unknown", "warn", "info") if one in said), "pass")

    def refuse(self, error: Invalid) -> None:
        """Put what a service refused beside its fields."""
        for path, texts in error.fields.items():
            self.faults += [ConfigError(path, text) for text in texts]
        if not error.fields:
            self.faults.append(ConfigError("", error.message, error.hint))

    def sections(self) -> list[document.BoundSection]:
        """Return the form side."""
        return document.sections(SPECS, self.document, self.faults, self.notes(), self._typed)

    def notes(self) -> list[document.Note]:
        """Return what stands beside the fields."""
        return [_note(one) for one in self.findings]

    def loose_faults(self) -> list[document.Fault]:
        """Return what belongs to no field."""
        return document.loose_faults(SPECS, self.faults)

    def _read_toml(self) -> bool:
        try:
            self.document, self._lines = config.read_document(self.toml)
        except ConfigInvalid as invalid:
            self.faults = list(invalid.errors)
        return bool(self.document)

    def _read_form(self, typed: Mapping[str, str]) -> bool:
        """Carry what was changed in the form into the text; into one that cannot be read nothing is carried."""
        in_form = document.document_of(SPECS, typed)
        if not self.toml.strip():
            self.toml = config.to_toml(in_form)
        elif self._read_toml():
            self._carry_over(typed)
        else:
            return False
        return self._read_toml()

    def _carry_over(self, typed: Mapping[str, str]) -> None:
        base = self.base or self.toml
        try:
            before, _lines = config.read_document(base)
        except ConfigInvalid:
            base, before = self.toml, self.document
        self.base = base
        self.toml = config.edited(base, document.changes_of(SPECS, typed, before))

    def _validate(self) -> None:
        try:
            config.parse(self.document, self._lines)
        except ConfigInvalid as invalid:
            self.faults = list(invalid.errors)


def _note(finding: Finding) -> document.Note:
    span, counts = str(finding.evidence.get("span", "")), finding.evidence.get("recomputed")
    short = _("usual: %(span)s") % {"span": sentence(span)} if span else sentence(finding.message)
    if counts:
        told = ", ".join(f"{path.partition('.')[2]} {count:,}" for path, count in counts.items())
        short = _("as many tokens: %(counts)s") % {"counts": told}
    message = " ".join(map(sentence, filter(None, [finding.message, finding.advice])))
    values = {path: str(count) for path, count in (counts or {}).items()}
    place = str(finding.evidence.get("field", ""))
    return document.Note(place, finding.severity, short, message, values)


def _unix(text: str) -> str:
    """Return a text with the line ends of ours: browsers send those of Windows."""
    return text.replace("\r\n", "\n")


def _plain(content: bytes) -> str:
    return content[:65536].decode("utf-8", errors="replace").replace("\0", "�")
