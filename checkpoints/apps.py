from importlib import import_module

from django.apps import AppConfig


class CheckpointsConfig(AppConfig):
    name = "checkpoints"

    def ready(self) -> None:
        from checkpoints import recovery
        from runs.services import resume_points

        resume_points.register(
            recovery.newest, finder=recovery.find, recorder=recovery.record_start
        )
        import_module("checkpoints.pods")  # opens the way in for registrations
