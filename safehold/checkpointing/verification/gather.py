"""Collect the facts of a checkpoint: a folder of ours, a single file, a DCP folder, an archive."""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePosixPath

from safehold.checkpointing.formats import dcp, safetensors, torch_zip
from safehold.checkpointing.formats.base import Contents, FormatError, UnsafeError, View
from safehold.checkpointing.verification.facts import Facts, FileFacts
from safehold.checkpointing.verification.listing import (
    MOST_OF_CHECKPOINT,
    MOST_OF_OTHER,
    list_below,
)
from safehold.checkpointing.verification.reading import digest_and_scan
from safehold.manifest import (
    FILE_NAME,
    ManifestError,
    PathError,
    check_relative,
    open_inside,
    read,
)

Progress = Callable[[int, int], None]

_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".zip")
_LARGEST_JSON_BYTES = 64 * 2**20
_SUFFIXES = {".safetensors", ".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle", ".json"}
# Of a folder without a manifest, and of an archive, which is refused in any case.
_MOST_HEADS = 200
_MOST_MEMBERS = 10_000
_MOST_PACKED_BYTES = 2**30


def gather(path: Path, progress: Progress | None = None) -> Facts:
    """Read a checkpoint once and return its facts.

    Raises:
        OSError: there is nothing at the path, or the disk refused.
    """
    if not path.is_dir():
        return _archive(path) if path.name.endswith(_ARCHIVES) else _single(path, progress)
    if (path / dcp.METADATA).is_file() and not (path / FILE_NAME).exists():
        return _dcp(path, progress)
    return _folder(path, progress)


def read_file(
    folder: Path,
    path: str,
    *,
    algorithm: str = "blake3",
    advance: Callable[[int], None] = lambda _: None,
    stretches: tuple[dcp.Shard, ...] = (),
) -> FileFacts:
    """Return the facts of one file below a folder: size, digest, contents and finite scan."""
    try:
        descriptor = open_inside(folder, path)
    except FileNotFoundError:
        return FileFacts(path, error="is missing")
    except PathError as error:
        return FileFacts(path, error=str(error), unsafe=True)
    try:
        facts = _contents(descriptor, path, stretches)
        spans = facts.contents.spans if facts.contents else ()
        digest, not_finite = digest_and_scan(
            descriptor, spans, algorithm=algorithm, advance=advance
        )
        return replace(facts, digest=digest, not_finite=not_finite)
    except OSError as error:
        return FileFacts(path, error=f"cannot be read: {error.strerror}")
    finally:
        os.close(descriptor)


def _folder(folder: Path, progress: Progress | None) -> Facts:
    try:
        manifest = read(folder)
    except ManifestError as error:
        return _without_manifest(folder, str(error))
    below = list_below(folder, MOST_OF_CHECKPOINT)
    listed = [entry.path for entry in manifest.files]
    files = _read_all(folder, tuple(listed), manifest.digest_algorithm, progress)
    known = {*listed, FILE_NAME}
    extra = tuple(sorted(name for name in below.files if name not in known))
    return Facts(
        str(folder), "folder", manifest, files=files, extra=extra, links=tuple(sorted(below.links)), below=below
    )  # fmt: skip


def _without_manifest(folder: Path, why: str) -> Facts:
    """Look at the heads of a few files, so that the reason is told in full; it is no checkpoint in any case.

    Where a manifest is there but damaged none is looked at: it may name anything.
    """
    below = list_below(folder, MOST_OF_OTHER)
    is_damaged = os.path.lexists(folder / FILE_NAME)
    known = sorted(name for name in below.files if PurePosixPath(name).suffix in _SUFFIXES)
    files = {} if is_damaged else {name: _head(folder, name) for name in known[:_MOST_HEADS]}
    links = tuple(sorted(below.links))
    return Facts(str(folder), "folder", None, why, files, links=links, below=below)


def _head(folder: Path, path: str) -> FileFacts:
    """Return the facts of one file without reading its data: size, form, whether loading it would run code."""
    try:
        descriptor = open_inside(folder, path)
    except FileNotFoundError:
        return FileFacts(path, error="is missing")
    except PathError as error:
        return FileFacts(path, error=str(error), unsafe=True)
    except OSError as error:
        return FileFacts(path, error=f"cannot be read: {error.strerror}")
    try:
        return _contents(descriptor, path, ())
    except OSError as error:
        return FileFacts(path, error=f"cannot be read: {error.strerror}")
    finally:
        os.close(descriptor)


