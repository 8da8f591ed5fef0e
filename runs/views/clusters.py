"""Clusters: what they hold and what waits there; for administrators also how they are reached."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from controlplane.common import access
from controlplane.common.api import caller
from controlplane.common.errors import Conflict, Invalid, SafeholdError
from controlplane.common.sentences import sentence
from runs import cluster_table
from runs.forms import clusters as forms
from runs.forms.clusters import ClusterForm
from runs.models import Cluster
from runs.services import clusters, hands


@require_GET
def cluster_list(request: HttpRequest) -> HttpResponse:
    return render(request, "runs/cluster_list.html", _context(request))


@require_GET
def cluster_rows(request: HttpRequest) -> HttpResponse:
    return render(request, "runs/_clusters.html", _context(request))


@require_http_methods(["GET", "POST"])
def register(request: HttpRequest) -> HttpResponse:
    """Register a cluster, or with `?name=` give a registered one new credentials and settings."""
    access.require_service(caller(request), "cluster.register")
    if request.method == "GET":
        known = Cluster.objects.filter(name=request.GET.get("name", "").replace("\x00", "")).first()
        initial = forms.of(known) if known else {"way": Cluster.Way.KUBECONFIG}
        return _form(request, ClusterForm(initial=initial))
    form = ClusterForm(request.POST)
    if not form.is_valid():
        return _form(request, form, status=422)
    try:
        made = clusters.register_cluster(user=caller(request), **form.cleaned_data)
    except Invalid as error:
        form.refuse(error.fields, error.message)
        return _form(request, form, status=422)
    except Conflict as error:  # its namespace, under a run that lives there
        form.refuse({"namespace": [f"{error.message} {error.hint}"]}, error.message)
        return _form(request, form, status=409)
    _look(request, made)
    return redirect("runs:cluster_list")


@require_POST
def test(request: HttpRequest, name: str) -> HttpResponse:
    access.require_service(caller(request), "cluster.test")
    _look(request, cluster_table.row(caller(request), name).cluster)
    return redirect("runs:cluster_list")


@require_POST
def remove(request: HttpRequest, name: str) -> HttpResponse:
    access.require_service(caller(request), "cluster.remove")
    cluster = cluster_table.row(caller(request), name).cluster
    try:
        clusters.remove_cluster(user=caller(request), cluster=cluster)
    except SafeholdError as error:
        messages.error(request, f"{error.message} {error.hint}".strip())
    else:
        messages.success(request, _("Cluster %(name)s was forgotten.") % {"name": name})
    return redirect("runs:cluster_list")


def _look(request: HttpRequest, cluster: Cluster) -> None:
    """Have a worker look at the cluster now, and say what it saw."""
    try:
        hands.ask("workers.try_cluster", cluster_id=cluster.pk)
    except hands.NoAnswer as error:
        messages.warning(request, f"{cluster}: {error.message} {error.hint}")
        return
    cluster.refresh_from_db()
    if cluster.state == Cluster.State.REACHABLE:
        told = _("Cluster %(name)s answers: Kubernetes %(version)s.")
        messages.success(request, told % {"name": cluster.name, "version": cluster.version})
    else:
        told = _("Cluster %(name)s cannot be used: %(reason)s")
        messages.error(request, told % {"name": cluster.name, "reason": sentence(cluster.reason)})


def _context(request: HttpRequest) -> dict[str, object]:
    user = caller(request)
    return {"rows": cluster_table.table(user), "can_change": user.is_superuser}


def _form(request: HttpRequest, form: ClusterForm, *, status: int = 200) -> HttpResponse:
    context = {"form": form, "shown": form.shown(), "ways": forms.WAYS, "faults": form.errors}
    return render(request, "runs/cluster_form.html", context, status=status)
