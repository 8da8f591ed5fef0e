"""YAML as its version 1.2 reads it: `3e-4` is a number, `no` a word, `012` twelve.

PyYAML follows version 1.1 and takes the last of two equal keys; both would change what the author wrote without a word.
"""

import re
from collections.abc import Hashable
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

CORE_SCHEMA = (  # YAML 1.2.2, section 10.3.2
    ("null", r"^(?:null|Null|NULL|~|)$", ["n", "N", "~", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", list("-+0123456789")),
    (
        "float",
        r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
        list("-+0123456789."),
    ),
)


class CoreLoader(yaml.SafeLoader):
    """Safe loader with the core schema of YAML 1.2; refuses equal keys and aliases."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        """Refuse an alias: a few of them can unfold to gigabytes, and none is needed here."""
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(
                None, None, "aliases are not read; write the value out", mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Refuse a key that stands twice or is no text."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key is not plain text", key.start_mark
                )
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} stands twice", key.start_mark
                )
            seen.add(key.value)
        return {key.value: self.construct_object(value, deep=True) for key, value in node.value}


def _int(loader: CoreLoader, node: ScalarNode) -> int:
    text = str(loader.construct_scalar(node))
    if text.startswith(("0o", "0x")):
        return int(text, 0)
    return int(text, 10)


def _float(loader: CoreLoader, node: ScalarNode) -> float:
    return float(
        str(loader.construct_scalar(node)).lower().replace(".inf", "inf").replace(".nan", "nan")
    )


for _tag, _pattern, _first in CORE_SCHEMA:
    CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _first)
CoreLoader.add_constructor("tag:yaml.org,2002:int", _int)
CoreLoader.add_constructor("tag:yaml.org,2002:float", _float)


def load(text: str) -> tuple[Any, dict[str, int]]:
    """Return the value of a text with one document, and the line of every dotted path.

    Raises:
        yaml.YAMLError: The text is not such a document.
    """
    loader = CoreLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None, {}
        return loader.construct_document(node), dict(_lines(node, ""))
    finally:
        loader.dispose()


def _lines(node: Node, path: str) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    if isinstance(node, MappingNode):
        for key, value in node.value:
            name = f"{path}.{key.value}" if path else str(key.value)
            found += [(name, key.start_mark.line + 1), *_lines(value, name)]
    elif isinstance(node, SequenceNode):
        for number, item in enumerate(node.value):
            name = f"{path}.{number}"
            found += [(name, item.start_mark.line + 1), *_lines(item, name)]
    return found
