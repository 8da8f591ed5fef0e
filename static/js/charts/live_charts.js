// The charts of one run: fetch, follow the socket, redraw at most ten times a second.
import { Figure } from "./figure.js";
import { Store } from "./store.js";
import { scaled } from "./values.js";

const POINTS = 1000; // about one a pixel of the widest panel
const DRAW_EVERY_MS = 100;
const REFETCH_WAIT_MS = 300; // several gaps in a row cost one request
const THIN_AFTER = 3000; // points appended since the last answer: time to ask for a thinned curve

export class LiveCharts {
  constructor(root) {
    this.root = root;
    this.settings = { axis: "tokens", smoothing: 0, isLog: false };
    this.zoom = null;
    this.syncKey = `run-${root.dataset.run}`;
    this.store = new Store(this.settings.axis);
    this.figures = [];
    this.isDirty = false;
    this.#bindControls();
    this.#watchPanels();
    this.onTheme = () => this.#redraw();
    document.addEventListener("safehold:theme", this.onTheme);
    this.resizes = new ResizeObserver(() => this.figures.forEach((figure) => figure.resize()));
    this.resizes.observe(root);
  }

  // From the socket.
  receive(message) {
    if (this.zoom) return;
    const result = this.store.append(message);
    if (result === "gap") this.refetch();
    if (result === "old") return;
    const isNew = Object.keys(message.points).some((name) => this.#draws(name) && !this.store.knows(name, message.attempt, message.rank));
    if (isNew || this.store.numAppended > THIN_AFTER) this.refetch();
    this.#redraw();
  }

  // Ask again for everything that is drawn: after a gap, a reconnect, another axis or zoom.
  refetch() {
    clearTimeout(this.refetchTimer);
    this.refetchTimer = setTimeout(() => this.#fetch(this.figures), REFETCH_WAIT_MS);
  }

  zoomTo(zoom) {
    this.zoom = zoom;
    this.root.querySelector("[data-reset-zoom]").hidden = zoom === null;
    this.#redraw();
    this.#fetch(this.figures);
  }

  axisText(value) {
    if (value === undefined) return "";
    if (this.settings.axis === "time") return new Date(value).toLocaleString();
    return this.settings.axis === "step" ? `step ${value.toLocaleString()}` : `${scaled(value)} tokens`;
  }

  destroy() {
    this.isGone = true;
    clearTimeout(this.refetchTimer);
    document.removeEventListener("safehold:theme", this.onTheme);
    this.resizes.disconnect();
    this.seen.disconnect();
    this.figures.forEach((figure) => figure.destroy());
  }

  #draws(name) {
    return this.figures.some((figure) => figure.names.includes(name));
  }

  // A panel costs a request only once it comes near the window.
  #watchPanels() {
    this.seen = new IntersectionObserver((entries) => {
      const fresh = entries.filter((entry) => entry.isIntersecting && !entry.target.figure).map((entry) => {
        entry.target.figure = new Figure(entry.target, this);
        return entry.target.figure;
      });
      if (fresh.length === 0) return;
      this.figures.push(...fresh);
      this.#fetch(fresh);
    }, { rootMargin: "300px" });
    this.root.querySelectorAll("[data-panel]").forEach((panel) => this.seen.observe(panel));
  }

  async #fetch(figures) {
    const names = [...new Set(figures.flatMap((figure) => figure.names))];
    if (names.length === 0) return;
    const asked = this.settings.axis;
    const query = new URLSearchParams(names.map((name) => ["names", name]));
    query.append("x", asked);
    query.append("points", POINTS);
    if (this.zoom) { query.append("from", Math.floor(this.zoom.min)); query.append("to", Math.ceil(this.zoom.max)); }
    const zoom = this.zoom;
    const response = await fetch(`${this.root.dataset.metricsUrl}?${query}`);
    // An answer to a question that nobody asks any more.
    if (this.isGone || asked !== this.settings.axis || zoom !== this.zoom || !response.ok) return;
    const answer = await response.json();
    if (figures === this.figures) this.store.numAppended = 0;
    this.store.forget(names);
    this.store.take(answer);
    this.#redraw();
  }

  #redraw() {
    if (this.isDirty) return;
    this.isDirty = true;
    const wait = Math.max(0, DRAW_EVERY_MS - (performance.now() - (this.drawnAt ?? -DRAW_EVERY_MS)));
    setTimeout(() => requestAnimationFrame(() => {
      this.isDirty = false;
      this.drawnAt = performance.now();
      if (!this.isGone) this.figures.forEach((figure) => figure.draw());
    }), wait);
  }

  #bindControls() {
    const { root, settings } = this;
    root.querySelector("[data-axis]").addEventListener("change", (event) => {
      settings.axis = event.target.value;
      this.store = new Store(settings.axis);
      this.zoomTo(null);
    });
    root.querySelector("[data-smoothing]").addEventListener("input", (event) => {
      settings.smoothing = Number(event.target.value);
      root.querySelector("[data-smoothing-value]").textContent = settings.smoothing.toFixed(2).replace(/\.?0+$/, "") || "0";
      this.#redraw();
    });
    root.querySelector("[data-log-scale]").addEventListener("change", (event) => {
      settings.isLog = event.target.checked;
      this.#redraw();
    });
    root.querySelector("[data-reset-zoom]").addEventListener("click", () => this.zoomTo(null));
  }
}
