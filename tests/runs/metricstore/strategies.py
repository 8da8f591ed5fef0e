"""Generated points: any int64, any float64, NaN payloads and all."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from runs.metricstore.points import Points

INT64 = st.integers(-(2**63), 2**63 - 1)


@st.composite
def points(draw: st.DrawFn, max_size: int = 200) -> Points:
    n = draw(st.integers(0, max_size))
    ints = [draw(hnp.arrays(np.int64, n, elements=INT64)) for _ in range(4)]
    values = draw(
        st.one_of(
            hnp.arrays(np.float64, n, elements=st.floats(width=64)),
            hnp.arrays(np.float64, n, elements=st.floats(width=32)),
        )
    )
    return Points(*ints, values)


@st.composite
def curves(draw: st.DrawFn, max_size: int = 3000) -> np.ndarray:
    """Return values with a few spikes, NaN and infinities in a quiet line."""
    n = draw(st.integers(1, max_size))
    values = 2.0 + 0.01 * np.sin(np.arange(n))
    for at in draw(st.lists(st.integers(0, n - 1), max_size=5)):
        values[at] = draw(st.sampled_from([11.5, -7.0, np.nan, np.inf, -np.inf]))
    return values
