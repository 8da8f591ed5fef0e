"""Which launcher a run gets: what its config asks for, narrowed to one cluster that is there."""

from typing import Any

from django.utils.translation import gettext as _

from controlplane.common.errors import Conflict, Invalid
from runs.models import Cluster, Config

LOCAL, KUBERNETES = "local", "kubernetes"


def asked_by(config: Config) -> str:
    """Return the kind of launcher that a config is written for."""
    named = str((config.document.get("compute") or {}).get("launcher") or LOCAL)
    return named.partition(":")[0]


def cluster_named_by(config: Config) -> str:
    """Return the cluster that a config insists on, or an empty text."""
    return str((config.document.get("kubernetes") or {}).get("cluster", ""))


def clusters() -> list[Cluster]:
    """Return the clusters in which something may be launched."""
    return list(Cluster.objects.filter(is_enabled=True))


def choices_for(config: Config) -> list[str]:
    """Return the launchers that a run of this config can have."""
    if asked_by(config) != KUBERNETES:
        return [LOCAL]
    named = cluster_named_by(config)
    return [one.launcher for one in clusters() if named in {"", one.name}]


def choose(*, config: Config, asked: str = "") -> str:
    """Return the name of the launcher for a run.

    Args:
        config: Says what kind of launcher it is written for, and may insist on a cluster.
        asked: `local`, `kubernetes:CLUSTER`, `kubernetes`, or empty: whatever the config says.

    Raises:
        Invalid: The two disagree, or no cluster (or more than one) is left; the field is named.
    """
    wanted, named = asked_by(config), cluster_named_by(config)
    kind, _colon, cluster = asked.partition(":")
    if kind and kind != wanted:
        raise _refused(
            _("Config %(config)s is written for the launcher %(wanted)s, not for %(asked)s.")
            % {"config": config.pk, "wanted": wanted, "asked": asked},
            _(
                "Choose that launcher, or follow the config with one whose compute.launcher is another."
            ),
            **{"compute.launcher": _("It is %(value)s.") % {"value": wanted}},
        )
    if wanted == LOCAL:
        return LOCAL
    if cluster and named not in {"", cluster}:
        raise _refused(
            _("Config %(config)s insists on the cluster %(named)s, not %(cluster)s.")
            % {"config": config.pk, "named": named, "cluster": cluster},
            _("Choose that cluster, or leave kubernetes.cluster empty in the config."),
            **{"kubernetes.cluster": _("It is %(value)s.") % {"value": named}},
        )
    return _of_cluster(cluster or named)


def hold(launcher: str) -> None:
    """Lock the cluster of a launcher for the transaction that makes an attempt: nobody removes it meanwhile.

    Raises:
        Conflict: It was removed since the run was made.
    """
    kind, _colon, name = launcher.partition(":")
    if kind != KUBERNETES or Cluster.objects.select_for_update(no_key=True).filter(name=name):
        return
    raise Conflict(
        _("Cluster %(name)s is not registered any more.") % {"name": name},
        hint=_("Register it again under this name, or make a new run for another cluster."),
    )


def _of_cluster(name: str) -> str:
    there = {one.name: one.launcher for one in clusters()}
    if name:
        if name not in there:
            known = ", ".join(sorted(there)) or _("none")
            raise _refused(
                _("There is no cluster %(name)s in which a run could be launched.")
                % {"name": name},
                _("Registered and enabled: %(known)s.") % {"known": known},
                launcher=_("There is no cluster %(name)s.") % {"name": name},
            )
        return there[name]
    if not there:
        raise _refused(
            _("No cluster is registered."),
            _("Register one on the page Cluster."),
            launcher=_("No cluster is registered."),
        )
    if len(there) > 1:
        raise _refused(
            _("Which cluster? There are %(known)s.") % {"known": ", ".join(sorted(there))},
            _("Name it: kubernetes:CLUSTER."),
            launcher=_("Name the cluster."),
        )
    return next(iter(there.values()))


def _refused(message: str, hint: str, **fields: Any) -> Invalid:
    told = {"launcher": [message]} if "launcher" not in fields else {}
    return Invalid(
        message, hint=hint, fields=told | {name: [text] for name, text in fields.items()}
    )
