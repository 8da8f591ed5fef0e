"""From the credentials of a cluster to a client of its API server.

The client with its models is imported on first use: no process without a cluster needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workers.kube import errors

if TYPE_CHECKING:
    from kubernetes import client


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """How to reach one cluster. Exactly one of the three ways is used, in this order."""

    kubeconfig: Mapping[str, Any] | None = field(default=None, repr=False)
    context: str = ""
    url: str = ""
    token: str = field(default="", repr=False)
    ca_certificate: str = ""
    is_in_cluster: bool = False


def connect(credentials: Credentials) -> client.ApiClient:
    """Return the official client for these credentials, with its silent repeats switched off.

    Raises:
        KubeError: The credentials cannot be read.
    """
    from kubernetes import client, config

    settings = client.Configuration()
    load_from: Any = config
    loaders: list[tuple[bool, Callable[[], None]]] = [
        (
            credentials.kubeconfig is not None,
            lambda: load_from.load_kube_config_from_dict(
                dict(credentials.kubeconfig or {}), context=credentials.context or None,
                persist_config=False,
                client_configuration=settings,
            ),
        ),
        (credentials.is_in_cluster, lambda: load_from.load_incluster_config(settings)),
        (bool(credentials.url), lambda: _by_token(credentials, settings)),
    ]  # fmt: skip
    try:
        next(load for applies, load in loaders if applies)()
    except StopIteration:
        raise errors.KubeError("The cluster has no credentials.") from None
    except (config.ConfigException, OSError, ValueError, TypeError, AttributeError) as error:
        # The last three are what the loader says of a field that is not what it takes it for.
        raise errors.KubeError(f"The credentials cannot be read: {error}.") from error
    # A request that broke on the way must come back to us: a DELETE or PUT repeated unseen answers
    # 404 or 409 for what it did itself.
    settings.retries = False
    made = client.ApiClient(settings)
    made.user_agent = "safehold"
    return made


def _by_token(credentials: Credentials, settings: client.Configuration) -> None:
    settings.host = credentials.url
    settings.api_key = {"authorization": f"Bearer {credentials.token}"}
    if credentials.ca_certificate:
        settings.ca_cert_data = credentials.ca_certificate
