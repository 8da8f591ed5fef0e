"""Credentials that cannot be used are told as such, whatever is wrong with them, and never shown."""

import copy
from typing import Any

import pytest
import yaml

from workers.kube.api import Kube
from workers.kube.connecting import Credentials
from workers.kube.errors import KubeError


@pytest.fixture
def kubeconfig(cluster, tmp_path) -> dict[str, Any]:
    held: dict[str, Any] = yaml.safe_load(cluster.kubeconfig(tmp_path / "kubeconfig").read_text())
    return held


@pytest.mark.parametrize(
    "settings",
    [{"certificate-authority-data": "not base64!"}, {"server": ["https://lab"]}],
    ids=["a certificate that is none", "a list of servers"],
)
def test_a_field_that_is_not_what_it_should_be_is_told(kubeconfig, settings):
    broken = copy.deepcopy(kubeconfig)
    broken["clusters"][0]["cluster"] |= {"server": "https://127.0.0.1:1"} | settings
    with pytest.raises(KubeError, match="The credentials cannot be read"):
        Kube(Credentials(kubeconfig=broken)).version()


@pytest.mark.parametrize("token", ["do-not-show\n", "do-not-show-ключ"])
def test_a_token_that_no_header_takes_is_told_and_not_shown(cluster, token):
    kube = Kube(Credentials(url=cluster.server.url, token=token))
    with pytest.raises(KubeError, match="cannot be used") as caught:
        kube.version()
    assert "do-not-show" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_an_address_that_is_none_is_told():
    with pytest.raises(KubeError, match="cannot be read: Invalid IPv6 URL"):
        Kube(Credentials(url="https://[::1", token="t")).version()
