"""What a training costs: operations, device-days and wall days (CARD-2)."""

from dataclasses import dataclass

FLOPS_PER_PARAMETER_AND_TOKEN = (
    6  # 2 forward, 4 backward; Kaplan et al. 2020, section 2.1, arXiv 2001.08361
)
BUFFER_LOW, BUFFER_HIGH = (
    2.0,
    3.0,
)  # communication, restarts and trial runs, as practitioners report
SECONDS_A_DAY = 86_400


@dataclass(frozen=True, kw_only=True)
class ComputeEstimate:
    """The sums of a card.

    Attributes:
        flops: 6 · N · D.
        device_seconds: At the sustained rate, peak × MFU.
        wall_days: On the planned devices, without interruption.
        wall_days_low: With the lower buffer.
        wall_days_high: With the higher buffer.
    """

    flops: float
    device_seconds: float
    device_days: float
    wall_days: float
    wall_days_low: float
    wall_days_high: float


def training_flops(parameters: float, tokens: float) -> float:
    """Return 6 · N · D, N counting the parameters active per token."""
    return FLOPS_PER_PARAMETER_AND_TOKEN * parameters * tokens


def estimate(
    *, parameters: float, tokens: float, peak_tflops_per_device: float, mfu: float, devices: int = 1
) -> ComputeEstimate:
    """Return what it takes.

    Args:
        parameters: N, active per token.
        tokens: D, all tokens seen, repeats included.
        peak_tflops_per_device: At the training precision.
        mfu: Share of the peak that is sustained, 0 to 1.
        devices: Working in parallel.

    Raises:
        ValueError: A value is not positive, or `mfu` exceeds 1.
    """
    given = {"parameters": parameters, "tokens": tokens, "peak_tflops_per_device": peak_tflops_per_device, "mfu": mfu,
             "devices": devices}  # fmt: skip
    for name, value in given.items():
        if not value > 0:
            raise ValueError(f"{name} is {value}; it must be above 0.")
    if mfu > 1:
        raise ValueError(f"mfu is {mfu}; it is a share of the peak, at most 1.")
    flops = training_flops(parameters, tokens)
    device_seconds = flops / (peak_tflops_per_device * 1e12 * mfu)
    wall_days = device_seconds / SECONDS_A_DAY / devices
    return ComputeEstimate(
        flops=flops,
        device_seconds=device_seconds,
        device_days=device_seconds / SECONDS_A_DAY,
        wall_days=wall_days,
        wall_days_low=wall_days * BUFFER_LOW,
        wall_days_high=wall_days * BUFFER_HIGH,
    )
