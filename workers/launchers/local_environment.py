"""The environment of a local attempt: what a training may need of ours, and nothing that is secret."""

import os
from collections.abc import Mapping
from pathlib import Path

from safehold.environment import ADDRESS_FILE
from workers.launchers.base import LaunchSpec

_PASSED_ON = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "LD_LIBRARY_PATH",
     "VIRTUAL_ENV", "PYTHONPATH", "PYTHONHASHSEED"}
)  # fmt: skip
_PREFIXES_PASSED_ON = (
    "LC_", "XDG_", "CUDA_", "NVIDIA_", "NCCL_", "GLOO_", "TORCH_", "TORCHINDUCTOR_", "PYTORCH_",
    "OMP_", "MKL_", "HF_", "TRITON_", "SSL_",
)  # fmt: skip
# HF_TOKEN and the like: a secret reaches a training as a named reference of its config, or not at all.
_SECRET_WORDS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "API_KEY")


def environment_of(folder: Path, spec: LaunchSpec, gpus: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the whole environment of the wrapper. Ours come last: nothing takes an attempt's identity.

    Args:
        folder: Of the attempt.
        spec: Of the attempt.
        gpus: Ids of those it may use; none where processors are shared.
    """
    ours = {
        "SAFEHOLD_URL": spec.ingest_url,
        "SAFEHOLD_URL_FILE": str(folder.parent / ADDRESS_FILE),
        "SAFEHOLD_TOKEN_FILE": str(folder / "token"),
        "SAFEHOLD_RUN_ID": str(spec.run_id),
        "SAFEHOLD_ATTEMPT": str(spec.attempt),
        "SAFEHOLD_CONFIG": str(folder / "config.json"),
        "SAFEHOLD_DIR": str(folder),
        "SAFEHOLD_CHECKPOINT_ROOT": str(spec.checkpoint_root),
        "SAFEHOLD_GRACE_SECONDS": str(spec.grace_seconds),
    }
    if spec.resume_from:
        ours["SAFEHOLD_RESUME_FROM"] = spec.resume_from
    if spec.is_fork:
        ours["SAFEHOLD_FORK"] = "1"
    if spec.weights_from:
        ours["SAFEHOLD_WEIGHTS_FROM"] = spec.weights_from
    if gpus:
        ours["CUDA_VISIBLE_DEVICES"] = ",".join(gpus)
    return passed_on(os.environ) | {"OMP_NUM_THREADS": "1"} | dict(spec.env) | ours


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what a training may see of the worker's environment."""
    return {
        name: value
        for name, value in environment.items()
        if (name in _PASSED_ON or name.startswith(_PREFIXES_PASSED_ON))
        and not any(word in name for word in _SECRET_WORDS)
    }
