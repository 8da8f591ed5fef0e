"""The page of search results."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from controlplane.common import access
from controlplane.common.api import caller
from controlplane.search import finding


@require_GET
def search(request: HttpRequest) -> HttpResponse:
    text = request.GET.get("q", "").replace("\0", "").strip()[:200]
    found = finding.search(text, access.projects_of(caller(request)))
    return render(request, "search.html", {"text": text, "found": found})
