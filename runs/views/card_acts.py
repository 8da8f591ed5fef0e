"""What is made from a card: its export, its pilots, the configs of its mixes."""

import json

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from controlplane.common.api import caller
from controlplane.common.errors import SafeholdError
from runs import access, card_export
from runs.forms.mixes import mixes_of
from runs.services import pilots


@require_GET
def export(request: HttpRequest, card_id: int, form: str) -> HttpResponse:
    """Give the card, its sums, results and trail as a file: `md` or `json`."""
    document = card_export.document_of(access.card_for(caller(request), card_id))
    if form == "md":
        answer = HttpResponse(
            card_export.as_markdown(document), content_type="text/markdown; charset=utf-8"
        )
    else:
        text = json.dumps(document, indent=2, ensure_ascii=False)
        answer = HttpResponse(text, content_type="application/json")
    answer["Content-Disposition"] = f'attachment; filename="card-{card_id}.{form}"'
    return answer


@require_POST
def make_pilot(request: HttpRequest, card_id: int) -> HttpResponse:
    card = access.card_for(caller(request), card_id, change=True)
    try:
        made, config = pilots.create_pilot(
            user=caller(request), card=card, kind=request.POST.get("kind", "")
        )
    except SafeholdError as error:
        messages.error(request, f"{error.message} {error.hint}".strip())
        return redirect("runs:card_detail", card.pk)
    told = _("The pilot %(name)s was made, with a config.") if config else _(
        "The pilot %(name)s was made; the card had no config to shrink, write one."
    )  # fmt: skip
    messages.success(request, told % {"name": made.name})
    return redirect("runs:card_detail", made.pk)


@require_POST
def make_mixes(request: HttpRequest, card_id: int) -> HttpResponse:
    """Write a config for each line `name: web = 0.7, code = 0.3`."""
    card = access.card_for(caller(request), card_id, change=True)
    try:
        made = pilots.create_mixes(
            user=caller(request), card=card, mixes=mixes_of(request.POST.get("mixes", ""))
        )
    except SafeholdError as error:
        told = "; ".join(f"{path.removeprefix('mixes.')}: {' '.join(texts)}" for path, texts in error.fields.items())  # fmt: skip
        messages.error(request, f"{error.message} {told or error.hint}".strip())
    else:
        messages.success(request, _("%(num)d configs were written.") % {"num": len(made)})
    return redirect("runs:card_detail", card.pk)
