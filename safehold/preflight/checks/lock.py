"""Whether the tokenizer is the one that the config was written for."""

from collections.abc import Iterator

from safehold.findings import Finding, fail, passed, unknown
from safehold.preflight.base import Facts, check


@check("TOK-1.lock", group="tokenizer")
def lock(facts: Facts) -> Iterator[Finding]:
    """The tokenizer's files have the digest that the config locks."""
    if facts.config is None or facts.tokenizer is None:
        yield unknown(
            "The tokenizer was not read.", advice="Run the check where tokenizer.path is mounted."
        )
        return
    found, locked = facts.tokenizer, facts.config.tokenizer.digest
    evidence = {
        "path": found.path,
        "found": found.digest,
        "locked": locked,
        "files": dict(found.files),
    }
    if not found.digest:
        yield fail(
            f"The tokenizer {found.path} cannot be read: {found.error}.",
            advice="Correct tokenizer.path.",
        )
    elif not locked:
        yield unknown(
            f"The config locks no tokenizer; the files of {found.path} have {found.digest}.",
            evidence=evidence,
            advice="Set tokenizer.digest to it.",
        )
    elif found.digest != locked:
        yield fail(
            f"The tokenizer {found.path} is not the one of the config: {found.digest} instead of {locked}.",
            evidence=evidence,
            advice="Restore the files, or prepare the data again with this tokenizer and lock it.",
        )
    else:
        yield passed(f"The tokenizer {found.path} is the locked one.", evidence=evidence)
