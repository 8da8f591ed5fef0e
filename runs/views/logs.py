"""The log of an attempt: one source at a time, its tail live, all of it to download."""

from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from controlplane.common.api import caller
from controlplane.common.streams import download
from runs import access, log_reading
from runs.views.run_pages import page


@require_GET
@vary_on_headers("HX-Request")
def log_page(request: HttpRequest, run_id: int) -> HttpResponse:
    run = access.run_for(caller(request), run_id)
    chosen = log_reading.choose(run, request.GET.get("attempt", ""), request.GET.get("source", ""))
    return page(request, run, "logs", {"log": chosen, "tail": log_reading.tail(chosen)})


@require_GET
def log_tail(request: HttpRequest, run_id: int) -> HttpResponse:
    run = access.run_for(caller(request), run_id)
    chosen = log_reading.choose(run, request.GET.get("attempt", ""), request.GET.get("source", ""))
    offset = request.GET.get("offset", "")
    start = int(offset) if offset.isdecimal() and len(offset) < 19 else 0
    piece = log_reading.tail(chosen, offset=start)
    return JsonResponse({"text": piece.text, "next": piece.next_offset, "has_more": piece.has_more})


@require_GET
def log_download(request: HttpRequest, run_id: int) -> StreamingHttpResponse:
    run = access.run_for(caller(request), run_id)
    chosen = log_reading.choose(run, request.GET.get("attempt", ""), request.GET.get("source", ""))
    return download(
        request,
        log_reading.pieces(chosen),
        file_name=chosen.file_name,
        content_type="text/plain; charset=utf-8",
    )
