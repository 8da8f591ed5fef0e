"""Whether the document is a run config at all."""

from collections.abc import Iterator

from safehold.config.errors import FIELDS
from safehold.findings import Finding, fail, passed, unknown
from safehold.preflight.base import Facts, check


@check("CONF-3.config_fields", group="config")
def config_fields(facts: Facts) -> Iterator[Finding]:
    """Every field is known, of its type, within its bounds, and agrees with the others."""
    if facts.config is None and not facts.config_errors:
        yield unknown("No config was read.", advice="Name the config file.")
        return
    for error in facts.config_errors:
        if error.code == FIELDS:
            evidence = {"field": error.path} | ({"line": error.line} if error.line else {})
            yield fail(_sentence(error.path, error.message), evidence=evidence, advice=error.hint)
    if facts.config is not None:
        yield passed(f"{facts.config.name}: every field is sound.")


def _sentence(path: str, message: str) -> str:
    return f"{path}: {message}" if path else message
