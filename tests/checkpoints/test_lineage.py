"""Lineage over runs, forks, and forks of forks: from recorded facts, in both directions."""

from typing import Any

import pytest

from checkpoints.drawing import LONGEST_CHAIN, draw
from checkpoints.graph import graph_of
from checkpoints.models import Checkpoint
from checkpoints.selectors import lineage as lineage_module
from checkpoints.selectors.lineage import Lineage, lineage_of
from checkpoints.states import State
from controlplane.common.models import Project
from runs.models import Run
from tests.checkpoints.makers import begin, end, make_checkpoint, save, verify
from tests.factories import make_attempt, make_run

pytestmark = pytest.mark.django_db


def fork_of(origin: Checkpoint, steps: list[int], **changes: object) -> list[Checkpoint]:
    """Return the saves of a run that was forked from the checkpoint."""
    run = make_run(config=origin.run.config, parent=origin.run, forked_from_checkpoint=origin.pk)
    attempt = make_attempt(run=run)
    begin(attempt, origin)
    return [verify(save(attempt, step, **changes)) for step in steps]


def lineage(checkpoint: Checkpoint) -> Lineage:
    return lineage_of(checkpoint, projects=Project.objects.all())


def ids(*checkpoints: Checkpoint) -> set[int]:
    return {item.pk for item in checkpoints}


@pytest.fixture
def family() -> dict[str, list[Checkpoint]]:
    """A run, a resume of it, a fork of the resume, a fork of the fork."""
    attempt = make_attempt()
    first = [verify(save(attempt, step)) for step in (100, 200, 300)]
    end(attempt)
    again = make_attempt(run=attempt.run)
    begin(again, first[1])
    second = [verify(save(again, step)) for step in (250, 350)]
    fork = fork_of(second[0], [260, 270])
    fork_of_fork = fork_of(fork[1], [280])
    return {"first": first, "second": second, "fork": fork, "fork of fork": fork_of_fork}


def test_a_save_that_completes_meanwhile_is_not_called_hidden(monkeypatch: pytest.MonkeyPatch):
    attempt = make_attempt()
    parent = verify(save(attempt, 100))
    child = make_checkpoint(attempt=attempt, step=200, parent=parent.path, state=State.WRITING)
    look = lineage_module._starts

    def complete_it(*arguments: Any) -> Any:
        Checkpoint.objects.filter(pk=child.pk).update(state=State.COMPLETE)
        return look(*arguments)

    monkeypatch.setattr(lineage_module, "_starts", complete_it)
    assert lineage(parent).num_hidden == 0


def test_ancestors_go_back_through_every_fork_to_the_beginning(family):
    (last,) = family["fork of fork"]
    found = lineage(last)
    first, second, fork = family["first"], family["second"], family["fork"]
    assert found.ancestors == ids(first[0], first[1], second[0], *fork)
    assert found.descendants == set()


def test_descendants_are_all_that_was_made_from_it(family):
    first, second = family["first"], family["second"]
    found = lineage(first[1])
    assert found.ancestors == ids(first[0])
    assert found.descendants == ids(first[2], *second, *family["fork"], *family["fork of fork"])


def test_what_a_run_went_back_from_is_no_ancestor_of_what_came_after(family):
    abandoned = family["first"][2]
    assert abandoned.pk not in lineage(family["second"][1]).ancestors
    assert lineage(abandoned).descendants == set()


def test_an_attempt_that_saved_nothing_is_a_descendant_too(family):
    (last,) = family["fork of fork"]
    end(last.attempt)
    attempt = make_attempt(run=last.run)
    begin(attempt, last)
    assert attempt in lineage(last).attempts


def test_other_children_of_an_ancestor_are_no_relatives(family):
    found = lineage(family["second"][1])
    assert family["fork"][0].attempt not in found.attempts
    assert len(draw(found).lanes) == 2


def test_failed_and_unfinished_saves_made_nothing(family):
    last = family["second"][1]
    save(last.attempt, 400, "failed", error="no space")
    save(last.attempt, 500, "writing")
    assert lineage(last).descendants == set()


