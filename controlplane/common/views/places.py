"""Which project the settings are of: the one chosen at the top of the page, or the one that a form was shown for."""

from django.http import HttpRequest
from django.utils.translation import gettext as _

from controlplane.common.context import project_of_form
from controlplane.common.errors import NotFound
from controlplane.common.models import Project


def project_of(request: HttpRequest) -> Project:
    """Return the project chosen, or of a form its own.

    Raises:
        NotFound: The person is a member of none, or not of the one that is named.
    """
    chosen = project_of_form(request)
    if chosen is None:
        raise NotFound(
            _("You are a member of no project yet."), hint=_("Ask an admin to add you to one.")
        )
    return chosen
