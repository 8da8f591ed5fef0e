"""Read a pickle without running anything: a short list of harmless names, stand-ins for the rest.

Nothing here imports what a pickle names. A name on the list becomes a record of its arguments; any
other ends the reading with its full name.
"""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from safehold.checkpointing.formats.base import FormatError, UnsafeError

_MOST_KEY_PARTS = 1000  # a guess, far above any key of a training's state
# More would be no state of a training: tensors lie outside the pickle.
_LARGEST_PICKLE_BYTES = 256 * 2**20


class Record:
    """What a pickle would have built: the name of the class, its arguments and its state."""

    def __init__(self, *args: Any) -> None:
        self.args = args

    @property
    def state(self) -> dict[str, Any]:
        """Return what the pickle would have set on the object; empty if it set nothing."""
        state: dict[str, Any] = self.__dict__.get("_state", {})
        return state

    def __setstate__(self, state: Any) -> None:
        self._state = state if isinstance(state, dict) else {"state": state}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


Allowed = dict[str, Callable[..., Any]]


def record(name: str) -> type[Record]:
    """Return a class of records with this name."""
    return type(name, (Record,), {})


def _small_key(key: Any) -> Any:
    """Return a key if hashing it is quick: a tuple that holds itself twice, forty times over, takes years."""
    left, num_parts = [key], 0
    while left:
        part = left.pop()
        if isinstance(part, tuple | frozenset):
            num_parts += len(part)
            if num_parts > _MOST_KEY_PARTS:
                raise FormatError("its pickle has a key of too many parts")
            left.extend(part)
    return key


def _ordered(pairs: Any = ()) -> OrderedDict[Any, Any]:
    found = pairs.items() if isinstance(pairs, dict) else pairs
    return OrderedDict((_small_key(key), value) for key, value in found)


PLAIN: Allowed = {
    "collections.OrderedDict": _ordered,
    "builtins.set": lambda items=(): set(map(_small_key, items)),
    "builtins.frozenset": lambda items=(): frozenset(map(_small_key, items)),
    "builtins.complex": complex,
    "_codecs.encode": lambda text, coding="latin1": str.encode(text, "latin1"),
}


def load(content: bytes, allowed: Allowed, storage: Callable[[Any], Any] | None = None) -> Any:
    """Return the value of a pickle.

    Args:
        content: The pickle; bytes after its end are refused.
        allowed: What each permitted `module.name` becomes.
        storage: Turns a persistent id (a torch storage) into a value.

    Raises:
        UnsafeError: it names something not on the list.
        FormatError: it is no pickle, or damaged.
    """
    if len(content) > _LARGEST_PICKLE_BYTES:
        raise FormatError(f"its pickle is larger than {_LARGEST_PICKLE_BYTES >> 20} MiB")
    reader = _Reader(io.BytesIO(content), allowed, storage)
    try:
        return reader.load()
    except FormatError:
        raise
    except (MemoryError, OverflowError) as error:
        raise FormatError("its pickle asks for more memory than it can fill") from error
    except Exception as error:
        raise FormatError(f"its pickle is damaged ({type(error).__name__}: {error})") from error


# Where the keys that an opcode hashes lie on the reader's stack, which begins at the last mark.
_HASHED = {
    pickle.SETITEM[0]: slice(-2, -1),
    pickle.SETITEMS[0]: slice(0, None, 2),
    pickle.DICT[0]: slice(0, None, 2),
    pickle.ADDITEMS[0]: slice(None),
    pickle.FROZENSET[0]: slice(None),
}


def _with_small_keys(code: int, keys: slice) -> Callable[[Any], None]:
    """Return what the reader does for an opcode, if what is hashed is small."""
    load: Any = pickle._Unpickler.dispatch[code]

    def load_checked(reader: Any) -> None:
        for key in reader.stack[keys]:
            _small_key(key)
        load(reader)

    return load_checked


class _Reader(pickle._Unpickler):
    """The unpickler written in Python: a damaged pickle cannot crash it as it can the one in C."""

    def __init__(
        self, file: io.BytesIO, allowed: Allowed, storage: Callable[[Any], Any] | None
    ) -> None:
        super().__init__(file)
        self._allowed = allowed
        self._storage = storage

    def find_class(self, module: str, name: str) -> Callable[..., Any]:
        try:
            return self._allowed[f"{module.replace('__builtin__', 'builtins')}.{name}"]
        except KeyError:
            raise UnsafeError(
                f"unsafe global: {_spelled(module, name)} is not on the list of harmless names"
            ) from None

    def persistent_load(self, pid: Any) -> Any:
        if self._storage is None:
            raise FormatError("its pickle refers to storages outside of it")
        return self._storage(pid)

    def get_extension(self, code: int) -> None:
        raise UnsafeError(f"unsafe global: extension code {code}")

    def load_build(self) -> None:
        """Set state on records only: functions and classes on the list stay as they are."""
        target = self.stack[-2]  # type: ignore[attr-defined]  # typeshed hides the unpickler's parts
        if not isinstance(target, Record | OrderedDict):
            raise UnsafeError(f"its pickle sets state on {type(target).__name__}")
        super().load_build()  # type: ignore[misc]

    def load_bytearray8(self) -> None:
        """Refuse: it takes memory by a length that nobody checked, and torch never writes it."""
        raise FormatError("its pickle holds a bytearray")

    dispatch = {
        **pickle._Unpickler.dispatch,
        **{code: _with_small_keys(code, keys) for code, keys in _HASHED.items()},
        pickle.BUILD[0]: load_build,  # type: ignore[dict-item]
        pickle.BYTEARRAY8[0]: load_bytearray8,  # type: ignore[dict-item]
    }


def _spelled(module: str, name: str) -> str:
    """Name a function as people know it: `os.system` is `posix.system` inside a pickle."""
    spelled = f"{module}.{name}"
    return f"{spelled} (os.{name})" if module in {"posix", "nt"} else spelled
