from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "runs"

    def ready(self) -> None:
        from controlplane.common.services import projects
        from runs.services import archiving

        projects.BLOCKERS.append(archiving.what_is_at_work)
