// Exponential moving average with the bias of its start taken out; what is not finite is stepped over.
export function ema(values, weight) {
  if (!(weight > 0)) return values;
  let sum = 0;
  let norm = 0;
  return values.map((value) => {
    if (!Number.isFinite(value)) return null;
    sum = sum * weight + value * (1 - weight);
    norm = norm * weight + (1 - weight);
    return sum / norm;
  });
}
