"""The pages of the registry."""

from django.urls import path

from checkpoints.views import acts, choices, lists, pages

app_name = "checkpoints"
urlpatterns = [
    path("", lists.index, name="index"),
    path("choices/", choices.choices, name="choices"),
    path("choices/chosen/", choices.chosen, name="chosen"),
    path("of-run/<int:run_id>/", lists.of_run, name="of_run"),
    path("<int:checkpoint_id>/", pages.detail, name="detail"),
    path("<int:checkpoint_id>/proof/", pages.proof, name="proof"),
    path("<int:checkpoint_id>/manifest.json", pages.manifest, name="manifest"),
    path("<int:checkpoint_id>/tensors/<slug:part>/", pages.tensors, name="tensors"),
    path("<int:checkpoint_id>/verify/", acts.verify, name="verify"),
    path("<int:checkpoint_id>/pin/", acts.pin, name="pin"),
    path("<int:checkpoint_id>/fork/", acts.fork, name="fork"),
    path("<int:checkpoint_id>/resume/", acts.resume, name="resume"),
]
