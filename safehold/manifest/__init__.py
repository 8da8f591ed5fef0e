"""The manifest of a checkpoint: what it holds, where it came from, and whether it fits.

Standard library only: the pod writes it, the worker and the server read it.
"""

from safehold.manifest.compare import (
    Difference,
    compare,
    compare_architecture,
    compare_for_weights,
    describe,
)
from safehold.manifest.document import (
    COMPONENTS,
    FILE_NAME,
    FORMAT_VERSION,
    REQUIRED,
    Component,
    FileEntry,
    Manifest,
    ManifestError,
    TensorEntry,
)
from safehold.manifest.expected import Expected, expected_of
from safehold.manifest.files import parse, read, write
from safehold.manifest.paths import PathError, check_relative, open_inside

__all__ = [
    "COMPONENTS",
    "FILE_NAME",
    "FORMAT_VERSION",
    "REQUIRED",
    "Component",
    "Difference",
    "Expected",
    "FileEntry",
    "Manifest",
    "ManifestError",
    "PathError",
    "TensorEntry",
    "check_relative",
    "compare",
    "compare_architecture",
    "compare_for_weights",
    "describe",
    "expected_of",
    "open_inside",
    "parse",
    "read",
    "write",
]
