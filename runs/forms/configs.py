"""A run config as it was typed: in the form or as TOML, the same document either way."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from controlplane.common.errors import Invalid
from runs.forms import document
from safehold import config
from safehold.config import ConfigError, ConfigInvalid, FieldSpec, RunConfig
from safehold.findings import Finding

SPECS: tuple[FieldSpec, ...] = config.all_fields()
Judge = Callable[[RunConfig], Sequence[Finding]]


class TypedConfig:
    """What was typed: both sides, brought into step, with every fault by its field.

    Attributes:
        document: The plain values, as far as they could be read.
        toml: The other side of the same document; the typed text itself where that came as TOML.
        faults: What keeps it from being a config.
        findings: What the rules say of it, where `judge` was given and it is one; passed ones are left out.
    """

    def __init__(self, typed: Mapping[str, str], judge: Judge | None = None) -> None:
        self.is_toml = typed.get("side") == "toml"
        self.faults: list[ConfigError] = []
        self.findings: Sequence[Finding] = ()
        self.document: dict[str, Any] = {}
        self.toml = typed.get("toml", "")
        self._lines: dict[str, int] = {}
        self._typed = {} if self.is_toml else typed
        if self.is_toml:
            self._read_toml()
        else:
            self.document = document.document_of(SPECS, typed)
        if not self.faults:
            self._validate()
        if not self.is_toml:
            self.toml = config.to_toml(self.document)
        if judge is not None and self.is_valid:
            self.findings = judge(config.parse(self.document))

    @classmethod
    def of_document(cls, stored: Mapping[str, Any], judge: Judge | None = None) -> "TypedConfig":
        """Return a stored or starting document as if it had been typed."""
        return cls({"side": "toml", "toml": config.to_toml(stored)}, judge)

    @classmethod
    def of_file(cls, name: str, content: bytes, judge: Judge | None = None) -> "TypedConfig":
        """Return what a file holds as if it had been typed; its suffix names the format."""
        try:
            read, _lines = config.read_document(content, config.format_of(name))
        except ConfigInvalid as invalid:
            empty = cls({"side": "toml", "toml": _plain(content)})
            empty.document, empty.faults = {}, list(invalid.errors)
            return empty
        return cls.of_document(read, judge)

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

    def _read_toml(self) -> None:
        try:
            self.document, self._lines = config.read_document(self.toml)
        except ConfigInvalid as invalid:
            self.faults = list(invalid.errors)

    def _validate(self) -> None:
        try:
            config.parse(self.document, self._lines)
        except ConfigInvalid as invalid:
            self.faults = list(invalid.errors)


def _note(finding: Finding) -> document.Note:
    span, counts = str(finding.evidence.get("span", "")), finding.evidence.get("recomputed")
    short = _("usual: %(span)s") % {"span": span} if span else finding.message
    if counts:
        told = ", ".join(f"{path.partition('.')[2]} {count:,}" for path, count in counts.items())
        short = _("as many tokens: %(counts)s") % {"counts": told}
    message = " ".join(filter(None, [finding.message, finding.advice]))
    values = {path: str(count) for path, count in (counts or {}).items()}
    place = str(finding.evidence.get("field", ""))
    return document.Note(place, finding.severity, short, message, values)


def _plain(content: bytes) -> str:
    return content[:65536].decode("utf-8", errors="replace").replace("\0", "�")
