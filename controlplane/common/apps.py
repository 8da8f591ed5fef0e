from django.apps import AppConfig


class CommonConfig(AppConfig):
    name = "controlplane.common"
    label = "common"

    def ready(self) -> None:
        from controlplane.common import sign_ins  # noqa: F401  (its receivers)
