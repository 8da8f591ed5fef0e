"""Sign-in, the way home and the error pages."""

from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from controlplane.common.logs import request_id


class SignIn(LoginView):
    template_name = "registration/sign_in.html"
    redirect_authenticated_user = True


class SignOut(LogoutView):
    pass


def home(request: HttpRequest) -> HttpResponse:
    return redirect("runs:run_list")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "400.html", status=400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "403.html", status=403)


def csrf_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "403.html", status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    # Nothing here may need the database or the session: either may be what broke.
    return render(None, "500.html", {"request_id": request_id.get()}, status=500)
