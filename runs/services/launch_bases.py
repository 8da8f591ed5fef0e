"""What stands against the weights that a new run would begin with, told before anything is made."""

from collections.abc import Iterator

from controlplane.common.errors import SafeholdError
from runs.models import Config
from runs.services import agreements, bases

_OF_BASE = ("base_checkpoint", "network.", "tokenizer.")


def faults(*, config: Config, base: int, is_asked: bool) -> Iterator[tuple[str, str]]:
    """Return what a launch would refuse: by field of the launch page, `weights_from` or `card`.

    Args:
        config: With its card, that the run would have.
        base: The checkpoint that it would begin with; 0: none.
        is_asked: Whoever launches named it; else it is that of the card.
    """
    try:
        bases.start_with(config=config, card=config.card, asked=base if is_asked else None)
    except SafeholdError as error:
        yield "weights_from", f"{error.message} {error.hint}".strip()
        return
    for path, one in agreements.findings(card=config.card, config=config, base=base):
        if base and path.startswith(_OF_BASE):
            yield "weights_from", f"{one.message} {one.advice}"
        else:  # the page names the card, and where it is filled in, once for all of them
            yield "card", one.message
