import importlib
import math
from typing import Any

import httpx
import pytest

from safehold import query
from safehold.api_client import ApiClient, ApiError

CSV = (
    "name,attempt,rank,step,tokens,time_ms,value,superseded\n"
    "train/loss,1,0,1,100,1764000000001,3.0,false\n"
    '"a, ""b""/名",1,0,2,,1764000000002,NaN,true\n'
    "train/loss,2,0,2,200,1764000000003,-Infinity,false\n"
)
RUN = {"id": 41, "name": "wide", "state": "running", "step": 2, "tokens": 200, "config": 7}


def client_of(*answers: httpx.Response) -> tuple[ApiClient, list[httpx.Request]]:
    seen: list[httpx.Request] = []
    left = iter(answers)

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return next(left)

    return ApiClient("http://safehold.test", "shp_x", transport=httpx.MockTransport(answer)), seen


def test_runs_are_yielded_page_by_page() -> None:
    client, seen = client_of(
        httpx.Response(200, json={"items": [RUN], "next": "c"}),
        httpx.Response(200, json={"items": [RUN | {"id": 40}], "next": None}),
    )
    assert [(run.id, run.name, run.state) for run in client.runs(state="active")] == [
        (41, "wide", "running"),
        (40, "wide", "running"),
    ]
    assert seen[0].url.params["state"] == "active"


def test_metrics_come_as_columns_without_what_was_done_over() -> None:
    client, seen = client_of(
        httpx.Response(200, json=RUN), httpx.Response(200, stream=httpx.ByteStream(CSV.encode()))
    )
    columns = client.run(41).metrics("train/loss", form="columns")
    assert columns["step"] == [1, 2]
    assert columns["value"] == [3.0, -math.inf]
    assert columns["tokens"] == [100, 200]
    assert seen[1].url.params.get_list("names") == ["train/loss"]


def test_everything_is_kept_on_demand() -> None:
    columns = query.columns_of(CSV.splitlines(keepends=True), live_only=False)
    assert columns["name"][1] == 'a, "b"/名'
    assert math.isnan(columns["value"][1])
    assert (columns["tokens"][1], columns["superseded"]) == (None, [False, True, False])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_data_frame_is_made_by_the_library_that_is_asked_for(library: Any) -> None:
    frame = query.framed(query.columns_of(CSV.splitlines(keepends=True)), library)
    assert isinstance(frame, importlib.import_module(library).DataFrame)
    assert frame.shape == (2, 8)


def test_without_a_library_columns_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query.importlib.util, "find_spec", lambda name: None)
    assert query.framed({"a": [1]}) == {"a": [1]}
    monkeypatch.setattr(query.importlib.util, "find_spec", lambda name: name == "polars" or None)
    assert type(query.framed({"a": [1]})).__module__.startswith("polars")


def test_a_refused_download_is_an_error_with_its_problem() -> None:
    problem = {"title": "Not found", "status": 404, "detail": "There is no run 41."}
    client, _ = client_of(httpx.Response(404, json=problem))
    with pytest.raises(ApiError, match="no run 41") as caught:
        list(client.download("runs/41/metrics/export"))
    assert caught.value.status == 404


def test_lines_are_whole_though_parts_cut_through_characters() -> None:
    text = "名,1\nb,2\nlast"
    client, _ = client_of(httpx.Response(200, content=(bytes([byte]) for byte in text.encode())))
    assert list(client.lines("x")) == ["名,1\n", "b,2\n", "last"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_without_a_row_has_its_types(library: Any) -> None:
    frame = query.framed(query.columns_of([CSV.splitlines()[0]]), library, query._KINDS)
    assert frame.shape == (0, 8)
    assert "64" in str(frame["step"].dtype)
    assert "loat64" in str(frame["value"].dtype)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_list_comes_as_a_frame_with_its_odd_figures(library: Any) -> None:
    items = [
        {"id": 1, "loss": 2.5},
        {"id": 2, "loss": "NaN", "group": "a"},
        {"id": 3, "loss": None},
    ]
    client, _ = client_of(httpx.Response(200, json={"items": items, "next": None}))
    frame = client.frame("runs", form=library)
    assert frame.shape == (3, 3)
    assert math.isnan(frame["loss"][1])
    assert frame["group"][1] == "a"


def test_a_name_that_reads_like_a_figure_stays_a_name() -> None:
    columns = query.columns_of_items([{"name": "NaN"}, {"name": "Infinity"}])
    assert columns == {"name": ["NaN", "Infinity"]}


def test_a_form_or_list_that_is_none_is_told() -> None:
    with pytest.raises(ValueError, match="form is 'excel'; it must be one of auto, pandas"):
        query.framed({}, "excel")  # type: ignore[arg-type]
    client, _ = client_of(httpx.Response(200, json={"id": 1}))
    with pytest.raises(ApiError, match="me is no list"):
        client.frame("me")
