"""From the config's `[data]` to batches: packed sequences in the sampler's order."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from safehold.data import tokenizer, version
from safehold.data.packed import Packed
from safehold.data.sampler import Sampler
from safehold.reference.corpus import pack_file, read_prepared, shard_name


class DataMismatch(ValueError):
    """Data or tokenizer that are not those of the config; nothing was trained."""


@dataclass(frozen=True, slots=True)
class Batch:
    """This rank's part of one update.

    Attributes:
        ids: Of the whole global batch, the same on every rank.
        micro: int64, each of shape `(sequences, length + 1)`, on the device.
        num_tokens: Trained on in this update by all ranks.
    """

    ids: list[int]
    micro: tuple[Tensor, ...]
    num_tokens: int


class Loader:
    """Batches from the sampler's position on, without end.

    Args:
        data: What is trained on.
        sampler: Says what comes next, for this rank.
        device: Where the tokens go.
        pace_seconds: Between two batches at least; 0: as fast as they are taken.
    """

    def __init__(
        self, data: Packed, sampler: Sampler, device: torch.device, pace_seconds: float = 0.0
    ) -> None:
        self._data, self._sampler, self._device = data, sampler, device
        self._pace_seconds = pace_seconds

    def __iter__(self) -> Iterator[Batch]:
        due = 0.0
        for share in self._sampler:
            micro = tuple(
                torch.from_numpy(self._data.sequences(numbers)).to(self._device)
                for numbers in share.mine
            )
            time.sleep(max(0.0, due - time.monotonic()))
            due = time.monotonic() + self._pace_seconds
            yield Batch(share.ids.tolist(), micro, len(share.ids) * self._data.length)


def open_training_data(config: Mapping[str, Any], cache: Path) -> Packed:
    """Open the training data; plain JSONL is packed first.

    Args:
        config: The canonical config.
        cache: Of this machine, for what is packed; the processes of a machine call one by one.

    Raises:
        DataMismatch: data or tokenizer are not those that the config locks.
    """
    _check_tokenizer(config)
    return _open(config, Path(config["data"]["path"]), "train", cache)


def open_validation_data(config: Mapping[str, Any], cache: Path) -> Packed | None:
    """Open the validation data, None where the config has none."""
    named = config["data"].get("validation_path")
    if named:
        return _open(config, Path(named), "validation", cache)
    folder = Path(config["data"]["path"]) / "packed" / "validation"
    if not any(folder.glob("*.json")):
        return None
    data = Packed(folder, _length(config))
    return data if len(data) else None


def _open(config: Mapping[str, Any], path: Path, split: str, cache: Path) -> Packed:
    locked = str(config["data"].get("version") or "") if split == "train" else ""
    folder = path / "packed" / split
    if folder.is_dir():
        _check_version(path, locked, read_prepared(path).data_version)
    else:
        files = _jsonl_files(path)
        root = path if path.is_dir() else path.parent
        if locked:
            found = version.data_version(version.data_file(file, root) for file in files)
            _check_version(path, locked, found)
        folder = _pack(config, files, cache / split)
    return Packed(folder, _length(config))


def _pack(config: Mapping[str, Any], files: list[Path], folder: Path) -> Path:
    if not folder.is_dir():
        building = folder.with_name(f".tmp-{folder.name}")
        building.mkdir(parents=True, exist_ok=True)
        trained = tokenizer.load(Path(config["tokenizer"]["path"]))
        for name, path in zip(_shard_names(files), files, strict=True):
            pack_file(path, building, trained, domain="all", name=name)
        building.rename(folder)
    return folder


def _shard_names(files: list[Path]) -> list[str]:
    """Return a name for each file; numbered where two would have the same: `a.0.jsonl`, `web/a.jsonl`."""
    names = [shard_name(path) for path in files]
    if len(set(names)) == len(names):
        return names
    return [f"{number:05d}-{name}" for number, name in enumerate(names)]


def _jsonl_files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    found = [
        file for file in sorted(path.rglob("*")) if file.name.endswith((".jsonl", ".jsonl.gz"))
    ]
    if not found:
        raise DataMismatch(f"{path} holds neither prepared data nor JSONL files. Set data.path.")
    return found


def _check_version(path: Path, locked: str, found: str) -> None:
    if locked and locked != found:
        raise DataMismatch(
            f"The data in {path} have version {found}, the config locks {locked}. "
            "Restore the data, or make a new config for these."
        )


def _check_tokenizer(config: Mapping[str, Any]) -> None:
    path, locked = Path(config["tokenizer"]["path"]), config["tokenizer"].get("digest") or ""
    found = tokenizer.digest(path)
    if locked and found != locked:
        raise DataMismatch(
            f"The tokenizer {path} has digest {found}, the config locks {locked}. "
            "Restore the files, or make a new config for this one."
        )


def _length(config: Mapping[str, Any]) -> int:
    return int(config["network"]["sequence_length"])
