"""The project itself: its name, its archive; for administrators of the service a new one."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from controlplane.common import access
from controlplane.common.api import caller
from controlplane.common.context import current_project
from controlplane.common.errors import Conflict, Invalid
from controlplane.common.forms.settings import NewProjectForm, ProjectForm
from controlplane.common.services import projects
from controlplane.common.versions import ChangedMeanwhile
from controlplane.common.views.places import project_of


@require_GET
def index(request: HttpRequest) -> HttpResponse:
    return redirect("settings:account" if current_project(request) is None else "settings:project")


@require_http_methods(["GET", "POST"])
def project(request: HttpRequest) -> HttpResponse:
    chosen, user = project_of(request), caller(request)
    form = ProjectForm(request.POST or None, initial={"name": chosen.name})
    if request.method == "POST":
        access.require(user, chosen.pk, "project.rename")
        if form.is_valid():
            try:
                projects.rename_project(
                    user=user, project=chosen, name=form.cleaned_data["name"], seen=request.POST.get("version", ""),
                )  # fmt: skip
            except (Invalid, ChangedMeanwhile) as error:
                form.refuse(error)
            else:
                messages.success(
                    request, _("The project is called %(name)s.") % {"name": chosen.name}
                )
                return redirect("settings:project")
    context = {
        "section": "project", "project": chosen, "form": form, "role": access.role_of(user, chosen.pk),
        "may_change": access.may(user, chosen.pk, "project.rename"), "num_members": chosen.memberships.count(),
        "version": projects.version_of(chosen),
    }  # fmt: skip
    return render(request, "settings/project.html", context, status=422 if form.errors else 200)


@require_POST
def archive(request: HttpRequest) -> HttpResponse:
    chosen = project_of(request)
    try:
        projects.archive_project(user=caller(request), project=chosen)
    except Conflict as error:
        messages.error(request, error.message)
    else:
        messages.success(
            request,
            _("Project %(name)s is archived: it can be read, not changed.") % {"name": chosen.name},
        )
    return redirect("settings:project")


@require_POST
def restore(request: HttpRequest) -> HttpResponse:
    chosen = project_of(request)
    projects.restore_project(user=caller(request), project=chosen)
    messages.success(request, _("Project %(name)s is back.") % {"name": chosen.name})
    return redirect("settings:project")


@require_http_methods(["GET", "POST"])
def new_project(request: HttpRequest) -> HttpResponse:
    user = caller(request)
    access.require_service(user, "project.create")
    form = NewProjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = projects.create_project(user=user, **form.cleaned_data)
        except Invalid as error:
            form.refuse(error)
        else:
            request.session["project_id"] = made.pk
            messages.success(
                request, _("Project %(name)s was made; you are its admin.") % {"name": made.name}
            )
            return redirect("settings:members")
    status = 422 if form.errors else 200
    return render(
        request,
        "settings/new_project.html",
        {"section": "new_project", "form": form},
        status=status,
    )
