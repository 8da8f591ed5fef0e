"""Which project the settings are of: the one chosen at the top of the page."""

from django.http import HttpRequest
from django.utils.translation import gettext as _

from controlplane.common.context import current_project
from controlplane.common.errors import NotFound
from controlplane.common.models import Project


def project_of(request: HttpRequest) -> Project:
    """Return the project chosen.

    Raises:
        NotFound: The person is a member of none.
    """
    chosen = current_project(request)
    if chosen is None:
        raise NotFound(
            _("You are a member of no project yet."), hint=_("Ask an admin to add you to one.")
        )
    return chosen
