"""The pages of runs, cards, configs and preflight."""

from django.urls import URLPattern, path

from runs.views import projects, run_list

app_name = "runs"
urlpatterns: list[URLPattern] = [
    path("projects/switch/", projects.switch_project, name="switch_project"),
    path("runs/", run_list.run_list, name="run_list"),
]
