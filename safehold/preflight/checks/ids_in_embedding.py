"""Whether every token id has a row in the embedding."""

from collections.abc import Iterator

from safehold.findings import Finding, fail, passed, unknown
from safehold.preflight.base import Facts, check


@check("TOK-4.ids_in_embedding", group="tokenizer")
def ids_in_embedding(facts: Facts) -> Iterator[Finding]:
    """The largest token id, added tokens counted, lies inside the embedding."""
    if facts.config is None or facts.tokenizer is None or facts.tokenizer.largest_id is None:
        why = facts.tokenizer.error if facts.tokenizer else "the tokenizer was not read"
        yield unknown(
            f"The token ids are not known: {why or 'it lists none'}.",
            advice="Give a tokenizer.json.",
        )
        return
    found, rows = facts.tokenizer, facts.config.network.vocabulary
    if facts.tokenizer.largest_id < rows:
        yield passed(
            f"The largest token id {found.largest_id} is below the {rows} rows of the embedding."
        )
        return
    beyond = {number: token for number, token in found.tokens_by_id.items() if number >= rows}
    names = ", ".join(f"{token} ({number})" for number, token in sorted(beyond.items()))
    first = next(iter(found.first_uses.items()), None)
    use = f" {first[0]} is used in {first[1]}." if first else ""
    yield fail(
        f"The largest token id is {found.largest_id}, the embedding has {rows} rows; beyond them: {names}.{use}",
        evidence={
            "largest_id": found.largest_id,
            "rows": rows,
            "tokens": {str(k): v for k, v in beyond.items()},
            "first_uses": dict(found.first_uses),
        },
        advice=f"Set network.vocabulary to at least {(found.largest_id or 0) + 1}.",
    )
