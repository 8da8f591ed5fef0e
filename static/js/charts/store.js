// The points of a run that the page holds: what the server answered, plus what came since.
//
// A message is a hint. It is taken only when it continues its journal without a gap; otherwise the
// caller asks the server again, so that the page ends up with what the database holds.
import { number } from "./values.js";

const key = (name, attempt, rank) => `${attempt}\u0000${rank}\u0000${name}`;

export class Store {
  constructor(axis) {
    this.axis = axis;
    this.clear();
  }

  clear() {
    this.series = new Map();
    this.journals = new Map();
    this.attempts = [];
    this.numAppended = 0;
  }

  // An answer of metrics.json replaces the series that it names.
  take(answer) {
    for (const one of answer.series) {
      this.series.set(key(one.name, one.attempt, one.rank), {
        name: one.name,
        attempt: one.attempt,
        rank: one.rank,
        step: one.step.map(number),
        x: one.x.map(number),
        y: one.y.map(number),
        supersededAfter: number(one.superseded_after),
      });
    }
    for (const [journal, seen] of Object.entries(answer.journals ?? {})) {
      this.journals.set(journal, Math.max(this.journals.get(journal) ?? 0, seen.seq));
    }
    if (answer.attempts) this.attempts = answer.attempts;
  }

  forget(names) {
    for (const [id, one] of this.series) if (names.includes(one.name)) this.series.delete(id);
  }

  // Returns "taken", "old" or "gap".
  append(message) {
    const seen = this.journals.get(message.journal);
    if (seen === undefined && message.first_seq > 1) return "gap";
    if (seen !== undefined && message.last_seq <= seen) return "old";
    if (seen !== undefined && message.first_seq > seen + 1) return "gap";
    this.journals.set(message.journal, message.last_seq);
    let isWhole = true;
    for (const [name, points] of Object.entries(message.points)) {
      isWhole = this.#extend(name, message, points) && isWhole;
    }
    return isWhole ? "taken" : "gap";
  }

  #extend(name, message, points) {
    const held = this.series.get(key(name, message.attempt, message.rank));
    if (!held) return true;
    const xs = points[this.axis];
    let last = held.step.at(-1) ?? -1;
    let isForward = true;
    points.step.forEach((raw, index) => {
      const step = number(raw);
      if (step <= last) { isForward = isForward && step === last; return; }
      const x = number(xs[index]);
      last = step;
      held.step.push(step);
      held.x.push(x);
      held.y.push(number(points.y[index]));
      this.numAppended += 1;
    });
    return isForward;
  }

  knows(name, attempt, rank = 0) {
    return this.series.has(key(name, attempt, rank));
  }

  named(name) {
    return [...this.series.values()]
      .filter((one) => one.name === name)
      .sort((a, b) => a.attempt - b.attempt || a.rank - b.rank);
  }
}
