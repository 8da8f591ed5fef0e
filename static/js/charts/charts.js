// What every page of charts does: panels fetched as they come near, one axis, smoothing, zoom, few redraws.
// A subclass says which lines a panel has and what to ask the server.
import { ask } from "../ask.js";
import { Figure } from "./figure.js";
import { questions } from "./questions.js";
import { lasting, scaled } from "./values.js";

const REFETCH_WAIT_MS = 300; // several gaps in a row cost one request
const FIRST_RETRY_MS = 2000; // after a question without an answer; doubled each time
const LONGEST_RETRY_MS = 60000;
const SETTINGS_KEY = "safehold.charts";

export class Charts {
  constructor(root, syncKey) {
    this.root = root;
    this.syncKey = syncKey;
    this.settings = keptSettings();
    this.zoom = null;
    this.figures = [];
    this.isDirty = false;
    this.texts = JSON.parse(root.dataset.texts ?? "{}");
    this.#bindControls();
    this.onTheme = () => this.redraw();
    document.addEventListener("safehold:theme", this.onTheme);
    this.resizes = new ResizeObserver(() => this.figures.forEach((figure) => figure.resize()));
    this.resizes.observe(root);
    this.#watchPanels();
  }

  // For a subclass: the lines of a panel, as `lines` wants them.
  sources() { return []; }

  // For a subclass: where attempts begin, and the flags of checkpoints and alerts.
  attemptStarts() { return []; }

  flags() { return []; }

  // For a subclass: what an answer to `query(names)` brings.
  take() {}

  // For a subclass: panels were drawn for the first time.
  onFigures() {}

  get names() {
    return [...new Set(this.figures.flatMap((figure) => figure.names))];
  }

  // Ask again for everything that is drawn: after a gap, a reconnect, another axis or zoom.
  refetch() {
    this.refetchTimer ||= setTimeout(() => {
      this.refetchTimer = 0;
      this.fetch(this.figures);
    }, REFETCH_WAIT_MS);
  }

  zoomTo(zoom) {
    this.zoom = zoom;
    this.root.querySelector("[data-reset-zoom]").hidden = zoom === null;
    this.redraw();
    this.fetch(this.figures);
  }

  axisText(value) {
    if (value === undefined) return "";
    if (this.axis === "time") return this.isClock ? new Date(value).toLocaleString() : lasting(value / 1000);
    const [template, text] = this.axis === "step" ? [this.texts.step, value.toLocaleString()] : [this.texts.tokens, scaled(value)];
    return (template ?? "{n}").replace("{n}", text);
  }

  destroy() {
    this.isGone = true;
    clearTimeout(this.refetchTimer);
    clearTimeout(this.retryTimer);
    document.removeEventListener("safehold:theme", this.onTheme);
    this.resizes.disconnect();
    this.seen.disconnect();
    this.figures.forEach((figure) => figure.destroy());
  }

  // At the next frame; where drawing takes long the page rests for as long in between, so that it still answers.
  redraw() {
    if (this.isDirty) return;
    this.isDirty = true;
    const rest = (this.restedAt ?? 0) - performance.now();
    if (rest > 0) setTimeout(() => this.#drawNext(), rest);
    else this.#drawNext();
  }

  #drawNext() {
    requestAnimationFrame(() => {
      const begun = performance.now();
      this.isDirty = false;
      if (this.isGone) return;
      this.figures.forEach((figure) => figure.draw());
      // uPlot itself draws in a microtask.
      queueMicrotask(() => { this.restedAt = 2 * performance.now() - begun; });
    });
  }

  async fetch(figures) {
    const { zoom, settings: { axis } } = this;
    for (const names of questions(figures.flatMap((figure) => figure.names))) {
      const response = await ask(`${this.root.dataset.metricsUrl}${this.root.dataset.metricsUrl.includes("?") ? "&" : "?"}${this.#query(names)}`);
      // An answer to a question that nobody asks any more.
      if (this.isGone || axis !== this.settings.axis || zoom !== this.zoom) return;
      if (!response) { this.#askLater(); return; }
      this.#take(names, await response.json(), figures === this.figures);
    }
    this.retryMs = FIRST_RETRY_MS;
    this.redraw();
  }

  #take(names, answer, isWhole) {
    // Tokens became known: what is held by step is asked for again.
    const isFirstToKnow = this.axis === "step" && answer.x === "tokens" && !this.isAxisNew;
    this.take(names, answer, { isWhole, isFresh: this.isAxisNew || isFirstToKnow });
    this.isAxisNew = false;
    if (isFirstToKnow) this.refetch();
  }

  // What was asked for is not there: the page would go on with a hole that nothing tells of.
  #askLater() {
    this.retryMs ??= FIRST_RETRY_MS;
    this.retryTimer ||= setTimeout(() => {
      this.retryTimer = 0;
      this.fetch(this.figures);
    }, this.retryMs);
    this.retryMs = Math.min(2 * this.retryMs, LONGEST_RETRY_MS);
  }

  #query(names) {
    const query = new URLSearchParams(names.map((name) => ["names", name]));
    query.append("x", this.settings.axis);
    query.append("points", this.points);
    if (this.zoom) { query.append("from", Math.floor(this.zoom.min)); query.append("to", Math.ceil(this.zoom.max)); }
    return query;
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
      this.onFigures();
      this.fetch(fresh);
    }, { rootMargin: "300px" });
    // A subclass is not whole before its own constructor has run.
    queueMicrotask(() => this.root.querySelectorAll("[data-panel]").forEach((panel) => this.seen.observe(panel)));
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
    this.redraw();
  }

  #showSmoothing() {
    this.root.querySelector("[data-smoothing-value]").textContent = String(this.settings.smoothing);
  }
}

function keptSettings() {
  const standard = { axis: "tokens", smoothing: 0, isLog: false };
  return { ...standard, ...JSON.parse(sessionStorage.getItem(SETTINGS_KEY) ?? "{}") };
}