def _single(path: Path, progress: Progress | None) -> Facts:
    files = _read_all(path.parent, (path.name,), "blake3", progress)
    links = (path.name,) if path.is_symlink() else ()
    return Facts(str(path), "file", files=files, links=links)


def _dcp(folder: Path, progress: Progress | None) -> Facts:
    below = list_below(folder, MOST_OF_CHECKPOINT)
    links = tuple(sorted(below.links))
    try:
        with os.fdopen(open_inside(folder, dcp.METADATA), "rb") as file:
            plan = dcp.read_metadata(file.read(_LARGEST_JSON_BYTES))
        stretches: dict[str, list[dcp.Shard]] = {}
        for shard in plan.shards:
            stretches.setdefault(check_relative(shard.path), []).append(shard)
    except (FormatError, PathError) as error:
        bad = FileFacts(dcp.METADATA, error=str(error), unsafe=isinstance(error, UnsafeError))
        return Facts(str(folder), "dcp", files={dcp.METADATA: bad}, links=links, below=below)
    files = {
        path: read_file(folder, path, stretches=tuple(parts))
        for path, parts in sorted(stretches.items())
    }
    return Facts(str(folder), "dcp", files=files, links=links, below=below, plan=plan)


def _archive(path: Path) -> Facts:
    """Look at the index of an archive; nothing is ever unpacked."""
    try:
        with tarfile.open(path) as archive:
            is_small = not path.name.endswith("z") or path.stat().st_size < _MOST_PACKED_BYTES
            members = islice(archive, _MOST_MEMBERS if is_small else 0)
            links = tuple(name for name in map(_stray_member, members) if name)
    except (tarfile.TarError, OSError, EOFError) as error:
        return Facts(str(path), "archive", manifest_error=f"{path.name} is unreadable: {error}")
    return Facts(str(path), "archive", manifest_error=f"{path.name} is an archive", links=links)


def _stray_member(member: tarfile.TarInfo) -> str:
    try:
        check_relative(member.name.rstrip("/"))
    except PathError:
        return member.name
    return "" if member.isfile() or member.isdir() else f"{member.name} -> {member.linkname}"


def _read_all(
    folder: Path, paths: tuple[str, ...], algorithm: str, progress: Progress | None
) -> dict[str, FileFacts]:
    total = sum(_size(folder / path) for path in paths)
    done = 0

    def advance(num_bytes: int) -> None:
        nonlocal done
        done += num_bytes
        if progress is not None:
            progress(done, total)

    return {path: read_file(folder, path, algorithm=algorithm, advance=advance) for path in paths}


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _contents(descriptor: int, path: str, stretches: tuple[dcp.Shard, ...]) -> FileFacts:
    view = View(descriptor)
    try:
        if stretches:
            contents: Contents | None = _stretches(descriptor, len(view), stretches)
        else:
            contents = _by_suffix(view, PurePosixPath(path).suffix)
    except FormatError as error:
        unsafe = isinstance(error, UnsafeError)
        return FileFacts(path, size=len(view), error=str(error), unsafe=unsafe)
    return FileFacts(path, size=len(view), contents=contents)


def _by_suffix(view: View, suffix: str) -> Contents | None:
    if suffix == ".safetensors":
        return safetensors.read(view)
    if suffix in {".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle"}:
        return torch_zip.read(view)
    if suffix == ".json":
        return Contents(document=_json(view))
    return None


def _json(view: View) -> object:
    if len(view) > _LARGEST_JSON_BYTES:
        raise FormatError(f"it is larger than {_LARGEST_JSON_BYTES >> 20} MiB")
    try:
        return json.loads(view[0 : len(view)])
    except (ValueError, RecursionError) as error:
        raise FormatError(f"it is not valid JSON ({error})") from error


def _stretches(descriptor: int, size: int, stretches: tuple[dcp.Shard, ...]) -> Contents:
    spans = []
    for i, shard in enumerate(stretches):
        end = shard.offset + shard.length
        if end > size:
            raise FormatError(f"the metadata places data up to byte {end}, the file has {size}")
        inner = torch_zip.read(View(descriptor, shard.offset, end))
        spans += [
            replace(
                span,
                name=f"{i}.{span.name}".rstrip("."),
                start=span.start + shard.offset,
                end=span.end + shard.offset,
            )
            for span in inner.spans
        ]
    return Contents(spans=tuple(spans))
