"""The wiring of the control plane: settings, routes, entry points."""

from controlplane.celery import app as celery_app

__all__ = ["celery_app"]
