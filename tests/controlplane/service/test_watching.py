from pathlib import Path

import pytest
from django.db import OperationalError

from controlplane.service import preparing
from controlplane.service.processes import Child
from controlplane.service.watching import ClusterWatch


class Children:
    def __init__(self) -> None:
        self.added: list[str] = []

    def add(self, child: Child) -> None:
        self.added.append(child.name)


@pytest.fixture
def children() -> Children:
    return Children()


def test_the_watcher_starts_with_the_first_cluster_and_only_once(
    children: Children, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, answers = [0.0], [False, True]
    monkeypatch.setattr(preparing, "has_clusters", lambda: answers.pop(0))
    watch = ClusterWatch(tmp_path, children, now=lambda: clock[0])  # type: ignore[arg-type]
    watch.tend()
    watch.tend()
    assert (children.added, len(answers)) == ([], 1)
    clock[0] += 2.0
    watch.tend()
    clock[0] += 2.0
    watch.tend()
    assert children.added == ["watcher"]


def test_a_database_that_is_away_is_asked_again(
    children: Children, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> bool:
        raise OperationalError("the server is starting up")

    monkeypatch.setattr(preparing, "has_clusters", away)
    ClusterWatch(tmp_path, children).tend()  # type: ignore[arg-type]
    assert children.added == []
