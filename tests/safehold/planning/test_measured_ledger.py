"""The ledger against what the reference trainer really allocates; `bench/memory_ledger.py` has all sizes."""

from pathlib import Path

import pytest

from bench import memory_ledger


@pytest.mark.parametrize("setting", ["fp32, accumulated", "bf16 autocast"])
def test_the_ledger_agrees_with_the_measured_peak(tmp_path: Path, setting: str) -> None:
    prepared = memory_ledger.corpus(tmp_path)
    found = memory_ledger.compare(prepared, "small", setting)
    assert found.measured_bytes > 70e6
    assert abs(found.error) < 0.05
