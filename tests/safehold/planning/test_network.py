import pytest

from safehold.planning import Shape, parameter_count, starting_loss


def test_the_count_of_a_known_network() -> None:
    """GPT-2 small has 124,439,808 parameters; its learned positions and biases are left out here."""
    found = parameter_count(Shape(layers=12, hidden=768, vocabulary=50257))
    assert found == 50257 * 768 + 12 * (12 * 768**2 + 2 * 768) + 768
    assert found == pytest.approx(124.4e6, rel=0.01)


def test_untied_embeddings_count_twice() -> None:
    tied = Shape(layers=1, hidden=8, vocabulary=100)
    untied = Shape(layers=1, hidden=8, vocabulary=100, tied=False)
    assert parameter_count(untied) - parameter_count(tied) == 800


def test_the_starting_loss_of_a_usual_vocabulary() -> None:
    assert starting_loss(50_000) == pytest.approx(10.82, abs=0.005)


def test_one_token_has_no_loss() -> None:
    with pytest.raises(ValueError, match="vocabulary is 1"):
        starting_loss(1)
