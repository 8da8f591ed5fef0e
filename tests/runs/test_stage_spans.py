from runs.stage_spans import spans_of
from safehold.rulebook import with_values


def spans(stage: str, parameters: float = 0, steps: int = 0) -> dict[str, str]:
    return {one.quantity: one.span for one in spans_of(stage, parameters, steps)}


def test_each_stage_has_its_own_spans() -> None:
    assert spans("pretrain")["lr"] == "1e-4–5e-4"
    assert spans("sft")["lr"] == "1e-5–2e-5"
    assert spans("preference")["lr"] == "1e-7–5e-6"
    assert spans("sft")["warmup"] == "100–500"
    assert spans("sft")["beta2"] == "0.99–0.999"


def test_the_size_narrows_them() -> None:
    assert spans("pretrain", 7e9)["lr"] == "2e-4–5e-4"
    assert spans("pretrain", 7e9)["warmup"] == "at least 2,000"
    assert spans("pretrain", 70e9)["warmup"] == "3,000–5,000"


def test_the_length_counts_where_it_is_known() -> None:
    assert "warmup" not in spans("pretrain")
    assert spans("pretrain", 1e8, steps=50_000)["warmup"] == "500–2,000"


def test_values_of_the_project_are_shown() -> None:
    book = with_values({"learning_rate.sft": {"low": 1e-6, "high": 1e-5}})
    found = {one.quantity: one for one in spans_of("sft", 0, book=book)}
    assert found["lr"].span == "1e-6–1e-5"
    assert found["lr"].source
