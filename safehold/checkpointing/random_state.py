"""The random state of one rank as plain JSON: python, numpy, torch and each CUDA device."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

State = dict[str, Any]


def digest_of(state: object) -> str:
    """Return the SHA-256 of a state's canonical JSON, to tell the states of ranks apart."""
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def capture() -> State:
    """Return the random state of this process; reading it changes nothing."""
    import numpy as np
    import torch

    version, internal, gauss = random.getstate()
    numpy_state = np.random.get_state(legacy=False)
    return {
        "python": [version, list(internal), gauss],
        "numpy": _plain(numpy_state),
        "torch": _text(torch.get_rng_state()),
        "cuda": [_text(state) for state in _cuda_states()],
    }


def restore(state: State) -> None:
    """Give this process a captured state back.

    Raises:
        ValueError: the number of CUDA devices differs from that of the saved process.
    """
    import numpy as np
    import torch

    version, internal, gauss = state["python"]
    random.setstate((version, tuple(internal), gauss))
    np.random.set_state(state["numpy"])
    torch.set_rng_state(_tensor(state["torch"]))
    if len(state["cuda"]) != len(_cuda_states()):
        raise ValueError(
            f"The random state was saved with {len(state['cuda'])} CUDA devices, "
            f"this process sees {len(_cuda_states())}."
        )
    for device, text in enumerate(state["cuda"]):
        torch.cuda.set_rng_state(_tensor(text), device)


@contextmanager
def preserved() -> Iterator[None]:
    """Leave the random state as it was: for evaluation and throw-away passes."""
    state = capture()
    try:
        yield
    finally:
        restore(state)


def _cuda_states() -> list[Any]:
    """Return a state per visible device, none where this process never used CUDA."""
    torch = sys.modules["torch"]
    if not torch.cuda.is_available() or not torch.cuda.is_initialized():
        return []
    return list(torch.cuda.get_rng_state_all())


def _text(state: Any) -> str:
    return base64.b64encode(state.numpy().tobytes()).decode()


def _tensor(text: str) -> Any:
    import torch

    return torch.frombuffer(bytearray(base64.b64decode(text)), dtype=torch.uint8)


def _plain(value: Any) -> Any:
    """Turn numpy's arrays and numbers into lists and plain numbers."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value.tolist() if hasattr(value, "tolist") else value
