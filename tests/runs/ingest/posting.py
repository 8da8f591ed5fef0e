"""Sending as a training pod does, and reading the chart as a page does."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from django.test import Client

from runs.models import Attempt
from runs.services import metrics
from safehold import wire

CASES = Path(__file__).parents[2] / "cases" / "metrics"
JOURNAL = "0" * 31 + "1"


def case(name: str) -> bytes:
    """Return a metrics case as another sender's body: version added, the rest as it stands (NaN too)."""
    text = (CASES / name).read_text(encoding="utf-8").strip()
    return text.replace("{", '{"v": 1, ', 1).encode()


def post(
    attempt: Attempt,
    body: bytes,
    path: str = "ingest",
    client: Client | None = None,
    **headers: str,
) -> Any:
    """Post a body; JSON unless a content type is given."""
    kind = headers.pop("content_type", wire.CONTENT_JSON)
    given = {"Authorization": f"Bearer {attempt.token}"} | headers  # type: ignore[attr-defined]
    return (client or Client()).post(f"/api/v1/{path}", body, content_type=kind, headers=given)


def post_case(attempt: Attempt, name: str) -> dict[str, Any]:
    """Post a case and return the answer, read strictly."""
    response = post(attempt, case(name))
    assert response.status_code == 200, response.content
    return strict(response.content)


def send(attempt: Attempt, batch: wire.Batch) -> Any:
    """Post a batch in the packed form, as the client library does."""
    return post(attempt, wire.encode(batch), content_type=wire.CONTENT_MSGPACK)


def ack_of(response: Any) -> wire.Ack:
    """Return the acknowledgement of an answer."""
    assert response.status_code == 200, response.content
    return wire.decode_ack(response.content, response["Content-Type"])


def make_batch(
    n: int = 4, *, first_seq: int = 1, first_step: int = 1, name: str = "train/loss", **changes: Any
) -> wire.Batch:
    """Return a batch of `n` steps with one metric."""
    steps = np.arange(first_step, first_step + n, dtype=np.int64)
    columns = (wire.Column(name, None, 2.0 + 0.01 * steps),) if n else ()
    values = {
        "rank": 0, "journal": JOURNAL, "first_seq": first_seq, "steps": steps, "tokens": steps * 100,
        "times": 1_764_000_000_000 + steps, "columns": columns,
    }  # fmt: skip
    return wire.Batch(**values | changes)


def strict(body: bytes) -> Any:
    """Parse JSON as a browser does: no NaN, no Infinity."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    return json.loads(body, parse_constant=refuse)


def chart(attempt: Attempt, name: str, x: str = "step", **options: Any) -> dict[str, Any]:
    """Return the series of one metric as a chart gets it, through strict JSON."""
    document = metrics.read_chart(run=attempt.run, names=[name], x=x, **options)
    [series] = strict(orjson.dumps(document))["series"]
    return dict(series)


def shown(series: dict[str, Any], *, superseded: bool = False) -> dict[Any, Any]:
    """Return step -> value of the parts that stand (or are superseded), marks included."""
    values: dict[Any, Any] = {}
    for part in series["parts"]:
        if part["superseded"] != superseded:
            continue
        values |= dict(zip(part["steps"], part["values"], strict=True))
        values |= {mark["step"]: mark["value"] for mark in part["marks"]}
    return values
