"""What can go wrong between us and an API server, in our words.

A caller decides by two questions only: was the request carried out (perhaps), and can it help to repeat it?
"""

import json
import re
from typing import Any

import urllib3

from workers.launchers.base import LauncherError

# A refusal of a pod template dumps the whole of it, environment values included; nobody needs that.
_DUMP = re.compile(r"Invalid value: [\[{].*[\]}]: ", re.DOTALL)
# A 403 is also what quotas, webhooks and namespaces that are going away answer.
_MISSING_RIGHT = re.compile(r"cannot \w+ resource")
_LONGEST = 300


class KubeError(LauncherError):
    """The API server refused, or could not be reached.

    Attributes:
        status: The HTTP status; 0 when no answer came.
        reason: Kubernetes' word, e.g. `AlreadyExists`; empty when no answer came.
        may_have_happened: The connection broke after the request was sent.
        retry_after_seconds: How long the server asked us to wait.
        causes: The fields at fault, each with what is said of it; empty where none is named.
    """

    code = "kubernetes"

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        reason: str = "",
        can_retry: bool = False,
        may_have_happened: bool = False,
        retry_after_seconds: float = 0.0,
        hint: str = "",
        causes: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(message, can_retry=can_retry, hint=hint)
        self.status = status
        self.reason = reason
        self.may_have_happened = may_have_happened
        self.retry_after_seconds = retry_after_seconds
        self.causes = causes

    @property
    def is_absent(self) -> bool:
        """Whether the object (or the whole kind) does not exist; never true for a lost connection."""
        return self.status == 404

    @property
    def is_taken(self) -> bool:
        """Whether an object of that name exists already."""
        return self.reason == "AlreadyExists"

    @property
    def is_expired(self) -> bool:
        """Whether a list or watch must begin anew."""
        return self.status == 410

    @property
    def is_unreachable(self) -> bool:
        """Whether nothing can be said of the objects: no answer, no access, an ill server.

        A 403 counts: an API server that has just started may refuse a user whose roles it has not
        loaded yet, so one refusal to look never says that something is absent.
        """
        return self.status in {0, 401, 403, 408, 429} or self.status >= 500


def from_answer(status: int, body: str, headers: dict[str, str], what: str) -> KubeError:
    """Return the error for an answer that is not a success.

    Args:
        status: The HTTP status.
        body: A Status as JSON, or plain text: an unknown group and a throttled request answer so.
        headers: Of the answer, keys in lower case.
        what: What was tried, for the message: `create the Job safehold-r1-a1`.
    """
    told = _status_of(body)
    reason = str(told.get("reason") or "")
    text = readable(told, body)
    return KubeError(
        f"The cluster refused to {what}: {text} ({status}{f' {reason}' if reason else ''})",
        status=status,
        reason=reason,
        can_retry=status in {401, 408, 410, 429} or status >= 500 or reason == "Conflict",
        retry_after_seconds=_seconds(headers.get("retry-after", "")),
        hint=_hint(status, text),
        causes=_causes(told),
    )


def api_exception() -> type[Any]:
    """Return the client's own error, which is imported with the client on first use."""
    from kubernetes.client.exceptions import ApiException

    return ApiException


def from_exception(error: Exception, what: str) -> KubeError:
    """Return the error for a request that got no answer.

    urllib3 raises its own errors when a connection is refused (nothing was sent) or breaks (it may have been).
    """
    if isinstance(error, api_exception()) and error.status:
        headers = {str(key).lower(): str(value) for key, value in (error.headers or {}).items()}
        return from_answer(int(error.status), str(error.body or ""), headers, what)
    was_sent = not isinstance(_root(error), urllib3.exceptions.NewConnectionError)
    return KubeError(
        f"The cluster gave no answer to the request to {what}: {_root(error)}"[:_LONGEST],
        can_retry=True,
        may_have_happened=was_sent,
    )


def readable(told: dict[str, Any], body: str) -> str:
    """Return the refusal in a sentence: the fields at fault where it names them, no dumped objects."""
    parts = [f"{field}: {message}" for field, message in _causes(told)]
    text = "; ".join(parts) if parts else _cut(str(told.get("message") or body.strip()))
    return text if len(text) <= 2 * _LONGEST else text[: 2 * _LONGEST] + " …"


def _causes(told: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    causes = (told.get("details") or {}).get("causes") or []
    return tuple(
        (str(cause.get("field") or ""), _cut(str(cause.get("message") or ""))) for cause in causes
    )


def _cut(message: str) -> str:
    message = _DUMP.sub("", message)
    return message if len(message) <= _LONGEST else message[:_LONGEST] + " …"


def _status_of(body: str) -> dict[str, Any]:
    try:
        told = json.loads(body)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _seconds(text: str) -> float:
    try:
        return max(0.0, float(text))
    except ValueError:
        return 0.0


def _hint(status: int, text: str) -> str:
    if status == 401:
        return "The credentials are not accepted (any more): renew the token of this cluster."
    if status == 403 and _MISSING_RIGHT.search(text):
        return "Give the service account the rights that docs/how-to/connect-a-cluster.md lists."
    if status == 422:
        return "Change the named fields of the config; sending the same again cannot help."
    return ""


def _root(error: BaseException) -> BaseException:
    """Return the innermost reason: urllib3 wraps a refused connection twice."""
    inner = getattr(error, "reason", None)
    if isinstance(error, urllib3.exceptions.MaxRetryError) and isinstance(inner, Exception):
        return _root(inner)
    return error
