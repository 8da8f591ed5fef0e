"""Yourself: password, and the browsers in which you are signed in."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from controlplane.common.api import caller
from controlplane.common.errors import Invalid
from controlplane.common.forms.settings import PasswordForm
from controlplane.common.models import SignIn
from controlplane.common.services import people
from controlplane.common.sign_ins import keep_session


@require_GET
def account(request: HttpRequest) -> HttpResponse:
    return _page(request, PasswordForm())


@require_POST
def change_password(request: HttpRequest) -> HttpResponse:
    form, user = PasswordForm(request.POST), caller(request)
    if form.is_valid():
        given = form.cleaned_data
        try:
            people.change_password(
                user=user,
                old=given["old"],
                new=given["new"],
                session_key=request.session.session_key or "",
            )
        except Invalid as error:
            form.refuse(error)
        else:
            keep_session(request, user)
            messages.success(
                request, _("Your password is changed; you are signed out everywhere else.")
            )
            return redirect("settings:account")
    return _page(request, form, status=422)


@require_POST
def end_sign_ins(request: HttpRequest) -> HttpResponse:
    chosen = request.POST.get("sign_in", "")
    only = int(chosen) if chosen.isdecimal() and len(chosen) < 19 else None
    key = request.session.session_key or ""
    num = people.sign_out_elsewhere(user=caller(request), session_key=key, only=only)
    messages.success(request, _("Signed out in %(n)d browsers.") % {"n": num})
    return redirect("settings:account")


def _page(request: HttpRequest, form: PasswordForm, *, status: int = 200) -> HttpResponse:
    user = caller(request)
    context = {
        "section": "account", "form": form, "sign_ins": SignIn.objects.filter(user=user)[:100],
        "here": request.session.session_key, "has_password": user.has_usable_password(),
    }  # fmt: skip
    return render(request, "settings/account.html", context, status=status)
