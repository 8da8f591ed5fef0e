from django.apps import AppConfig


class CommonConfig(AppConfig):
    name = "controlplane.common"
    label = "common"

    def ready(self) -> None:
        from controlplane.common import checks, sign_ins  # noqa: F401  (they register themselves)
