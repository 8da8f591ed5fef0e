import pytest

from safehold.findings import Finding
from safehold.preflight import Facts, run_checks
from safehold.preflight.facts import TokenizerFacts
from safehold.preflight.gathering.tokenizer import read_tokenizer
from tests.cases import CASES
from tests.safehold.documents import make_config

BEYOND = CASES / "tokenizer/ids_beyond_embedding"


def judge(rows: int) -> Finding:
    found = read_tokenizer(str(BEYOND), rows=rows, data_path=str(BEYOND / "samples.jsonl"))
    facts = Facts(config=make_config(network__vocabulary=rows), tokenizer=found)
    return run_checks(facts, ["TOK-4.ids_in_embedding"]).findings[0]


def test_an_added_token_beyond_the_embedding_blocks() -> None:
    """TOK-01."""
    finding = judge(12)
    assert finding.severity == "fail"
    assert "The largest token id is 13, the embedding has 12 rows" in finding.message
    assert finding.evidence["tokens"] == {"12": "<|user|>", "13": "<|end|>"}
    assert "samples.jsonl:" in finding.message
    assert finding.advice == "Set network.vocabulary to at least 14."


@pytest.mark.parametrize("rows", [14, 64])
def test_an_embedding_of_the_size_or_padded_passes(rows: int) -> None:
    assert judge(rows).severity == "pass"


def test_ids_that_are_not_known_do_not_pass() -> None:
    facts = Facts(
        config=make_config(), tokenizer=TokenizerFacts("/t", error="/t is no tokenizer.json")
    )
    (finding,) = run_checks(facts, ["TOK-4.ids_in_embedding"]).findings
    assert (finding.severity, "no tokenizer.json" in finding.message) == ("unknown", True)
