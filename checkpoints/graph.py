"""The lineage as nodes and edges, for the API: data and config lead to attempts, attempts to checkpoints."""

from collections.abc import Iterator
from typing import Any

from checkpoints.models import Checkpoint
from checkpoints.selectors.lineage import Lineage
from runs.models import Attempt

Item = dict[str, Any]


def graph_of(lineage: Lineage) -> dict[str, Any]:
    """Return `{"nodes": [...], "edges": [...]}`; ids are unique across all kinds of nodes."""
    nodes = {node["id"]: node for node in _nodes(lineage)}
    edges = {(edge["from"], edge["to"]): edge for edge in _edges(lineage)}
    return {
        "checkpoint": lineage.current.pk,
        "nodes": list(nodes.values()),
        "edges": [edge for edge in edges.values() if {edge["from"], edge["to"]} <= nodes.keys()],
        "num_hidden": lineage.num_hidden,
        "is_cut": lineage.is_cut,
    }


def _nodes(lineage: Lineage) -> Iterator[Item]:
    for checkpoint in lineage.checkpoints:
        yield _checkpoint(checkpoint, lineage.relation(checkpoint.pk))
        if checkpoint.data_version:
            version = checkpoint.data_version
            yield {"id": f"data:{version}", "kind": "data", "version": version}
    for attempt in lineage.attempts:
        run = attempt.run
        yield _attempt(attempt)
        yield {"id": f"run:{run.pk}", "kind": "run", "run": run.pk, "name": run.name}
        yield {"id": f"config:{run.config.hash}", "kind": "config", "hash": run.config.hash}


def _edges(lineage: Lineage) -> Iterator[Item]:
    for attempt in lineage.attempts:
        yield _edge(f"config:{attempt.run.config.hash}", f"run:{attempt.run_id}", "configured")
        yield _edge(f"run:{attempt.run_id}", f"attempt:{attempt.pk}", "tried")
    for start in lineage.starts:
        edge = _edge(f"checkpoint:{start.checkpoint_id}", f"attempt:{start.attempt_id}", "started")
        edge |= {"takes": start.takes}
        yield edge | {"overrides": start.overrides} if start.overrides else edge
    for checkpoint in lineage.checkpoints:
        name = f"checkpoint:{checkpoint.pk}"
        yield _edge(f"attempt:{checkpoint.attempt_id}", name, "saved")
        if checkpoint.parent_id:
            yield _edge(f"checkpoint:{checkpoint.parent_id}", name, "parent")
        if checkpoint.data_version:
            yield _edge(
                f"data:{checkpoint.data_version}", f"attempt:{checkpoint.attempt_id}", "read"
            )


def _checkpoint(checkpoint: Checkpoint, relation: str) -> Item:
    return {
        "id": f"checkpoint:{checkpoint.pk}",
        "kind": "checkpoint",
        "checkpoint": checkpoint.pk,
        "run": checkpoint.run_id,
        "step": checkpoint.step,
        "state": checkpoint.state,
        "relation": relation,
    }


def _attempt(attempt: Attempt) -> Item:
    return {
        "id": f"attempt:{attempt.pk}",
        "kind": "attempt",
        "run": attempt.run_id,
        "number": attempt.number,
        "state": attempt.state,
        "outcome": attempt.outcome or None,
    }


def _edge(source: str, target: str, kind: str) -> Item:
    return {"from": source, "to": target, "kind": kind}
