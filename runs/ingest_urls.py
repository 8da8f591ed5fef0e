"""What the pods call, with an attempt token."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
