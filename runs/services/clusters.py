"""Clusters: who may register one, what is kept of it, what was last seen."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import yaml
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from controlplane.common import access, audit, encryption
from controlplane.common.errors import Conflict, Invalid
from controlplane.common.models import User
from runs.models import Cluster, Run

# A kubeconfig that was pasted may name programs and files of the machine it came from. Neither is
# read here: a program would be run by our workers, a file would be one of theirs.
_FORBIDDEN_KEYS = {
    "exec": gettext_noop("a program to run"),
    "auth-provider": gettext_noop("an authentication plug-in"),
    "tokenFile": gettext_noop("a file"),
    "client-certificate": gettext_noop("a file"),
    "client-key": gettext_noop("a file"),
    "certificate-authority": gettext_noop("a file"),
}

_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_ADDRESS = re.compile(r"https?://[^\s/?#]+(/[^\s?#]*)?$")


@transaction.atomic
def register_cluster(
    *,
    user: User,
    name: str,
    namespace: str,
    way: str,
    image: str,
    kubeconfig: str = "",
    url: str = "",
    token: str = "",
    ca_certificate: str = "",
    ingest_url: str = "",
) -> Cluster:
    """Register a cluster or, under a name that exists, give it new credentials and settings.

    Args:
        user: Must be a superuser: a cluster is shared by all projects.
        name: Lower case letters, digits and `-`, at most 28.
        namespace: Where all our objects go; empty: that of the kubeconfig's context, or `default`.
        way: `in_cluster`, `kubeconfig` or `token`.
        image: The trainer image for configs that name none.
        kubeconfig: YAML or JSON with the credentials inside, no programs and no file names.
        url: Of the API server, for `token`.
        token: Of a service account, for `token`.
        ca_certificate: PEM, for `token`.
        ingest_url: The control plane's address as pods see it.

    Raises:
        Conflict: Its namespace would change under a run that is not settled yet.
        Forbidden: The user is no superuser.
        Invalid: A field cannot be used; it is named.
    """
    access.require_service(user, "cluster.register")
    held, found_namespace = _credentials(way, kubeconfig, url, token, ca_certificate)
    values = {
        "namespace": namespace or found_namespace or "default",
        "way": way,
        "image": image,
        "ingest_url": ingest_url.rstrip("/"),
        "credentials": encryption.encrypt(json.dumps(held)) if held else "",
        "is_enabled": True,
    }
    known = Cluster.objects.select_for_update(no_key=True).filter(name=name).first()
    cluster = known or Cluster(name=name, created_by=user)
    is_new = known is None
    if known is not None and known.namespace != values["namespace"]:
        # What lives in the old one would be taken for gone, and started again beside itself.
        hint = _("Give its namespace, %(namespace)s, or stop the run first.")
        _refuse_in_use(known, hint % {"namespace": known.namespace})
    for field, value in values.items():
        setattr(cluster, field, value)
    _check(cluster)
    cluster.save()
    told = {key: value for key, value in values.items() if key != "credentials"}
    action = "cluster.register" if is_new else "cluster.change"
    audit.record(actor=user, action=action, object=cluster, data=told)
    return cluster


@transaction.atomic
def remove_cluster(*, user: User, cluster: Cluster) -> None:
    """Forget a cluster that no run uses any more; what it ran stays recorded.

    Raises:
        Forbidden: The user is no superuser.
        Conflict: A run there is not settled yet.
    """
    access.require_service(user, "cluster.remove")
    # Against a launch at the same moment, which holds the row until its attempt is there to be seen.
    Cluster.objects.select_for_update(no_key=True).filter(pk=cluster.pk).first()
    _refuse_in_use(cluster, _("Stop the run first."))
    audit.record(actor=user, action="cluster.remove", object=cluster, data={"name": cluster.name})
    cluster.delete()


def credentials_of(cluster: Cluster) -> dict[str, Any]:
    """Return the decrypted credentials; never log or show them.

    Raises:
        CannotDecrypt: The service has another key than when they were stored.
    """
    if not cluster.credentials:
        return {}
    read: dict[str, Any] = json.loads(encryption.decrypt(cluster.credentials))
    return read


def record_survey(
    *, cluster: Cluster, version: str, survey: Mapping[str, Any], at: datetime | None = None
) -> None:
    """Keep what was seen of a cluster that answered."""
    now = at or timezone.now()
    changes: dict[str, Any] = {"version": version, "survey": dict(survey), "surveyed_at": now}
    changes["reason"] = ""
    if cluster.state != Cluster.State.REACHABLE:
        changes |= {"state": Cluster.State.REACHABLE, "state_at": now}
    Cluster.objects.filter(pk=cluster.pk).update(**changes)


def record_unreachable(*, cluster: Cluster, reason: str, at: datetime | None = None) -> None:
    """Note that a cluster does not answer, and since when; nothing of it is taken for ended."""
    changes: dict[str, Any] = {"reason": reason}
    if cluster.state != Cluster.State.UNREACHABLE:
        changes |= {"state": Cluster.State.UNREACHABLE, "state_at": at or timezone.now()}
    Cluster.objects.filter(pk=cluster.pk).update(**changes)


def _refuse_in_use(cluster: Cluster, hint: str) -> None:
    busy = Run.objects.filter(launcher=cluster.launcher, needs_reconcile=True).first()
    if busy is None:
        return
    raise Conflict(
        _("Cluster %(cluster)s is in use by run %(run)s.")
        % {"cluster": cluster.name, "run": busy.pk},
        hint=hint,
    )


def _credentials(
    way: str, kubeconfig: str, url: str, token: str, ca_certificate: str
) -> tuple[dict[str, Any], str]:
    if way == Cluster.Way.IN_CLUSTER:
        return {}, ""
    if way == Cluster.Way.KUBECONFIG:
        document = _kubeconfig(kubeconfig)
        return {"kubeconfig": document}, _namespace_of(document)
    if way == Cluster.Way.TOKEN:
        url, token = url.strip(), token.strip()  # a file of a token ends with a line break
        missing = {"url": url, "token": token}
        fields = {key: [_("This is needed.")] for key, value in missing.items() if not value}
        if not url.startswith("https://") and url:
            fields["url"] = [_("The address of the API server begins with https://.")]
        if fields:
            raise _not_registered(fields)
        return {"url": url, "token": token, "ca_certificate": ca_certificate}, ""
    ways = ", ".join(Cluster.Way.values)
    raise _not_registered({"way": [_("Choose one of %(ways)s.") % {"ways": ways}]})


def _kubeconfig(text: str) -> dict[str, Any]:
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise _bad_kubeconfig(_("It is not YAML: %(error)s") % {"error": error}) from error
    if not isinstance(document, dict) or not document.get("clusters"):
        raise _bad_kubeconfig(_("It names no clusters."))
    _entries(document, "contexts", "context")
    users, named = _entries(document, "users", "user"), _entries(document, "clusters", "cluster")
    for name, settings in [*users, *named]:
        for key, what in _FORBIDDEN_KEYS.items():
            if key in settings:
                raise _bad_kubeconfig(
                    _(
                        "`%(key)s` of %(entry)s names %(what)s: put the token or the certificate "
                        "itself into it (kubectl config view --raw --flatten)."
                    )
                    % {"key": key, "entry": name, "what": _(what)}
                )
    return document


def _entries(document: Mapping[str, Any], key: str, kind: str) -> list[tuple[Any, dict[str, Any]]]:
    """Return the names and settings under a key of a kubeconfig, all of them maps."""
    entries = document.get(key) or []
    if isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries):
        found = [(entry.get("name"), entry.get(kind) or {}) for entry in entries]
        if all(isinstance(settings, dict) for _name, settings in found):
            return found
    raise _bad_kubeconfig(_("`%(key)s` is not a list of named settings.") % {"key": key})


def _bad_kubeconfig(message: str) -> Invalid:
    return Invalid(_("The kubeconfig cannot be used."), fields={"kubeconfig": [message]})


def _not_registered(fields: Mapping[str, list[str]]) -> Invalid:
    return Invalid(_("The cluster cannot be registered."), fields=fields)


def _namespace_of(document: Mapping[str, Any]) -> str:
    current = document.get("current-context")
    for entry in document.get("contexts") or []:
        if entry.get("name") == current:
            return str((entry.get("context") or {}).get("namespace") or "")
    return ""


def _check(cluster: Cluster) -> None:
    """Ask the model's validators, and answer by field."""
    try:
        cluster.full_clean(exclude=["created_by"], validate_unique=False)
    except ValidationError as error:
        raise _not_registered(error.message_dict) from error
    faults = {}
    if not _NAMESPACE.fullmatch(cluster.namespace):
        told = _("Lower case letters, digits and -, at most %(most)d.") % {"most": 63}
        faults["namespace"] = [told]
    if cluster.ingest_url and not _ADDRESS.match(cluster.ingest_url):
        faults["ingest_url"] = [_("An address begins with http:// or https:// and a host.")]
    if faults:
        raise _not_registered(faults)
