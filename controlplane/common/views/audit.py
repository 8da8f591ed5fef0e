"""The audit trail of the project, or of all that one may read."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from controlplane.common import access
from controlplane.common.api import caller
from controlplane.common.api.audit import FORMATS
from controlplane.common.context import current_project
from controlplane.common.forms.settings import AuditForm
from controlplane.common.models import AuditEntry, Project
from controlplane.common.rights import ACTS
from controlplane.common.selectors import audit
from controlplane.common.services import audit_checks
from controlplane.common.streams import download


@require_GET
def trail(request: HttpRequest) -> HttpResponse:
    project = _project(request)
    form = AuditForm(request.GET)
    found = audit.entries(caller(request), form.filters(), project=project)
    rows, following = audit.page(found, cursor=request.GET.get("cursor", ""))
    query = {
        key: value
        for key, value in request.GET.items()
        if key not in ("cursor", "format") and value
    }
    context = {
        "section": "audit", "project": project, "rows": rows, "next_cursor": following, "form": form, "query": urlencode(query),
        "is_filtered": any(key != "all" for key in query), "check": audit_checks.newest(), "nouns": _nouns(),
        "num_entries": AuditEntry.objects.order_by("-pk").values_list("pk", flat=True).first() or 0,
    }  # fmt: skip
    return render(request, "settings/audit.html", context)


@require_GET
def export(request: HttpRequest) -> HttpResponseBase:
    name = request.GET.get("format", "jsonl")
    write, content_type = FORMATS.get(name, FORMATS["jsonl"])
    found = audit.entries(
        caller(request), AuditForm(request.GET).filters(), project=_project(request)
    )
    ending = name if name in FORMATS else "jsonl"
    return download(request, write(found), file_name=f"audit.{ending}", content_type=content_type)


@require_POST
def verify(request: HttpRequest) -> HttpResponse:
    made = audit_checks.verify(user=caller(request))
    if made.num_faults:
        told = ngettext(
            "History was changed in %(n)d place.",
            "History was changed in %(n)d places.",
            made.num_faults,
        )
        messages.error(request, told % {"n": made.num_faults})
    else:
        messages.success(request, _("All %(n)d entries hold together.") % {"n": made.num_entries})
    return redirect("settings:audit")


def _project(request: HttpRequest) -> Project | None:
    """Return the project whose trail is asked for; None for all that one may read."""
    project = None if request.GET.get("all") else current_project(request)
    if project is not None:
        access.require(caller(request), project.pk, "audit.read")
    return project


def _nouns() -> list[str]:
    return sorted({name.partition(".")[0] for name in ACTS})
