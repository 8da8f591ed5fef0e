"""The pages of runs, cards, configs and preflight."""

from django.urls import path

from runs.views import (
    cards,
    configs,
    launches,
    logs,
    metrics,
    preflight,
    projects,
    run_acts,
    run_list,
    run_pages,
)

app_name = "runs"
urlpatterns = [
    path("projects/switch/", projects.switch_project, name="switch_project"),
    path("runs/", run_list.run_list, name="run_list"),
    path("runs/rows/", run_list.run_rows, name="run_rows"),
    path("runs/new/", launches.new_run, name="run_new"),
    path("runs/<int:run_id>/", run_pages.live, name="run_detail"),
    path("runs/<int:run_id>/header/", run_pages.header, name="run_header"),
    path("runs/<int:run_id>/timeline/", run_pages.timeline, name="run_timeline"),
    path("runs/<int:run_id>/attempts/", run_pages.attempts, name="run_attempts"),
    path("runs/<int:run_id>/logs/", logs.log_page, name="run_logs"),
    path("runs/<int:run_id>/logs/tail/", logs.log_tail, name="run_log_tail"),
    path("runs/<int:run_id>/logs/download/", logs.log_download, name="run_log_download"),
    path("runs/<int:run_id>/checkpoints/", run_pages.checkpoints, name="run_checkpoints"),
    path("runs/<int:run_id>/proof/", run_pages.proof, name="run_proof"),
    path("runs/<int:run_id>/metrics.json", metrics.chart, name="run_metrics"),
    path("runs/<int:run_id>/<slug:act>/act/", run_acts.act, name="run_act"),
    path("cards/", cards.card_list, name="card_list"),
    path("cards/new/", cards.new_card, name="card_new"),
    path("cards/estimate/", cards.estimate, name="card_estimate"),
    path("cards/<int:card_id>/", cards.card_detail, name="card_detail"),
    path("configs/", configs.config_list, name="config_list"),
    path("configs/new/", configs.new_config, name="config_new"),
    path("configs/check/", configs.check, name="config_check"),
    path("configs/<int:config_id>/", configs.config_detail, name="config_detail"),
    path("configs/<int:config_id>/diff/", configs.config_diff, name="config_diff"),
    path("configs/<int:config_id>/download/", configs.config_download, name="config_download"),
    path("configs/<int:config_id>/preflight/", preflight.request_preflight, name="preflight_new"),
    path("preflight/", preflight.report_list, name="preflight_list"),
    path("preflight/<int:report_id>/", preflight.report_page, name="preflight_report"),
    path("preflight/<int:report_id>/body/", preflight.report_body, name="preflight_body"),
]
