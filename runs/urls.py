"""The pages of runs, cards and configs."""

from django.urls import URLPattern

app_name = "runs"
urlpatterns: list[URLPattern] = []
