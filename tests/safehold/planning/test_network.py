import pytest
from hypothesis import given
from hypothesis import strategies as st

from safehold.planning import (
    Shape,
    active_parameter_count,
    judge_start,
    parameter_count,
    starting_loss,
)


def test_the_count_of_a_known_network() -> None:
    """GPT-2 small has 124,439,808 parameters; its learned positions and biases are left out here."""
    found = parameter_count(Shape(layers=12, hidden=768, vocabulary=50257))
    assert found == 50257 * 768 + 12 * (12 * 768**2 + 2 * 768) + 768
    assert found == pytest.approx(124.4e6, rel=0.01)


def test_a_gated_network_with_shared_heads() -> None:
    """Llama 3 8B has 8,030,261,248 parameters: no biases, rotary positions, so the sum is exact."""
    shape = Shape(layers=32, hidden=4096, vocabulary=128_256, ffn_multiple=3.5, tied=False, gated=True, heads=32,
                  kv_heads=8)  # fmt: skip
    assert parameter_count(shape) == 8_030_261_248


def test_a_mixture_of_experts() -> None:
    """Mixtral 8x7B has 46,702,792,704 parameters, of which a token uses 12,879,925,248."""
    shape = Shape(layers=32, hidden=4096, vocabulary=32_000, ffn_multiple=3.5, tied=False, gated=True, heads=32,
                  kv_heads=8, experts=8, experts_per_token=2)  # fmt: skip
    assert parameter_count(shape) == 46_702_792_704
    assert active_parameter_count(shape) == 12_879_925_248


def test_untied_embeddings_count_twice() -> None:
    tied = Shape(layers=1, hidden=8, vocabulary=100)
    untied = Shape(layers=1, hidden=8, vocabulary=100, tied=False)
    assert parameter_count(untied) - parameter_count(tied) == 800


@given(
    layers=st.integers(1, 100), hidden=st.integers(1, 200), vocabulary=st.integers(2, 1000),
    experts=st.integers(0, 64), per_token=st.integers(1, 8),
)  # fmt: skip
def test_a_token_never_uses_more_than_there_is(
    layers: int, hidden: int, vocabulary: int, experts: int, per_token: int
) -> None:
    shape = Shape(layers=layers, hidden=hidden, vocabulary=vocabulary, experts=experts,
                  experts_per_token=min(per_token, experts))  # fmt: skip
    assert 0 < active_parameter_count(shape) <= parameter_count(shape)
    if not experts:
        assert active_parameter_count(shape) == parameter_count(shape)


def test_the_starting_loss_of_a_usual_vocabulary() -> None:
    assert starting_loss(50_000) == pytest.approx(10.82, abs=0.005)


def test_one_token_has_no_loss() -> None:
    with pytest.raises(ValueError, match="vocabulary is 1"):
        starting_loss(1)


@pytest.mark.parametrize(
    ("loss", "verdict"),
    [(10.82, "as expected"), (11.1, "as expected"), (6.2, "far below"), (14.0, "far above"),
     (float("nan"), "far above"), (float("inf"), "far above")],
)  # fmt: skip
def test_the_first_loss_is_judged_by_the_starting_loss(loss: float, verdict: str) -> None:
    assert judge_start(loss, 50_000) == verdict
