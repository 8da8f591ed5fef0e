"""Accounts, for administrators of the service."""

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from controlplane.common import access
from controlplane.common.api import caller
from controlplane.common.errors import Conflict, Invalid
from controlplane.common.forms.settings import PersonForm
from controlplane.common.models import User
from controlplane.common.services import people

PAGE_SIZE = 50


@require_http_methods(["GET", "POST"])
def person_list(request: HttpRequest) -> HttpResponse:
    access.require_service(caller(request), "person.read")
    if request.method == "GET":
        return _page(request, PersonForm())
    form = PersonForm(request.POST)
    if form.is_valid():
        try:
            made, password = people.create_person(user=caller(request), **form.cleaned_data)
        except Invalid as error:
            form.refuse(error)
        else:
            return _page(request, PersonForm(), made=made, password=password, status=201)
    return _page(request, form, status=422)


@require_POST
def set_active(request: HttpRequest, person_id: int) -> HttpResponse:
    is_active = request.POST.get("active") == "yes"
    access.require_service(caller(request), "person.activate" if is_active else "person.deactivate")
    person = get_object_or_404(User, pk=person_id)
    try:
        people.set_active(user=caller(request), person=person, is_active=is_active)
    except Conflict as error:
        messages.error(request, error.message)
    else:
        told = (
            _("The account %(name)s is open again.")
            if is_active
            else _("The account %(name)s is closed.")
        )
        messages.success(request, told % {"name": person.username})
    return redirect("settings:people")


@require_POST
def reset_password(request: HttpRequest, person_id: int) -> HttpResponse:
    access.require_service(caller(request), "person.reset_password")
    person = get_object_or_404(User, pk=person_id)
    password = people.reset_password(user=caller(request), person=person)
    return _page(request, PersonForm(), made=person, password=password)


def _page(
    request: HttpRequest,
    form: PersonForm,
    *,
    made: User | None = None,
    password: str = "",
    status: int = 200,
) -> HttpResponse:
    text, cursor = request.GET.get("q", "").replace("\0", "").strip(), request.GET.get("cursor", "")
    found = User.objects.order_by("pk").prefetch_related("memberships__project")
    if text:
        found = found.filter(
            Q(username__icontains=text)
            | Q(first_name__icontains=text)
            | Q(last_name__icontains=text)
        )
    if cursor.isdecimal() and len(cursor) < 19:
        found = found.filter(pk__gt=int(cursor))
    rows = list(found[: PAGE_SIZE + 1])
    context = {
        "section": "people", "form": form, "people": rows[:PAGE_SIZE], "made": made, "password": password, "text": text,
        "next_cursor": str(rows[PAGE_SIZE - 1].pk) if len(rows) > PAGE_SIZE else "",
    }  # fmt: skip
    response = render(request, "settings/people.html", context, status=status)
    response["Cache-Control"] = "no-store"
    return response
