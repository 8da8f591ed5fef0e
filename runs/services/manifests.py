"""What a launch would make in a cluster: the workers know, and lie above this app, so they register themselves."""

from collections.abc import Callable
from typing import Any

import yaml
from django.utils.translation import gettext as _

from controlplane.common.errors import Conflict
from runs.models import Config
from runs.services import launcher_choice

# The objects for a config under a launcher, with nothing secret in them; asks no cluster.
Provider = Callable[[Config, str], list[dict[str, Any]]]
_provider: Provider | None = None


def register(provider: Provider) -> None:
    """Name the function of the workers; called once, when their app is ready."""
    global _provider
    _provider = provider


def manifests(*, config: Config, cluster: str = "") -> list[dict[str, Any]]:
    """Return the objects that a launch of this config would make.

    Args:
        config: Written for Kubernetes.
        cluster: Name of a registered cluster; empty: the one of the config, or the only one.

    Raises:
        Invalid: The config is for another launcher, or no such cluster is there.
        Conflict: This process knows no cluster's language.
    """
    asked = f"{launcher_choice.KUBERNETES}:{cluster}" if cluster else launcher_choice.KUBERNETES
    launcher = launcher_choice.choose(config=config, asked=asked)
    if _provider is None:
        raise Conflict(_("The preview is not to be had in this process."))
    return _provider(config, launcher)


def as_yaml(objects: list[dict[str, Any]]) -> str:
    """Return objects as one text, as a person would write them."""
    return yaml.safe_dump_all(objects, sort_keys=False, allow_unicode=True, width=120)
