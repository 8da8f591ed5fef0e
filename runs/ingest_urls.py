"""What the pods call, with an attempt token."""

from django.urls import path

from runs.ingest import door, views

urlpatterns = [path(each, views.ingest, {"path": each}, name=each) for each in door.paths()]
