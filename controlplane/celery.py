"""The Celery application; tasks live in `workers.tasks` and are named `workers.<task>`."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")

app = Celery("safehold", include=["controlplane.presence"])
app.config_from_object("django.conf:settings", namespace="CELERY")
