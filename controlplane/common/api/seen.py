"""`If-Match`: change an object only where it still is as it was read."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from controlplane.common.errors import Invalid

HEADER = "If-Match"


def seen_version(request: HttpRequest) -> str:
    """Return the version that the caller read; empty: whatever is there now.

    Raises:
        Invalid: Several versions are named.
    """
    given = request.headers.get(HEADER, "").strip()
    if given == "*":
        return ""
    if "," in given:
        raise Invalid(
            _("%(header)s names several versions.") % {"header": HEADER},
            fields={HEADER: [_("Name the one that you read.")]},
        )
    return given.removeprefix("W/").strip('"')


def mark(response: HttpResponse, version: str) -> None:
    """Have the answer carry the version as its ETag too."""
    response["ETag"] = f'"{version}"'
