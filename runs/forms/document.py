"""A form drawn from the fields of a typed document: run config and experiment card alike.

The form only turns text into values and back; what is right is said by the document's own validation,
so a field typed in the browser and one written in TOML are refused with the same words.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from runs.forms.values import to_text, to_value
from safehold.config import ABSENT, FieldSpec, flatten


class Fault(Protocol):
    """What a validation says of one field."""

    @property
    def path(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def hint(self) -> str: ...


@dataclass(frozen=True)
class Note:
    """What a rule says of one field.

    Attributes:
        severity: warn, info or unknown; what blocks is a fault too.
        short: The usual values, as they stand beside the field.
        message: The whole sentence, with what to do.
        values: Path -> text of fields that would answer it, where they can be computed.
    """

    path: str
    severity: str
    short: str
    message: str
    values: Mapping[str, str] = field(default_factory=dict)

    @property
    def values_json(self) -> str:
        """The values as the page's script reads them."""
        return json.dumps(self.values)


@dataclass(frozen=True)
class BoundField:
    """One field with what is typed in it, what is wrong with that, and what rules say of it."""

    spec: FieldSpec
    text: str
    faults: tuple[Fault, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def told(self) -> list[tuple[str, Fault]]:
        """Each fault with the part of the field that it is about: a line by its number, a share by its name."""
        return [(_part(fault.path[len(self.spec.path) + 1 :]), fault) for fault in self.faults]

    @property
    def element_id(self) -> str:
        """An id for the page: dots would need escaping in selectors."""
        return "f-" + self.spec.path.replace(".", "-")

    @property
    def placeholder(self) -> str:
        """What counts while the field is empty."""
        if self.spec.form == "shares":
            return "web = 2e12" if self.spec.unit == "tokens" else "web = 0.7"
        default = None if self.spec.required else self.spec.default
        return to_text(self.spec, default)

    @property
    def is_on(self) -> bool:
        """Whether a flag is set."""
        return self.text == "true"


@dataclass(frozen=True)
class BoundSection:
    """The fields of one section, in the order of the schema.

    Attributes:
        applies: Whether the document has the section; one that belongs to another choice is not shown.
        only_with: Path and value of the field that decides it, as the page reads it; empty: always there.
    """

    name: str
    fields: list[BoundField] = field(default_factory=list)
    applies: bool = True
    only_with: str = ""


def sections(
    specs: Iterable[FieldSpec],
    document: Mapping[str, Any],
    faults: Sequence[Fault] = (),
    notes: Sequence[Note] = (),
    typed: Mapping[str, str] | None = None,
) -> list[BoundSection]:
    """Return the form of a document; a field at fault shows what was typed into it, where that is known."""
    values = flat(document)
    found: dict[str, BoundSection] = {}
    for spec in specs:
        section = found.setdefault(spec.section, _section(spec, values))
        own = tuple(fault for fault in faults if _is_about(fault.path, spec.path))
        said = tuple(note for note in notes if note.path == spec.path)
        text = (typed or {}).get(spec.path) if own else None
        section.fields.append(
            BoundField(spec, _shown(spec, values) if text is None else text, own, said)
        )
    return list(found.values())


def loose_faults(specs: Iterable[FieldSpec], faults: Iterable[Fault]) -> list[Fault]:
    """Return the faults that belong to no field: they stand above the form."""
    paths = [spec.path for spec in specs]
    return [fault for fault in faults if not any(_is_about(fault.path, path) for path in paths)]


def document_of(specs: Sequence[FieldSpec], typed: Mapping[str, str]) -> dict[str, Any]:
    """Return the document that was typed; an empty optional field is left out, so its default counts."""
    document: dict[str, Any] = {}
    for spec in specs:
        if (value := _typed_value(spec, typed)) is not ABSENT:
            _put(document, spec.path, value)
    return _with_what_applies(document, specs)


def changes_of(
    specs: Sequence[FieldSpec], typed: Mapping[str, str], before: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what was changed in a form that showed a document: dotted path -> value, or `ABSENT`.

    A field that still shows what it showed is left alone, also where the document has something there that no form
    can show.
    """
    values = flat(before)
    chosen = {spec.path: typed.get(spec.path) for spec in specs if spec.form == "choice"}
    changes: dict[str, Any] = {}
    for spec in specs:
        if not _applies(spec, chosen):
            if spec.section in before:
                changes[spec.section] = ABSENT
        elif _as_typed(spec, typed) != _lines_of(_shown(spec, values)):
            changes[spec.path] = _typed_value(spec, typed)
    return changes


def starting_document(specs: Sequence[FieldSpec]) -> dict[str, Any]:
    """Return what an empty form shows: defaults, and typical values where there is none."""
    document: dict[str, Any] = {}
    for spec in specs:
        if spec.example is not None:
            _put(document, spec.path, spec.example)
    return _with_what_applies(document, specs)


def flat(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by dotted path; a table that is itself a value (a mix) stays whole as well."""
    values = flatten(document)
    for name, value in document.items():
        if isinstance(value, Mapping):
            values |= {
                f"{name}.{key}": inner for key, inner in value.items() if isinstance(inner, Mapping)
            }
    return values


def _as_typed(spec: FieldSpec, typed: Mapping[str, str]) -> str:
    text = typed.get(spec.path, "")
    return ("true" if text == "true" else "false") if spec.form == "flag" else _lines_of(text)


def _typed_value(spec: FieldSpec, typed: Mapping[str, str]) -> Any:
    """Return the value of a field; an empty optional one has none, so its default counts."""
    text = _as_typed(spec, typed)
    if spec.form == "flag":
        return text == "true"
    return to_value(spec, text) if text or (spec.form == "text" and not spec.required) else ABSENT


def _lines_of(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


def _section(spec: FieldSpec, values: Mapping[str, Any]) -> BoundSection:
    only_with = "=".join(spec.only_with) if spec.only_with else ""
    return BoundSection(spec.section, applies=_applies(spec, values), only_with=only_with)


def _applies(spec: FieldSpec, values: Mapping[str, Any]) -> bool:
    return spec.only_with is None or values.get(spec.only_with[0]) == spec.only_with[1]


def _with_what_applies(document: dict[str, Any], specs: Iterable[FieldSpec]) -> dict[str, Any]:
    """Leave out the sections that belong to another choice: nobody sees what stands in them."""
    values = flatten(document)
    idle = {spec.section for spec in specs if not _applies(spec, values)}
    return {name: value for name, value in document.items() if name not in idle}


def _shown(spec: FieldSpec, values: Mapping[str, Any]) -> str:
    """Return what stands in the field; a box that is not ticked says no, so a flag shows its default.

    So does a choice, which would show its first word, and a section that may be absent: what is chosen later begins
    with its defaults.
    """
    default = spec.default if spec.form in {"flag", "choice"} or spec.only_with else None
    return to_text(spec, values.get(spec.path, default))


def _part(rest: str) -> str:
    number, _dot, name = rest.partition(".")
    return f"{int(number) + 1} {name}".strip() if number.isdecimal() else rest


def _is_about(fault_path: str, path: str) -> bool:
    return fault_path == path or fault_path.startswith(f"{path}.")


def _put(document: dict[str, Any], path: str, value: Any) -> None:
    *parents, name = path.split(".")
    for parent in parents:
        document = document.setdefault(parent, {})
    document[name] = value
