// From the parts of series to what uPlot draws: aligned columns and one style a column.
import { colour, faded } from "./colours.js";
import { ema } from "./smoothing.js";

const RAW_SHARE = 0.3; // the raw line under its smoothed one
const OLD_SHARE = 0.45; // points that a newer attempt replaced

// A source is {store, name, key, tone, dash}: one metric of one run.
// Returns {columns, styles, marks}: marks are the places where a value was not finite.
export function lines(sources, { smoothing, isLog }) {
  const drawing = { tables: [], styles: [], marks: [], isLog };
  const span = spanOf(sources);
  for (const source of sources) addSource(drawing, source, { smoothing, span });
  return { columns: drawing.tables.length ? uPlot.join(drawing.tables) : [[]], styles: drawing.styles, marks: drawing.marks };
}

function addSource(drawing, source, how) {
  const { key, tone } = source;
  const parts = source.store.parts(source.name);
  for (const part of parts) {
    drawing.marks.push(...part.marks);
    if (part.superseded) add(drawing, part.x, part.values, { key, stroke: faded(tone, OLD_SHARE), width: 1, dash: [2, 3], isExtra: true });
  }
  for (const rank of new Set(parts.map((part) => part.rank))) {
    const live = parts.filter((part) => !part.superseded && part.rank === rank);
    addLive(drawing, live.flatMap((part) => part.x), live.flatMap((part) => part.values), source, how);
  }
}

function spanOf(sources) {
  const ends = sources.flatMap(({ store, name }) => store.parts(name)).filter(({ x }) => x.length > 0).flatMap(({ x }) => [x[0], x.at(-1)]);
  return Math.max(...ends) - Math.min(...ends);
}

function addLive(drawing, x, values, { key, tone, dash }, { smoothing, span }) {
  const isSmoothed = smoothing > 0 && x.length > 2;
  if (!isSmoothed) return add(drawing, x, values, { key, stroke: colour(tone), width: 1.4, dash });
  add(drawing, x, values, { key, stroke: faded(tone, RAW_SHARE), width: 1, isExtra: true });
  return add(drawing, x, ema(x, values, smoothing, span), { key, stroke: colour(tone), width: 1.7, dash });
}

function add({ tables, styles, isLog }, x, values, style) {
  if (x.length === 0) return;
  const drawn = isLog ? values.map((value) => (value > 0 ? value : null)) : values;
  tables.push(rising(x, drawn));
  styles.push(style);
}

// uPlot wants x to rise strictly; tokens may stand still, and two attempts may meet at one x.
function rising(x, values) {
  if (x.every((value, index) => index === 0 || value > x[index - 1])) return [x, values];
  const at = new Map(x.map((value, index) => [value, values[index]]));
  const xs = [...at.keys()].sort((a, b) => a - b);
  return [xs, xs.map((value) => at.get(value))];
}
