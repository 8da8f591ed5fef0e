"""A kubeconfig made whole: one context, every file it names put into it, programs refused.

So that it can be handed on: a service must neither run programs nor read files that a text names.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

# Key of a file -> key of its content, and whether that is base64.
_FILES = {
    "certificate-authority": ("certificate-authority-data", True),
    "client-certificate": ("client-certificate-data", True),
    "client-key": ("client-key-data", True),
    "tokenFile": ("token", False),
}
_PROGRAMS = ("exec", "auth-provider")


class KubeconfigError(ValueError):
    """A kubeconfig cannot be used; the message says why and what to do."""


def flattened(paths: str | Path, context: str = "") -> dict[str, Any]:
    """Return the current (or the named) context of a kubeconfig as a document of its own.

    Args:
        paths: A file, or several as in KUBECONFIG; of entries with one name the first counts.
        context: Name of the context; empty: the current one.

    Raises:
        KubeconfigError: A file cannot be read, there is no such context, or its user is a program.
    """
    documents = [_read(Path(one)) for one in str(paths).split(os.pathsep) if one]
    if not documents:
        raise KubeconfigError("KUBECONFIG names no file.")
    named = context or next(
        (d["current-context"] for d in documents if d.get("current-context")), ""
    )
    if not named:
        raise KubeconfigError(f"{paths} has no current context: kubectl config use-context NAME.")
    chosen = _entry(documents, "contexts", named)["context"]
    cluster = _entry(documents, "clusters", str(chosen.get("cluster")))
    user = _entry(documents, "users", str(chosen.get("user")))
    return {
        "apiVersion": "v1", "kind": "Config", "current-context": named,
        "clusters": [{"name": cluster["name"], "cluster": _inlined(cluster, "cluster")}],
        "contexts": [{"name": named, "context": dict(chosen)}],
        "users": [{"name": user["name"], "user": _inlined(user, "user")}],
    }  # fmt: skip


def cluster_name(context: str) -> str:
    """Return a name that a cluster can be registered under: `me@prod/eu-1` becomes `me-prod-eu-1`."""
    plain = re.sub(r"[^a-z0-9]+", "-", context.lower()).strip("-")
    return plain[:28].strip("-") or "kubeconfig"


def _read(path: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(path.expanduser().read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise KubeconfigError(f"{path} cannot be read: {why}.") from error
    except yaml.YAMLError as error:
        raise KubeconfigError(f"{path} is not YAML: {str(error).splitlines()[0]}.") from error
    if not isinstance(document, dict):
        raise KubeconfigError(f"{path} is no kubeconfig.")
    document["_folder"] = path.expanduser().absolute().parent
    return document


def _entry(documents: Iterable[Mapping[str, Any]], kind: str, name: str) -> dict[str, Any]:
    for document in documents:
        for entry in document.get(kind) or []:
            if isinstance(entry, dict) and entry.get("name") == name:
                return {**entry, "_folder": document["_folder"]}
    raise KubeconfigError(f"The kubeconfig has no entry {name!r} under {kind}.")


def _inlined(entry: Mapping[str, Any], kind: str) -> dict[str, Any]:
    settings = dict(entry.get(kind) or {})
    for key in _PROGRAMS:
        if key in settings:
            raise KubeconfigError(
                f"The user {entry['name']} of the kubeconfig signs in with a program ({key}), which is not run for others: "
                "make a service account and use its token (docs/how-to/connect-a-cluster.md)."
            )
    for key, (inside, is_base64) in _FILES.items():
        if (named := settings.pop(key, None)) and not settings.get(inside):
            settings[inside] = _content(Path(entry["_folder"]) / str(named), is_base64)
    return settings


def _content(path: Path, is_base64: bool) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise KubeconfigError(
            f"{path}, which the kubeconfig names, cannot be read: {error}."
        ) from error
    return base64.b64encode(raw).decode() if is_base64 else raw.decode("utf-8", "replace").strip()
