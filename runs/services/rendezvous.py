"""Where the nodes of an attempt meet: node 0 says it once it runs, the others ask.

It is a line of the timeline, since it is told once an attempt and of use to whoever looks for the cause when
nodes do not find each other.
"""

from dataclasses import dataclass

from controlplane.common.errors import Conflict, Invalid
from runs.models import Attempt, Event
from runs.services import events

KIND = "rendezvous"
_MAX_ADDRESS_CHARACTERS = 253


@dataclass(frozen=True)
class Place:
    """Address or host name, and port, of node 0."""

    address: str
    port: int

    @classmethod
    def checked(cls, address: object, port: object) -> "Place":
        """Return the place that a pod told.

        Raises:
            Invalid: It is none.
        """
        is_address = isinstance(address, str) and 0 < len(address) <= _MAX_ADDRESS_CHARACTERS
        if not is_address or not str(address).isprintable() or " " in str(address):
            raise Invalid(f"address: {address!r:.80} is no address of a host.")
        if type(port) is not int or not 0 < port < 65536:
            raise Invalid(f"port: {port!r:.80} is no port.")
        return cls(str(address), port)


def publish(*, attempt: Attempt, place: Place) -> None:
    """Keep where the nodes meet; the same told again changes nothing.

    Raises:
        Conflict: The attempt has ended, so nobody is to meet any more.
    """
    if attempt.is_over:
        raise Conflict(f"Attempt {attempt} has ended; its nodes do not meet any more.")
    events.record(
        run=attempt.run, attempt=attempt, kind=KIND,
        message=f"The nodes meet at {place.address}, port {place.port}.",
        data={"address": place.address, "port": place.port},
        key=f"{KIND}:{attempt.pk}:{place.address}:{place.port}"[:120],
    )  # fmt: skip


def find(*, attempt: Attempt) -> Place | None:
    """Return where the nodes meet, or None while node 0 has not said it."""
    told = Event.objects.filter(run=attempt.run_id, attempt=attempt, kind=KIND).first()
    return Place(told.data["address"], told.data["port"]) if told else None
