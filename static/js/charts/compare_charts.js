// The curves of several runs over each other: one metric a panel, one line a run.
import { Charts } from "./charts.js";
import { lineLook } from "./looks.js";
import { Store } from "./store.js";

const MOST_POINTS = 10_000; // of all runs together in one panel: what a browser draws without effort
const REFRESH_MS = 10_000;

export class CompareCharts extends Charts {
  constructor(root) {
    super(root, "compare");
    this.runs = JSON.parse(root.dataset.runs);
    this.points = Math.max(100, Math.min(1000, Math.floor(MOST_POINTS / this.runs.length)));
    this.stores = new Map(this.runs.map(({ id }) => [id, new Store()]));
    this.hidden = new Set();
    this.axis = null;
    this.timer = setInterval(() => { if (!document.hidden && !this.zoom && this.#isMoving()) this.refetch(); }, REFRESH_MS);
    this.#bindLegend();
  }

  sources(figure) {
    const [name] = figure.names;
    return this.runs.map((run, index) => ({ store: this.stores.get(run.id), name, key: String(run.id), label: run.name, ...lineLook(index) }))
      .filter(({ key }) => !this.hidden.has(key));
  }

  take(names, answer, { isFresh }) {
    if (isFresh) { this.stores = new Map(this.runs.map(({ id }) => [id, new Store()])); this.axis = null; }
    this.axis ??= answer.x;
    for (const chart of answer.charts) this.stores.get(chart.run)?.take(names, chart);
  }

  destroy() {
    super.destroy();
    clearInterval(this.timer);
  }

  #isMoving() {
    return this.runs.some((run) => run.is_active);
  }

  #bindLegend() {
    for (const box of document.querySelectorAll("[data-legend-run]")) {
      const change = () => { if (box.checked) this.hidden.delete(box.value); else this.hidden.add(box.value); };
      change(); // a browser keeps what was ticked across a reload
      box.addEventListener("change", () => { change(); this.redraw(); });
    }
  }
}
