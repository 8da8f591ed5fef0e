// The charts of one run: they follow the socket, and carry the flags of its checkpoints and alerts.
import { ask } from "../ask.js";
import { Charts } from "./charts.js";
import { Store } from "./store.js";
import { lineLook } from "./looks.js";

const MOST_HELD = 1000; // messages while the server is asked; beyond that it is asked again
const THIN_AFTER = 3000; // points appended since the last answer: time to ask for a thinned curve
const FLAGS_WAIT_MS = 1000; // a checkpoint tells of itself several times in a row

export class LiveCharts extends Charts {
  constructor(root, onNames) {
    super(root, `run-${root.dataset.run}`);
    this.onNames = onNames; // the socket sends only what is drawn
    this.points = 1000; // about one a pixel of the widest panel
    this.isClock = true;
    this.store = new Store();
    this.numAsked = 0;
    this.meanwhile = []; // messages since the oldest question that is not answered yet
    this.noted = [];
    this.#fetchFlags();
  }

  get axis() {
    return this.store.axis;
  }

  // From the socket: {"kind": "metrics"} or {"kind": "reload"}.
  receive(message) {
    if (message.kind === "reload") { this.refetch(); return; }
    if (this.zoom) return;
    if (this.numAsked > 0 && this.meanwhile.push(message) > MOST_HELD) { this.meanwhile = []; this.refetch(); }
    if (this.store.axis === null) return;
    const isWhole = this.store.append(message) || this.numAsked > 0;
    if (!isWhole || this.store.numAppended > THIN_AFTER) this.refetch();
    this.redraw();
  }

  // What comes while the server is asked is not in its answer, and continues it.
  async fetch(figures) {
    this.numAsked += 1;
    await super.fetch(figures).finally(() => { this.numAsked -= 1; });
    if (this.numAsked === 0) this.meanwhile = [];
  }

  // From the socket: a checkpoint or an event.
  receiveFlag() {
    this.flagTimer ||= setTimeout(() => {
      this.flagTimer = 0;
      this.#fetchFlags();
    }, FLAGS_WAIT_MS);
  }

  refetch() {
    super.refetch();
    this.receiveFlag();
  }

  sources(figure) {
    return figure.names.map((name, index) => ({ store: this.store, name, key: name, label: figure.labelOf(name), ...lineLook(index) }));
  }

  attemptStarts() {
    return this.store.attemptStarts();
  }

  flags(figure) {
    return this.noted.map((flag) => ({ ...flag, x: this.store.positionAt(figure.names, flag) })).filter(({ x }) => x !== null);
  }

  onFigures() {
    this.onNames?.(this.names);
  }

  take(names, answer, { isWhole, isFresh }) {
    if (isFresh) this.store = new Store();
    if (isWhole) this.store.numAppended = 0;
    this.store.take(names, answer);
    if (!this.meanwhile.every((message) => this.store.append(message, names))) this.refetch();
  }

  destroy() {
    super.destroy();
    clearTimeout(this.flagTimer);
  }

  async #fetchFlags() {
    const response = await ask(this.root.dataset.flagsUrl);
    if (this.isGone || !response) return;
    this.noted = (await response.json()).flags;
    this.redraw();
  }
}
