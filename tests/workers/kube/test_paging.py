"""Long lists come in pages of one moment."""

import pytest

from tests.fakes.kube import answers
from tests.workers.kube.test_objects import PLACE, spec
from workers.kube import api, objects
from workers.kube.errors import KubeError
from workers.kube.kinds import SECRET


@pytest.fixture(autouse=True)
def five(kube, monkeypatch):
    monkeypatch.setattr(api, "PAGE", 2)
    for number in range(5):
        kube.create(SECRET, "team", objects.secret(spec(name=f"safehold-r1-a{number}"), PLACE))


def names(listing):
    return [item["metadata"]["name"][-1] for item in listing.items]


def test_all_pages_are_read_and_the_version_is_that_of_the_first(cluster, kube):
    listing = kube.list(SECRET, "team")
    assert names(listing) == ["0", "1", "2", "3", "4"]
    assert listing.version == str(cluster.store.version)
    assert cluster.server.count("GET", "secrets") == 3


def test_a_list_that_grew_too_old_between_its_pages_is_read_anew_in_one_piece(cluster, kube):
    def forgets(request):
        if request.query.get("continue"):
            cluster.store.forget_history()
        return False

    cluster.fail(forgets)
    assert names(kube.list(SECRET, "team")) == ["0", "1", "2", "3", "4"]
    last = cluster.server.requests[-1].query
    assert "continue" not in last
    assert "limit" not in last


def test_a_second_refusal_is_told(cluster, kube):
    expired = answers.status(410, "Expired", "too old")
    cluster.fail(lambda r: r.method == "GET", times=2, before=expired)
    with pytest.raises(KubeError, match="too old") as caught:
        kube.list(SECRET, "team")
    assert caught.value.is_expired
