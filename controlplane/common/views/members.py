"""Members of the project and their roles."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from controlplane.common import access
from controlplane.common.api import caller
from controlplane.common.errors import Conflict, Invalid
from controlplane.common.forms.settings import MemberForm, RoleForm
from controlplane.common.models import Project, Role
from controlplane.common.services import members
from controlplane.common.versions import ChangedMeanwhile
from controlplane.common.views.places import project_of

PAGE_SIZE = 100


@require_http_methods(["GET", "POST"])
def member_list(request: HttpRequest) -> HttpResponse:
    project = project_of(request)
    if request.method == "GET":
        return _page(request, project, MemberForm(initial={"role": Role.VIEWER}))
    access.require(caller(request), project.pk, "member.add")
    form = MemberForm(request.POST)
    if form.is_valid():
        try:
            made = members.add_member(user=caller(request), project=project, **form.cleaned_data)
        except Invalid as error:
            form.refuse(error)
        else:
            told = _("%(name)s is now %(role)s.")
            messages.success(request, told % {"name": made.user, "role": made.get_role_display()})
            return redirect("settings:members")
    return _page(request, project, form, status=422)


@require_POST
def change_role(request: HttpRequest, username: str) -> HttpResponse:
    project, form = project_of(request), RoleForm(request.POST)
    if form.is_valid():
        try:
            made = members.change_role(
                user=caller(request),
                project=project,
                username=username,
                role=form.cleaned_data["role"],
                seen=request.POST.get("version", ""),
            )
        except (Conflict, ChangedMeanwhile) as error:
            messages.error(request, f"{error.message} {error.hint}".strip())
        else:
            told = _("%(name)s is now %(role)s.")
            messages.success(request, told % {"name": made.user, "role": made.get_role_display()})
    else:
        access.require(caller(request), project.pk, "member.change")
        messages.error(request, _("There is no such role."))
    return redirect("settings:members")


@require_POST
def remove(request: HttpRequest, username: str) -> HttpResponse:
    project = project_of(request)
    try:
        members.remove_member(user=caller(request), project=project, username=username)
    except Conflict as error:
        messages.error(request, f"{error.message} {error.hint}".strip())
    else:
        messages.success(request, _("%(name)s is no member any more.") % {"name": username})
    return redirect("settings:members")


def _page(
    request: HttpRequest, project: Project, form: MemberForm, *, status: int = 200
) -> HttpResponse:
    user = caller(request)
    behind = request.GET.get("cursor", "").replace("\0", "")
    found = project.memberships.select_related("user").order_by("user__username")
    rows = list(found.filter(user__username__gt=behind)[: PAGE_SIZE + 1])
    context = {
        "section": "members", "project": project, "form": form, "members": [(row, members.version_of(row)) for row in rows[:PAGE_SIZE]], "roles": Role.choices,
        "next_cursor": rows[PAGE_SIZE - 1].user.username if len(rows) > PAGE_SIZE else "",
        "may_change": access.may(user, project.pk, "member.change"),
        "may_make_accounts": access.may(user, None, "person.create"),
    }  # fmt: skip
    return render(request, "settings/members.html", context, status=status)