def test_the_damaged_ones_stay_in_the_lineage(family):
    verify(family["second"][0], is_whole=False)
    found = lineage(family["fork of fork"][0])
    assert family["second"][0].pk in found.ancestors


def test_which_runs_used_this_data(family):
    origin = family["fork"][0]
    other = fork_of(origin, [300], data_version="blake3:" + "9" * 64)
    graph = graph_of(lineage(origin))
    versions = {node["version"] for node in graph["nodes"] if node["kind"] == "data"}
    assert versions == {"blake3:" + "d" * 64, "blake3:" + "9" * 64}
    reads = {edge["to"] for edge in graph["edges"] if edge["from"] == "data:blake3:" + "9" * 64}
    assert reads == {f"attempt:{other[0].attempt_id}"}


def test_other_projects_are_counted_and_not_shown(family):
    origin = family["first"][0]
    stranger = make_attempt(run=make_run(parent=origin.run))
    begin(stranger, origin)
    save(stranger, 150)
    found = lineage_of(origin, projects=Project.objects.filter(pk=origin.run.project_id))
    assert found.num_hidden == 1
    assert stranger not in found.attempts
    names = [node.get("name") for node in graph_of(found)["nodes"]]
    assert stranger.run.name not in names


def test_edges_join_only_nodes_that_are_there(family):
    graph = graph_of(lineage(family["second"][0]))
    names = {node["id"] for node in graph["nodes"]}
    assert len(names) == len(graph["nodes"])
    assert all({edge["from"], edge["to"]} <= names for edge in graph["edges"])


def test_a_long_line_is_read_in_a_few_questions(django_assert_num_queries):
    attempt = make_attempt()
    rows = [
        Checkpoint(
            run=attempt.run, attempt=attempt, step=step, kind="snapshot", state="verified",
            state_at=attempt.state_at, created_at=attempt.state_at, path=f"/p/{step}",
        )
        for step in range(3000)
    ]  # fmt: skip
    Checkpoint.objects.bulk_create(rows)
    for before, row in zip(rows, rows[1:], strict=False):
        row.parent = before
    Checkpoint.objects.bulk_update(rows, ["parent"], batch_size=1000)
    with django_assert_num_queries(6):
        found = lineage(rows[1500])
    assert (len(found.ancestors), len(found.descendants)) == (1500, 1499)
    drawing = draw(found)
    assert len(drawing.marks) == 3
    assert [gap.count for gap in drawing.gaps] == [1499, 1498]


def test_the_drawing_gives_each_attempt_a_lane_and_time_runs_to_the_right(family):
    found = lineage(family["first"][1])
    drawing = draw(found)
    assert len(drawing.lanes) == 4
    assert len({lane.y for lane in drawing.lanes}) == 4
    assert len(drawing.branches) == 3
    assert [branch.is_fork for branch in drawing.branches] == [False, True, True]
    places = {mark.checkpoint.step: mark.x for mark in drawing.marks}
    assert sorted(places, key=lambda step: places[step]) == sorted(places)
    assert all(0 < mark.x < drawing.width and 0 < mark.y < drawing.height for mark in drawing.marks)


def test_damaged_pinned_and_branching_saves_of_a_long_chain_are_drawn():
    attempt = make_attempt()
    saves = [make_checkpoint(attempt=attempt, step=10 * i) for i in range(1, LONGEST_CHAIN + 5)]
    verify(saves[3], is_whole=False)
    Checkpoint.objects.filter(pk=saves[5].pk).update(is_pinned=True)
    fork_of(saves[7], [85])
    drawing = draw(lineage(saves[0]))
    drawn = {mark.checkpoint.step for mark in drawing.marks if mark.checkpoint.run == attempt.run}
    assert drawn == {10, 40, 60, 80, 10 * len(saves)}
    assert sum(gap.count for gap in drawing.gaps) == len(saves) - len(drawn)
    assert Run.objects.count() == 2
