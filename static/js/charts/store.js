// The points of a run that the page holds: what the server answered, plus what came since.
// docs/reference/metrics-json.md describes both forms.
import { number } from "./values.js";

export class Store {
  constructor() {
    this.axis = null; // what the axis is; the server may answer steps where no tokens are known
    this.series = new Map();
    this.skews = new Map(); // by attempt: what the server takes off the times of a clock that is off
    this.numAppended = 0;
  }

  // An answer of metrics.json replaces the series that were asked for. One on another axis knows no point of this one.
  take(names, answer) {
    for (const name of names) this.series.delete(name);
    this.axis ??= answer.x;
    for (const { attempt, clock_skew_seconds: skew } of answer.attempts ?? []) this.skews.set(attempt, 1000 * (skew ?? 0));
    for (const one of answer.series) {
      const parts = answer.x === this.axis ? one.parts : [];
      this.series.set(one.name, {
        journals: { ...answer.journals },
        parts: parts.map((part) => ({
          ...part,
          steps: part.steps.map(number),
          values: part.values.map(number),
          marks: part.marks.map((mark) => ({ x: mark.x, value: number(mark.value) })),
        })),
      });
    }
  }

  // Returns false where the message does not simply continue what is held: ask the server again.
  append(message, names = null) {
    return message.parts.map((part) => this.#appendPart(part, names)).every(Boolean);
  }

  #appendPart(part, names) {
    const xs = this.#positions(part);
    return Object.entries(part.columns).filter(([name]) => names?.includes(name) ?? true).map(([name, column]) => {
      const held = this.series.get(name);
      if (!held) return false;
      if (column.at.every((at) => xs[at] === null)) return true; // the server has no place for them on this axis either
      const own = held.parts.filter((one) => !one.superseded && one.attempt === part.attempt);
      if (own.length === 0) return false;
      if (own.every((one) => one.rank < part.rank)) return true; // a chart has the lowest rank that logs the metric
      if (part.last_seq <= (held.journals[part.journal] ?? 0)) return true;
      held.journals[part.journal] = part.last_seq;
      return this.#extend(own.findLast((one) => one.rank === part.rank), part, xs, column);
    }).every(Boolean);
  }

  // Where the records of a message stand on the axis; null = nowhere.
  #positions(part) {
    if (this.axis !== "time") return (this.axis === "step" ? part.steps : part.tokens).map(number);
    return part.times.map((time) => number(time) - (this.skews.get(part.attempt) ?? 0));
  }

  #extend(tail, part, xs, column) {
    if (!tail) return false;
    let last = Math.max(tail.steps.at(-1) ?? -1, tail.markedStep ?? -1);
    for (let i = 0; i < column.at.length; i += 1) {
      const step = number(part.steps[column.at[i]]);
      const x = xs[column.at[i]];
      const value = number(column.values[i]);
      if (x === null) continue;
      if (step <= last) return false;
      last = step;
      this.numAppended += 1;
      if (Number.isFinite(value)) { tail.x.push(x); tail.steps.push(step); tail.values.push(value); }
      else { tail.marks.push({ x, value }); tail.markedStep = step; }
    }
    return true;
  }

  parts(name) {
    return this.series.get(name)?.parts ?? [];
  }

  // Where on the axis a step of an attempt stands, read off the first of these curves that has it.
  positionAt(names, { attempt, step }) {
    for (const name of names) {
      for (const part of this.parts(name)) {
        if (part.superseded || (attempt !== null && part.attempt !== attempt)) continue;
        const { x, steps } = part;
        if (steps.length === 0 || step < steps[0] || step > steps.at(-1)) continue;
        return between(steps, x, step);
      }
    }
    return null;
  }

  // Where each attempt but the first begins on the curves that are shown.
  attemptStarts() {
    const starts = new Map();
    for (const { parts } of this.series.values()) {
      for (const { attempt, superseded, x } of parts) {
        if (superseded || x.length === 0) continue;
        starts.set(attempt, Math.min(starts.get(attempt) ?? Infinity, x[0]));
      }
    }
    return [...starts].filter(([attempt]) => attempt > 1).map(([attempt, x]) => ({ attempt, x }));
  }
}

// The value of `x` at a step between the steps that are known, which rise.
function between(steps, x, step) {
  let low = 0;
  let high = steps.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (steps[middle] <= step) low = middle;
    else high = middle;
  }
  if (steps[high] === steps[low]) return x[low];
  return x[low] + ((x[high] - x[low]) * (step - steps[low])) / (steps[high] - steps[low]);
}
