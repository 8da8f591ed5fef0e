"""What is known about a checkpoint once each of its bytes was read once; checks judge only this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from safehold.checkpointing.formats.base import Contents
from safehold.checkpointing.formats.dcp import Plan
from safehold.checkpointing.verification.listing import Listing
from safehold.manifest import Expected, Manifest

Shape = Literal["folder", "file", "dcp", "archive"]


@dataclass(frozen=True, slots=True)
class NotFinite:
    """How many values of a tensor are no numbers."""

    tensor: str
    num_nan: int
    num_infinite: int


@dataclass(frozen=True, slots=True)
class FileFacts:
    """One file.

    Attributes:
        size: None where the file is missing.
        digest: By the manifest's algorithm; None where it could not be read.
        contents: None where the form is unknown or the file unreadable.
        error: Why it could not be read, as a clause; empty if it could.
        unsafe: It would run code if it were loaded.
    """

    path: str
    size: int | None = None
    digest: str | None = None
    contents: Contents | None = None
    error: str = ""
    unsafe: bool = False
    not_finite: tuple[NotFinite, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """The whole checkpoint.

    Attributes:
        shape: `file` is a single file, `dcp` a folder of PyTorch's distributed checkpoint.
        manifest: None where there is none or it cannot be read: then `manifest_error` says why.
        files: By path; those of the manifest, or those found where no manifest names them.
        extra: Files in the folder that no manifest names.
        links: Entries that are links or no regular files.
        below: All that lies in the folder; empty of a single file.
        expected: What a run that wants to load it says; None if nobody asked.
    """

    name: str
    shape: Shape
    manifest: Manifest | None = None
    manifest_error: str = ""
    files: Mapping[str, FileFacts] = field(default_factory=dict)
    extra: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    below: Listing = field(default_factory=Listing)
    plan: Plan | None = None
    expected: Expected | None = None
