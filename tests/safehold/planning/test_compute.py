from typing import Any

import pytest

from safehold.planning import estimate


def test_the_reference_card_sums_exactly() -> None:
    """CARD-2: 70e9 parameters, 100e9 tokens, 300 TFLOP/s at 50 %, 512 devices."""
    found = estimate(
        parameters=70e9, tokens=100e9, peak_tflops_per_device=300, mfu=0.5, devices=512
    )
    assert found.flops == 4.2e22
    assert found.device_seconds == 2.8e8
    assert found.device_days == pytest.approx(3240.74, abs=0.01)
    assert found.wall_days == pytest.approx(6.33, abs=0.005)
    assert (found.wall_days_low, found.wall_days_high) == (2 * found.wall_days, 3 * found.wall_days)


@pytest.mark.parametrize(
    "name", ["parameters", "tokens", "peak_tflops_per_device", "mfu", "devices"]
)
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_what_is_not_positive_is_named(name: str, value: float) -> None:
    given: dict[str, Any] = {
        "parameters": 1,
        "tokens": 1,
        "peak_tflops_per_device": 1,
        "mfu": 0.5,
        "devices": 1,
    }
    with pytest.raises(ValueError, match=f"{name} is"):
        estimate(**given | {name: value})


def test_more_than_the_peak_is_refused() -> None:
    with pytest.raises(ValueError, match=r"mfu is 1\.1"):
        estimate(parameters=1, tokens=1, peak_tflops_per_device=1, mfu=1.1)
