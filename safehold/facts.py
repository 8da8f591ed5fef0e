"""With what software and where a process runs, for the record of the attempt."""

from __future__ import annotations

import os
import platform
import socket
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from safehold.code_state import of_this_program
from safehold.environment import Environment


def about_this_process(environment: Environment) -> dict[str, Any]:
    """Return host, process, place among the ranks and versions. Imports no torch by itself."""
    return {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "rank": environment.rank,
        "world_size": environment.world_size,
        # One process asks: git reads the whole working tree.
        "code": of_this_program() if environment.rank == 0 else {},
        "resume_from": str(environment.resume_from) if environment.resume_from else None,
        "weights_from": str(environment.weights_from) if environment.weights_from else None,
        "versions": {
            "python": platform.python_version(),
            "safehold": _version("safehold"),
            "numpy": _version("numpy"),
            "torch": _version("torch"),
        }
        | _of_devices(),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _of_devices() -> dict[str, Any]:
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return {}
    return {
        "cuda": torch.version.cuda,
        "nccl": ".".join(map(str, torch.cuda.nccl.version())),
        "device": torch.cuda.get_device_name(),
    }
