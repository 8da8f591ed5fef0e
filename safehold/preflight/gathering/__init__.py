"""Gathering the facts that the checks judge: all I/O of preflight is here."""

import os
from collections.abc import Collection, Mapping
from typing import Any

from safehold.config import ConfigInvalid, RunConfig, parse
from safehold.preflight.base import Facts, chosen
from safehold.preflight.facts import DataFacts, TokenizerFacts
from safehold.preflight.gathering.checkpoint_root import probe_root
from safehold.preflight.gathering.data import Progress, scan
from safehold.preflight.gathering.tokenizer import read_tokenizer, tokenizer_digest

__all__ = ["facts_of", "gather", "probe_root", "read_tokenizer", "scan", "tokenizer_digest"]


def facts_of(
    document: Mapping[str, Any],
    only: Collection[str] | None = None,
    progress: Progress | None = None,
) -> Facts:
    """Gather the facts for a plain document, which may be no config at all."""
    try:
        config = parse(document)
    except ConfigInvalid as invalid:
        return Facts(config_errors=tuple(invalid.errors))
    return gather(config, only, progress)


def gather(
    config: RunConfig, only: Collection[str] | None = None, progress: Progress | None = None
) -> Facts:
    """Gather what the chosen checks look at.

    Args:
        config: Names the places to look at.
        only: Groups or codes, as in `run_checks`.
        progress: Called with (bytes done, bytes in all) while data are read.

    Raises:
        ValueError: A name in `only` is unknown.
    """
    groups = {one.group for one in chosen(only)}
    wants_data, validation = "data" in groups, config.data.validation_path
    wants_tokenizer = "tokenizer" in groups and _is_here(config, config.tokenizer.path)
    wants_root = "checkpoint" in groups and _is_here(config, config.checkpoint.root)
    return Facts(
        config=config,
        data=_data(config, config.data.path, progress) if wants_data else None,
        validation=_data(config, validation, progress) if wants_data and validation else None,
        tokenizer=_tokenizer(config) if wants_tokenizer else None,
        checkpoint=probe_root(config.checkpoint.root) if wants_root else None,
    )


def _data(config: RunConfig, path: str, progress: Progress | None) -> DataFacts | None:
    return scan(path, progress) if _is_here(config, path) else None


def _is_here(config: RunConfig, path: str) -> bool:
    """Whether a path is to be looked at here: pods see volumes that this machine may not have."""
    return config.compute.launcher == "local" or os.path.lexists(path)


def _tokenizer(config: RunConfig) -> TokenizerFacts:
    algorithm = config.tokenizer.digest.partition(":")[0] or "blake3"
    return read_tokenizer(
        config.tokenizer.path,
        algorithm=algorithm,
        rows=config.network.vocabulary,
        data_path=config.data.path,
    )
