from django.apps import AppConfig


class WorkersConfig(AppConfig):
    name = "workers"

    def ready(self) -> None:
        # Every process must know every task by name, the web process too.
        import workers.tasks  # noqa: F401
        from runs.services import manifests
        from workers import previews

        manifests.register(previews.manifests)
