// From series to what uPlot draws: aligned columns and one style a column.
import { colour, faded } from "./colours.js";
import { ema } from "./smoothing.js";

const PALETTE = ["--chart-1", "--chart-2", "--chart-3", "--chart-4", "--chart-5", "--chart-6"];
const FAINT = 0.28; // the raw line under a smoothed one, and points that a newer attempt replaced

// Returns {columns, styles, marks}: marks are the places where a value was not finite.
export function lines(store, names, { smoothing, isLog }) {
  const tables = [];
  const styles = [];
  const marks = [];
  names.forEach((name, index) => {
    const tone = PALETTE[index % PALETTE.length];
    for (const series of store.named(name)) {
      const cut = cutAt(series);
      marks.push(...notFinite(series));
      addLive(tables, styles, { series, cut, name, tone, smoothing, isLog });
      if (cut < series.x.length) {
        const from = Math.max(0, cut - 1);
        add(tables, styles, series.x.slice(from), series.y.slice(from), isLog, { name, stroke: faded(tone, FAINT), width: 1, dash: [3, 3], isExtra: true });
      }
    }
  });
  return { columns: tables.length ? uPlot.join(tables) : [[]], styles, marks };
}

function addLive(tables, styles, { series, cut, name, tone, smoothing, isLog }) {
  const x = series.x.slice(0, cut);
  const y = series.y.slice(0, cut);
  const isSmoothed = smoothing > 0 && x.length > 2;
  add(tables, styles, x, y, isLog, { name, stroke: isSmoothed ? faded(tone, FAINT) : colour(tone), width: isSmoothed ? 1 : 1.4, isExtra: isSmoothed, tone });
  if (isSmoothed) add(tables, styles, x, ema(y, smoothing), isLog, { name, stroke: colour(tone), width: 1.6, tone });
}

function add(tables, styles, x, y, isLog, style) {
  if (x.length === 0) return;
  const drawn = y.map((value) => (Number.isFinite(value) && !(isLog && value <= 0) ? value : null));
  const [xs, ys] = ascending(x, drawn);
  tables.push([xs, ys]);
  styles.push(style);
}

// Tokens or times may repeat or go back (clock skew); uPlot wants x to rise.
function ascending(x, y) {
  for (let i = 1; i < x.length; i += 1) {
    if (!(x[i] > x[i - 1])) return sorted(x, y);
  }
  return [x, y];
}

function sorted(x, y) {
  const at = new Map();
  x.forEach((value, index) => { if (Number.isFinite(value)) at.set(value, y[index]); });
  const xs = [...at.keys()].sort((a, b) => a - b);
  return [xs, xs.map((value) => at.get(value))];
}

// The first point that a newer attempt replaced; the curve shows it dimmed from there.
function cutAt(series) {
  if (series.supersededAfter === null) return series.x.length;
  const index = series.step.findIndex((step) => step > series.supersededAfter);
  return index < 0 ? series.x.length : index;
}

function notFinite(series) {
  const found = [];
  series.y.forEach((value, index) => {
    if (value !== null && !Number.isFinite(value)) found.push({ x: series.x[index], value });
  });
  return found;
}
