// Exponential moving average over x, with the bias of its start taken out; what is not finite is stepped over.
//
// The weight is that of one point among so many evenly spread over the span, so a curve with few points
// (a validation loss) lags behind as far, in x, as one with many.
const POINTS_A_SPAN = 1000;

export function ema(x, values, weight, span) {
  if (!(weight > 0)) return values;
  let sum = 0;
  let norm = 0;
  const apart = span / POINTS_A_SPAN || 1;
  let before = x[0] - apart;
  return values.map((value, index) => {
    if (!Number.isFinite(value)) return null;
    const kept = weight ** Math.max((x[index] - before) / apart, 1e-6);
    before = x[index];
    sum = sum * kept + value * (1 - kept);
    norm = norm * kept + (1 - kept);
    return sum / norm;
  });
}
