"""What the service refused, as one sentence that names the field and the reason."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

_MOST_FAULTS = 5
_UNTRUSTED = re.compile(r"certificate verify failed: (.*?)\.?(?: \(_ssl\.c:\d+\))?$")


class ApiError(Exception):
    """The service refused, or did not answer.

    Attributes:
        status: HTTP status; 0 where there was no answer.
        problem: The RFC 9457 document, empty where there is none.
    """

    def __init__(
        self, message: str, *, status: int = 0, problem: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.problem = dict(problem or {})


def refusal_of(response: httpx.Response) -> ApiError:
    """Return the error of an answer that is no success."""
    problem = _problem(response)
    told = " ".join(_sentences(problem)) if problem else _nonsense(response)
    if (seconds := response.headers.get("Retry-After", "")).isdecimal():
        told += f" Try again in {seconds} s."
    return ApiError(told, status=response.status_code, problem=problem)


def unanswered(url: str, error: Exception) -> ApiError:
    """Return the error of a request that got no answer."""
    why = str(error).rstrip(".") or type(error).__name__
    if untrusted := _UNTRUSTED.search(why):
        return ApiError(
            f"The certificate of {url} is not trusted: {untrusted[1]}. Have it renewed; the file of an authority "
            "of your own is named by SSL_CERT_FILE."
        )
    if "WRONG_VERSION_NUMBER" in why:
        return ApiError(f"{url} does not speak TLS there: does its address begin with http://?")
    return ApiError(f"{url} does not answer: {why}. Is the service up (`safehold up`)?")


def _sentences(problem: Mapping[str, Any]) -> Iterator[str]:
    detail = str(problem.get("detail") or problem["title"])
    yield detail
    if faults := [one for one in _faults(problem) if not _is_told(one, detail)]:
        shown = "; ".join(one.rstrip(".") for one in faults[:_MOST_FAULTS])
        more = f"; and {len(faults) - _MOST_FAULTS} more" if len(faults) > _MOST_FAULTS else ""
        told = f"{shown}{more}"
        yield told if told.endswith("?") else f"{told}."
    if hint := problem.get("hint"):
        yield str(hint)


def _faults(problem: Mapping[str, Any]) -> Iterator[str]:
    errors = problem.get("errors")
    for one in errors if isinstance(errors, list) else ():
        if isinstance(one, dict) and one.get("message"):
            yield f"{one.get('field') or 'the body'}: {one['message']}"


def _is_told(fault: str, detail: str) -> bool:
    return fault in detail or fault.partition(": ")[2] in detail


def _nonsense(response: httpx.Response) -> str:
    """Say of an answer that Safehold does not give, a proxy's page for instance, where it came from."""
    origin = f"{response.url.scheme}://{response.url.netloc.decode()}"
    status = f"{response.status_code} {response.reason_phrase}".strip()
    asked = "Is the service up?" if response.status_code >= 500 else "Is the address right?"
    return f"{origin} answers {status}, not as Safehold does. {asked}"


def _problem(response: httpx.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        return {}
    told = isinstance(body, dict) and (body.get("detail") or body.get("title"))
    return body if told else {}
