"""Why a message was not understood: the field, and the reason in words."""

from __future__ import annotations


class WireError(ValueError):
    """A message as a whole cannot be read.

    Attributes:
        field: Dotted name of the part, such as `columns[3].index`.
        reason: What is wrong with it and what is expected.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class UnsupportedVersion(WireError):
    """The sender speaks a version that this side does not; the answer lists `supported`."""

    def __init__(self, version: object, supported: tuple[int, ...]) -> None:
        listed = ", ".join(map(str, supported))
        super().__init__("v", f"version {version!r} is not supported; this side reads {listed}")
        self.version = version
        self.supported = supported


class TooLarge(WireError):
    """The message is beyond a limit; the sender must send less at once."""


class Gap(WireError):
    """The batch begins beyond the next record: the sender has to rewind to `acked` + 1."""

    def __init__(self, first_seq: int, acked: int) -> None:
        super().__init__("first_seq", f"begins at {first_seq} but {acked + 1} comes next")
        self.first_seq = first_seq
        self.acked = acked
