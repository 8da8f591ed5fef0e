"""Sign-in, the way home and the error pages."""

from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render


class SignIn(LoginView):
    redirect_authenticated_user = True


class SignOut(LogoutView):
    pass


def home(request: HttpRequest) -> HttpResponse:
    return redirect("runs:list")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "error.html", status=400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "error.html", status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "error.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    return render(request, "error.html", status=500)
