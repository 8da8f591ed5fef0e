"""Run configs: read, checked, named by their digest, never edited afterwards."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from controlplane.common import access, audit
from controlplane.common.errors import Conflict, Invalid
from controlplane.common.models import Project, User
from runs.models import Card, Config
from runs.services import config_texts
from safehold.config import (
    Change,
    ConfigInvalid,
    Format,
    RunConfig,
    canonical_document,
    config_hash,
    diff,
    family_hash,
    parse,
    read_text,
)
from safehold.preflight import Facts, run_checks


@transaction.atomic
def create_config(
    *,
    user: User,
    project: Project,
    document: Mapping[str, Any] | None = None,
    text: str | bytes | None = None,
    format: Format = "toml",
    written: str = "",
    card: Card | None = None,
    parent: Config | None = None,
) -> Config:
    """Keep a config; its defaults are filled in now and never again.

    Args:
        user: Needs the role operator in the project.
        project: Where it belongs.
        document: Plain values, or
        text: A text; one of the two is given.
        format: Of the text.
        written: The TOML that a given document was read from; kept beside it, with its comments.
        card: The card that it is for.
        parent: The config that it was made from.

    Raises:
        Invalid: It is no run config; `fields` has every fault by its dotted path.
    """
    access.require(user, project.pk, "config.create")
    for noun, thing, told in (
        ("card", card, _("The card belongs to another project.")),
        ("parent", parent, _("The parent belongs to another project.")),
    ):
        if thing is not None and thing.project_id != project.pk:
            raise Invalid(told, fields={noun: [_("Choose another.")]})
    config = read_config(document=document, text=text, format=format)
    plain = canonical_document(config)
    made = Config.objects.create(
        project=project, card=card, parent=parent, created_by=user, name=config.name,
        kind=config.kind, schema_version=config.schema_version, document=plain,
        hash=config_hash(plain), family_hash=family_hash(plain),
    )  # fmt: skip
    config_texts.keep(config=made, text=text or written)
    data = {"hash": made.hash, "parent": parent.pk if parent else None}
    audit.record(actor=user, action="config.create", object=made, data=data)
    return made


def read_config(
    *,
    document: Mapping[str, Any] | None = None,
    text: str | bytes | None = None,
    format: Format = "toml",
) -> RunConfig:
    """Return the config of a document or text.

    Raises:
        Invalid: It is none; `fields` has every fault by its dotted path, with the line where known, and `findings` them
            as preflight tells them.
    """
    if (document is None) == (text is None):
        raise Invalid(_("Give the config either as a document or as text."))
    try:
        return parse(document) if document is not None else read_text(text or "", format)
    except ConfigInvalid as error:
        refused = refusal(error)
        report = run_checks(Facts(config_errors=tuple(error.errors)), ["config"]).to_dict()
        # That no other check could judge it either says nothing more.
        blocking = [one for one in report["findings"] if one["severity"] == "fail"]
        refused.extra["findings"] = blocking
        raise refused from error


def refusal(error: ConfigInvalid) -> Invalid:
    """Return the faults of a config as the failure that pages and API show."""
    fields: dict[str, list[str]] = {}
    for fault in error.errors:
        told = fault.message + (f" {fault.hint}" if fault.hint else "")
        if fault.line:
            told = _("Line %(line)s: %(fault)s") % {"line": fault.line, "fault": told}
        fields.setdefault(fault.path, []).append(told)
    num = len(error.errors)
    named = ", ".join(path or _("document") for path in list(fields)[:5])
    return Invalid(
        ngettext(
            "The config cannot be used: %(num)s fault, in %(fields)s.",
            "The config cannot be used: %(num)s faults, in %(fields)s.",
            num,
        )
        % {"num": num, "fields": named},
        code="config-invalid",
        hint=_("Mend the named fields."),
        fields=fields,
    )


def changes_between(old: Config, new: Config) -> list[Change]:
    """Return what differs from `old` to `new`, by dotted path."""
    return diff(old.document, new.document)


@transaction.atomic
def freeze(*, user: User, config: Config) -> Config:
    """Declare that nothing but this very document may run under its name; a second time changes nothing.

    Raises:
        Conflict: The stored document no longer matches its digest.
    """
    access.require(user, config.project_id, "config.freeze")
    held = Config.objects.select_for_update(no_key=True).get(pk=config.pk)
    if config_hash(held.document) != held.hash:
        raise Conflict(
            _("The document of config %(config)s does not match its digest %(digest)s.")
            % {"config": held.pk, "digest": held.hash}
        )
    if held.frozen_at is None:
        held.frozen_at, held.frozen_by = timezone.now(), user
        held.save(update_fields=["frozen_at", "frozen_by"])
        audit.record(actor=user, action="config.freeze", object=held, data={"hash": held.hash})
    config.frozen_at, config.frozen_by = held.frozen_at, held.frozen_by
    return held
