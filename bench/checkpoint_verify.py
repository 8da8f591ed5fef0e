"""How fast a checkpoint is verified, against a raw read of the same bytes.

    python -m bench.checkpoint_verify [--gib 1] [--rounds 5] [--cold]

Prints JSON: medians in GB/s and ratios of one and the same run. `--cold` drops the page cache of the
files before each round (posix_fadvise; no root needed).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import torch

from bench.checkpoint_save import make_training
from safehold.checkpointing.verification import verify


def raw_read(folder: Path) -> None:
    """Read every byte, as fast as one thread can."""
    buffer = bytearray(4 * 2**20)
    for path in folder.iterdir():
        with path.open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass


def peak_of_a_fresh_process(folder: Path) -> int:
    """Return the peak memory, in MiB, of a process that does nothing but verify."""
    code = (
        "import re, sys; from safehold.checkpointing.verification import verify;"
        "assert verify(sys.argv[1]).verdict != 'fail';"
        # Not ru_maxrss: a child inherits the peak of its parent.
        "print(int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]) >> 10)"
    )
    return int(subprocess.check_output([sys.executable, "-c", code, str(folder)]))


def drop_cache(folder: Path) -> None:
    """Have the kernel forget what it holds of the files."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def seconds_of(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--gib", type=float, default=1.0)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--cold", action="store_true")
    options = arguments.parse_args()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as root:
        checkpointer, places = make_training(Path(root), options.gib)
        checkpointer.save(1)
        del checkpointer
        folder = places.of_step(1)
        size = sum(path.stat().st_size for path in folder.iterdir())
        reads, verifications = [], []
        for _ in range(options.rounds):  # in turn, so that both meet the same machine
            for times, work in (
                (reads, lambda: raw_read(folder)),
                (verifications, lambda: verify(folder)),
            ):
                if options.cold:
                    drop_cache(folder)
                times.append(seconds_of(work))
        peak_mib = peak_of_a_fresh_process(folder)
    read, verified = size / median(reads) / 1e9, size / median(verifications) / 1e9
    print(
        json.dumps(
            {
                "bytes": size,
                "cold": options.cold,
                "raw_read_gb_per_second": round(read, 2),
                "verify_gb_per_second": round(verified, 2),
                "verify_over_raw_read": round(verified / read, 3),
                "peak_mib": peak_mib,
            }
        )
    )


if __name__ == "__main__":
    main()
