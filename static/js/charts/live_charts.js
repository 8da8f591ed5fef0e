// The charts of one run: fetch, follow the socket, redraw at most ten times a second.
import { ask } from "../ask.js";
import { Figure } from "./figure.js";
import { Store } from "./store.js";
import { scaled } from "./values.js";

const POINTS = 1000; // about one a pixel of the widest panel
const DRAW_EVERY_MS = 100;
const REFETCH_WAIT_MS = 300; // several gaps in a row cost one request
const SETTINGS_KEY = "safehold.charts";
const THIN_AFTER = 3000; // points appended since the last answer: time to ask for a thinned curve

export class LiveCharts {
  constructor(root, onNames) {
    this.root = root;
    this.onNames = onNames; // the socket sends only what is drawn
    this.settings = keptSettings();
    this.zoom = null;
    this.syncKey = `run-${root.dataset.run}`;
    this.store = new Store();
    this.figures = [];
    this.isDirty = false;
    this.#bindControls();
    this.#watchPanels();
    this.onTheme = () => this.#redraw();
    document.addEventListener("safehold:theme", this.onTheme);
    this.resizes = new ResizeObserver(() => this.figures.forEach((figure) => figure.resize()));
    this.resizes.observe(root);
  }

  // From the socket: {"kind": "metrics"} or {"kind": "reload"}.
  receive(message) {
    if (message.kind === "reload") { this.refetch(); return; }
    if (this.zoom || this.store.axis === null) return;
    if (!this.store.append(message) || this.store.numAppended > THIN_AFTER) this.refetch();
    this.#redraw();
  }

  get names() {
    return [...new Set(this.figures.flatMap((figure) => figure.names))];
  }

  // Ask again for everything that is drawn: after a gap, a reconnect, another axis or zoom.
  refetch() {
    this.refetchTimer ||= setTimeout(() => {
      this.refetchTimer = 0;
      this.#fetch(this.figures);
    }, REFETCH_WAIT_MS);
  }

  zoomTo(zoom) {
    this.zoom = zoom;
    this.root.querySelector("[data-reset-zoom]").hidden = zoom === null;
    this.#redraw();
    this.#fetch(this.figures);
  }

  axisText(value) {
    if (value === undefined) return "";
    if (this.store.axis === "time") return new Date(value).toLocaleString();
    return this.store.axis === "step" ? `step ${value.toLocaleString()}` : `${scaled(value)} tokens`;
  }

  destroy() {
    this.isGone = true;
    clearTimeout(this.refetchTimer);
    document.removeEventListener("safehold:theme", this.onTheme);
    this.resizes.disconnect();
    this.seen.disconnect();
    this.figures.forEach((figure) => figure.destroy());
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
      this.onNames?.(this.names);
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
    const response = await ask(`${this.root.dataset.metricsUrl}?${query}`);
    // An answer to a question that nobody asks any more.
    if (this.isGone || asked !== this.settings.axis || zoom !== this.zoom || !response) return;
    const answer = await response.json();
    if (this.isAxisNew) this.store = new Store();
    this.isAxisNew = false;
    if (figures === this.figures) this.store.numAppended = 0;
    this.store.take(names, answer);
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
    const smoothing = root.querySelector("[data-smoothing]");
    const isLog = root.querySelector("[data-log-scale]");
    root.querySelector(`[data-axis] [value="${settings.axis}"]`).checked = true;
    smoothing.value = settings.smoothing;
    isLog.checked = settings.isLog;
    this.#showSmoothing();
    root.querySelector("[data-axis]").addEventListener("change", (event) => {
      this.#set({ axis: event.target.value });
      this.isAxisNew = true; // the old curves stay until the new ones are there
      this.zoomTo(null);
    });
    smoothing.addEventListener("input", () => this.#set({ smoothing: Number(smoothing.value) }));
    isLog.addEventListener("change", () => this.#set({ isLog: isLog.checked }));
    root.querySelector("[data-reset-zoom]").addEventListener("click", () => this.zoomTo(null));
  }

  #set(change) {
    Object.assign(this.settings, change);
    sessionStorage.setItem(SETTINGS_KEY, JSON.stringify(this.settings));
    this.#showSmoothing();
    this.#redraw();
  }

  #showSmoothing() {
    this.root.querySelector("[data-smoothing-value]").textContent = String(this.settings.smoothing);
  }
}

function keptSettings() {
  const standard = { axis: "tokens", smoothing: 0, isLog: false };
  return { ...standard, ...JSON.parse(sessionStorage.getItem(SETTINGS_KEY) ?? "{}") };
}
