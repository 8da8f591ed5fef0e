"""The pages of the registry."""

from django.urls import URLPattern

app_name = "checkpoints"
urlpatterns: list[URLPattern] = []
