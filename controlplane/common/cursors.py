"""Where the next page of a list begins; a cursor that cannot be read is told, for page 1 would be read as page 2."""

from django.utils.translation import gettext as _

from controlplane.common.errors import Invalid

LARGEST_ID = 2**63 - 1


class UnreadableCursor(Invalid):
    """It is no cursor, or one of another order."""

    code = "cursor-unreadable"

    def __init__(self) -> None:
        super().__init__(
            _("The cursor is none of this list."),
            hint=_("Begin again without one."),
            fields={"cursor": [_("Take `next` of the page before, in the same order.")]},
        )


def read_id(cursor: str) -> int | None:
    """Return the id that a page of a list in the order of ids begins behind; None at the beginning.

    Raises:
        UnreadableCursor: It is no id.
    """
    if not cursor:
        return None
    if not (cursor.isascii() and cursor.isdecimal()) or len(cursor) > 19:
        raise UnreadableCursor
    if (number := int(cursor)) > LARGEST_ID:
        raise UnreadableCursor
    return number
