"""Run configs: the list, form and TOML side by side, the difference to another one."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from controlplane.common.access import may, require
from controlplane.common.api import caller
from controlplane.common.errors import Invalid, SafeholdError
from controlplane.common.models import Project, User
from runs import access, config_starts, listings, run_table
from runs.forms import document
from runs.forms.cards import STAGES
from runs.forms.configs import SPECS, Judge, TypedConfig
from runs.models import Approval, Card, Config, Run
from runs.services import (
    approval_gate,
    approvals,
    base_approval,
    base_lines,
    changes,
    config_texts,
    configs,
    launcher_choice,
    rule_facts,
)
from runs.services import manifests as previews
from runs.views.projects import current_project, project_of_link, project_of_page
from safehold import config as run_config
from safehold.config.reading import LARGEST_BYTES

_MOST_CARDS = 200


@require_GET
def config_list(request: HttpRequest) -> HttpResponse:
    project = current_project(request)
    if project is None:
        return render(request, "runs/no_project.html")
    text = request.GET.get("q", "").replace("\x00", "").strip()
    found = Config.objects.filter(project=project).select_related("created_by", "card", "parent")
    if text:
        found = found.filter(name__icontains=text) | found.filter(
            hash__startswith=f"blake3:{text.lower()}"
        )
    kind, approval = request.GET.get("kind", ""), request.GET.get("approval", "")
    found = found.annotate(approval_state=approvals.newest_state())
    if kind in Config.Kind.values:
        found = found.filter(kind=kind)
    if approval in Approval.State.values:
        found = found.filter(approval_state=approval)
    page = listings.page_of(found, cursor=request.GET.get("cursor", ""))
    context = {
        "page": page, "text": text, "kind": kind, "approval": approval, "kinds": Config.Kind.choices,
        "states": Approval.State.choices, "is_filtered": bool(text or kind or approval),
        "can_change": may(caller(request), project.pk, "config.create"),
    }  # fmt: skip
    return render(request, "runs/config_list.html", context)


@require_http_methods(["GET", "POST"])
def new_config(request: HttpRequest) -> HttpResponse:
    project = project_of_link(request, "parent", "card")
    if project is None:
        return render(request, "runs/no_project.html")
    require(caller(request), project.pk, "config.create")
    parent = _chosen(Config, project, request, "parent")
    card = _chosen(Card, project, request, "card") or (parent.card if parent else None)
    around = {"parent": parent, "card": card, "cards": _cards(project, card)}
    judge = _judge(project, parent)
    if request.method == "GET":
        stage = request.GET.get("stage", "")
        start = TypedConfig.of_text(config_starts.text_for(project, parent, card, stage), judge)
        return _form(request, start, around | {"stages": None if parent or card else STAGES})
    if upload := request.FILES.get("file"):
        name, content = str(upload.name), upload.read(LARGEST_BYTES + 1)
        typed = TypedConfig.of_file(name, content, judge)
        if typed.has_left_comments:
            messages.warning(request, _("The comments of the file are not taken over into TOML."))
        return _form(request, typed, around)
    if "restore" in request.POST:
        typed = TypedConfig.of_form(request.POST.dict(), judge)
        return _form(request, typed, around | {"broken": request.POST.get("toml", "")})
    typed = TypedConfig(request.POST.dict(), judge)
    if typed.is_valid:
        try:
            made = configs.create_config(
                user=caller(request),
                project=project,
                document=typed.document,
                written=typed.toml,
                card=card,
                parent=parent,
            )
        except Invalid as error:
            typed.refuse(error)
        else:
            messages.success(request, _kept(made))
            return redirect("runs:config_detail", made.pk)
    return _form(request, typed, around | {"is_answer": True}, status=422)


@require_POST
def check(request: HttpRequest) -> HttpResponse:
    """Bring the other side into step while one is typed, and say beside each field what is wrong."""
    project = project_of_page(request)
    judge = _judge(project, _chosen(Config, project, request, "parent")) if project else None
    typed = TypedConfig(request.POST.dict(), judge)
    return render(request, "runs/_config_check.html", _sides(typed) | {"is_update": True})


@require_GET
def config_detail(request: HttpRequest, config_id: int) -> HttpResponse:
    config = access.config_for(caller(request), config_id)
    user = caller(request)
    others = Config.objects.filter(project=config.project_id).exclude(pk=config.pk)[:50]
    newest = run_table.with_names(Run.objects.filter(config=config)).order_by("-pk")[:20]
    context = {
        "config": config,
        "toml": run_config.to_toml(config.document),
        "sections": [one for one in document.sections(SPECS, config.document) if one.applies],
        "others": others,
        "rows": run_table.rows_of(newest),
        "reports": config.preflight_reports.all()[:5],
        "can_change": may(user, config.project_id, "config.freeze"),
        "change": changes.between(config.parent, config) if config.parent else None,
        "written": config_texts.written_of(config),
        **_approval_context(user, config),
    }
    return render(request, "runs/config_detail.html", context)


@require_GET
def config_diff(request: HttpRequest, config_id: int) -> HttpResponse:
    config = access.config_for(caller(request), config_id)
    other = _named(request, config, request.GET.get("with", "").replace("\x00", "").strip())
    others = Config.objects.filter(project=config.project_id).exclude(pk=config.pk)[:50]
    found = changes.between(other, config)
    context = {
        "config": config,
        "other": other,
        "found": found,
        "rows": [(change, found.notes.get(change.path, "")) for change in found.changes],
        "others": others,
    }
    return render(request, "runs/config_diff.html", context)


@require_GET
def manifests(request: HttpRequest, config_id: int) -> HttpResponse:
    """Show what a launch would make in a cluster; nothing is asked of it."""
    config = access.config_for(caller(request), config_id)
    choices = launcher_choice.choices_for(config)
    asked = request.GET.get("cluster", "") or next(iter(choices), "").partition(":")[2]
    refused, text = "", ""
    try:
        text = previews.as_yaml(previews.manifests(config=config, cluster=asked))
    except SafeholdError as error:
        refused = f"{error.message} {error.hint}".strip()
    context = {
        "config": config, "text": text, "refused": refused, "chosen": asked,
        "clusters": [name.partition(":")[2] for name in choices],
    }  # fmt: skip
    return render(request, "runs/config_manifests.html", context)


@require_GET
def config_download(request: HttpRequest, config_id: int) -> HttpResponse:
    config = access.config_for(caller(request), config_id)
    written = config_texts.written_of(config) if "written" in request.GET else ""
    form = config_texts.form_of(written) if written else "toml"
    answer = HttpResponse(
        written or run_config.to_toml(config.document),
        content_type=f"application/{form}; charset=utf-8",
    )
    answer["Content-Disposition"] = (
        f'attachment; filename="config-{config.pk}-{config.short_hash}.{form}"'
    )
    return answer


def _approval_context(user: User, config: Config) -> dict[str, Any]:
    given = list(config.approvals.select_related("requested_by", "decided_by")[:10])
    standing = given[0] if given and given[0].state in {"requested", "approved"} else None
    asked = standing is not None and standing.requested_by_id == user.pk
    may_withdraw = may(user, config.project_id, "config.withdraw_approval")
    may_approve = may(user, config.project_id, "config.approve")
    judged, base = approval_gate.judge(config), base_lines.of_card(config.card)
    shown = standing.base_checkpoint or 0 if standing else base
    return {
        "findings": [one for one in judged.findings if "field" in one["evidence"]],
        "judged": judged,
        "approvals": given,
        "base": shown,
        "base_words": base_approval.words(shown),
        "base_now": base,
        "base_now_words": base_approval.words(base),
        "standing": standing,
        "can_approve": may_approve and not asked and user.pk != config.created_by_id,
        "can_withdraw": standing is not None and (asked or may_withdraw),
        "is_intact": run_config.config_hash(config.document) == config.hash,
    }


def _kept(made: Config) -> str:
    """Say that a config was kept, and which one has the same document already."""
    told = _("Config %(name)s was kept.") % {"name": made.name}
    if (same := made.same_as()) is None:
        return told
    return " ".join([told, _("The same document as config #%(id)s.") % {"id": same}])


def _form(
    request: HttpRequest, typed: TypedConfig, around: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    return render(request, "runs/config_form.html", _sides(typed) | around, status=status)


def _sides(typed: TypedConfig) -> dict[str, Any]:
    return {
        "sections": typed.sections(), "toml": typed.toml, "faults": typed.faults, "loose_faults": typed.loose_faults(),
        "is_toml": typed.is_toml, "is_readable": typed.is_readable, "base": typed.base, "is_valid": typed.is_valid, "can_change": True,
        "notes": typed.notes(), "worst": typed.worst,
    }  # fmt: skip


def _named(request: HttpRequest, config: Config, asked: str) -> Config:
    """Return the config that a number or the beginning of a digest names; the one before when nothing is asked."""
    if not asked:
        return config.parent or config
    if asked.isdecimal() and len(asked) < 8:  # so many digits begin a digest, as people read it
        return access.config_for(caller(request), int(asked))
    digest = f"blake3:{asked.lower().removeprefix('blake3:')}"
    found = Config.objects.filter(project=config.project_id, hash__startswith=digest).first()
    if found is None:
        messages.error(
            request,
            _("No config of the project has a digest that begins with %(text)s.")
            % {"text": asked[:80]},
        )
    return found or config


def _cards(project: Project, chosen: Card | None) -> list[Card]:
    """Return the cards to choose from: the newest ones, and the one that is chosen however old it is."""
    newest = list(Card.objects.filter(project=project)[:_MOST_CARDS])
    return newest if chosen is None or chosen in newest else [chosen, *newest]


def _judge(project: Project, parent: Config | None) -> Judge:
    return lambda typed: rule_facts.judge_typed(config=typed, project_id=project.pk, parent=parent)


def _chosen(model: type[Any], project: Project, request: HttpRequest, name: str) -> Any:
    asked = (request.POST if request.method == "POST" else request.GET).get(name, "")
    return (
        model.objects.filter(project=project, pk=int(asked)).first()
        if asked.isdecimal() and len(asked) < 19
        else None
    )
