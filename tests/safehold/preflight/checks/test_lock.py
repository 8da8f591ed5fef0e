import pytest

from safehold.preflight import Facts, run_checks, tokenizer_digest
from safehold.preflight.facts import TokenizerFacts
from tests.cases import CASES
from tests.safehold.documents import make_config

FOLDER = str(CASES / "tokenizer/round_trip")
FOUND = TokenizerFacts(path=FOLDER, digest=tokenizer_digest(FOLDER), largest_id=11)


@pytest.mark.parametrize(
    ("locked", "severity", "words"),
    [
        (FOUND.digest, "pass", "is the locked one"),
        ("blake3:" + "0" * 64, "fail", "instead of blake3:000"),
        ("", "unknown", "locks no tokenizer"),
    ],
)
def test_the_digest_decides(locked: str, severity: str, words: str) -> None:
    facts = Facts(config=make_config(tokenizer__digest=locked), tokenizer=FOUND)
    (finding,) = run_checks(facts, ["TOK-1.lock"]).findings
    assert finding.severity == severity
    assert words in finding.message


def test_a_tokenizer_that_cannot_be_read_blocks() -> None:
    facts = Facts(
        config=make_config(), tokenizer=TokenizerFacts("/nope", error="No such file or directory")
    )
    (finding,) = run_checks(facts, ["TOK-1.lock"]).findings
    assert (finding.severity, "No such file" in finding.message) == ("fail", True)
