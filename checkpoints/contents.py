"""What a checkpoint holds, read from its registered manifest alone: no file is opened."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from safehold import manifest as manifests
from safehold.manifest import FileEntry, Manifest, TensorEntry

TENSORS_PER_PAGE = 100


@dataclass(frozen=True)
class Part:
    """One component of the state."""

    name: str
    files: tuple[FileEntry, ...]
    num_tensors: int
    num_elements: int
    dtypes: str

    @property
    def size_bytes(self) -> int:
        """Bytes of its files."""
        return sum(entry.size for entry in self.files)


@dataclass(frozen=True)
class Tensor:
    """One line of the table of tensors."""

    name: str
    shape: str
    dtype: str
    num_elements: int


@dataclass(frozen=True)
class TensorPage:
    """Some of the tensors of a part; `next_start` is None at the end."""

    tensors: tuple[Tensor, ...]
    num_found: int
    next_start: int | None


def read(document: dict[str, Any]) -> Manifest | None:
    """Return the manifest, or None where a save was only begun."""
    try:
        return manifests.parse(document)
    except manifests.ManifestError:
        return None


def parts_of(manifest: Manifest) -> list[Part]:
    """Return the components, the network first; the database keeps no order of a map."""
    order = {name: place for place, name in enumerate(manifests.COMPONENTS)}
    files = {entry.path: entry for entry in manifest.files}
    return [
        Part(
            name=name,
            files=tuple(files[path] for path in component.files),
            num_tensors=len(component.tensors),
            num_elements=sum(math.prod(tensor.shape) for tensor in component.tensors),
            dtypes=_dtypes(component.tensors),
        )
        for name, component in sorted(
            manifest.components.items(), key=lambda item: order.get(item[0], len(order))
        )
    ]


def tensors_of(manifest: Manifest, part: str, *, text: str = "", start: int = 0) -> TensorPage:
    """Return one page of the tensors of a part whose name holds the text."""
    component = manifest.components.get(part)
    tensors = component.tensors if component else ()
    found = [tensor for tensor in tensors if text.lower() in tensor.name.lower()]
    start = max(0, start)
    end = start + TENSORS_PER_PAGE
    shown = tuple(
        Tensor(
            tensor.name,
            " × ".join(map(str, tensor.shape)) or "scalar",
            tensor.dtype,
            math.prod(tensor.shape),
        )
        for tensor in found[start:end]
    )
    return TensorPage(shown, len(found), end if end < len(found) else None)


def _dtypes(tensors: Iterable[TensorEntry]) -> str:
    return ", ".join(name for name, _ in Counter(item.dtype for item in tensors).most_common())
