// One panel: a uPlot chart with its readings in the head.
import { colour } from "./colours.js";
import { flagsPlugin } from "./flags.js";
import { lines } from "./lines.js";
import { marksPlugin } from "./marks.js";
import { formatter, logTicks, ticks } from "./values.js";

const HEIGHT = 196;

// A scale of bytes is cut where a whole number of KiB, MiB or GiB stands, not at round decimals.
const POWERS_OF_TWO = Array.from({ length: 51 }, (_, power) => 2 ** power);
const steps = (unit) => (unit === "bytes" ? { incrs: POWERS_OF_TWO } : {});

export class Figure {
  constructor(element, page) {
    this.element = element;
    this.page = page;
    this.names = JSON.parse(element.dataset.names);
    this.format = formatter(element.dataset.unit);
    this.canvas = element.querySelector("[data-canvas]");
    this.readings = element.querySelector("[data-readings]");
    this.sources = [];
    this.drawn = { columns: [[]], styles: [], marks: [] };
    this.shape = "";
  }

  // New points, another smoothing, another theme: all come through here.
  draw() {
    const { axis, settings, zoom } = this.page;
    this.sources = this.page.sources(this);
    this.drawn = lines(this.sources, settings);
    const isEmpty = this.drawn.columns[0].length === 0;
    this.element.toggleAttribute("data-empty", isEmpty);
    if (isEmpty) { this.destroy(); return; }
    const shape = JSON.stringify([this.drawn.styles, axis, settings.isLog, document.documentElement.dataset.bsTheme]);
    if (!this.plot || shape !== this.shape) this.#build(shape);
    else this.plot.setData(this.drawn.columns, true);
    if (zoom) this.plot.setScale("x", zoom);
    this.#read(null);
  }

  destroy() {
    this.plot?.destroy();
    this.plot = null;
  }

  resize() {
    if (this.plot) this.plot.setSize({ width: this.canvas.clientWidth, height: HEIGHT });
  }

  #build(shape) {
    this.destroy();
    this.shape = shape;
    this.plot = new uPlot(this.#options(), this.drawn.columns, this.canvas);
    this.plot.over.addEventListener("dblclick", () => this.page.zoomTo(null));
    this.canvas.dataset.drawn = "true";
  }

  #options() {
    const { settings } = this.page;
    const isTime = this.page.axis === "time" && this.page.isClock;
    const along = (u, splits) => (this.page.axis === "time" ? ticks(splits.map((value) => value / 1000), "seconds") : ticks(splits));
    const up = settings.isLog ? logTicks : ticks;
    const axis = { stroke: colour("--chart-axis"), font: "11px system-ui, sans-serif", grid: { stroke: colour("--chart-grid"), width: 1 }, ticks: { show: false } };
    return {
      width: this.canvas.clientWidth || 320,
      height: HEIGHT,
      ms: 1,
      padding: [8, 18, 0, 0],
      legend: { show: false },
      cursor: {
        sync: { key: this.page.syncKey, setSeries: false, scales: ["x", null] },
        drag: { x: true, y: false, setScale: false },
        points: { size: 5 },
        y: false,
      },
      scales: { x: { time: isTime }, y: { distr: settings.isLog ? 3 : 1, range: settings.isLog ? paddedLog : padded } },
      axes: [
        isTime ? { ...axis, size: 28 } : { ...axis, size: 28, space: 70, values: along },
        { ...axis, size: 60, space: 34, ...steps(this.element.dataset.unit), values: (u, splits) => up(splits, this.element.dataset.unit) },
      ],
      series: [{}, ...this.drawn.styles.map(({ stroke, width, dash }) => ({ stroke, width, dash, points: { size: 3.5 } }))],
      plugins: [
        marksPlugin(() => ({ attempts: this.page.attemptStarts(), marks: this.drawn.marks })),
        flagsPlugin(() => this.page.flags(this), this.page.texts),
      ],
      hooks: {
        setCursor: [(u) => this.#read(u.cursor.idx)],
        setSelect: [(u) => this.#select(u)],
      },
    };
  }

  #select(u) {
    if (u.select.width < 4) return;
    const min = u.posToVal(u.select.left, "x");
    const max = u.posToVal(u.select.left + u.select.width, "x");
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.page.zoomTo({ min, max });
  }

  // What tells the names of a panel apart: the part that differs; the unit stands on the axis.
  labelOf(name) {
    return distinct(name, this.names).replace(/_bytes$/, "");
  }

  // The values under the cursor; without one, the last.
  #read(index) {
    const texts = this.sources.map(({ key, label, toneNumber }) => {
      const value = this.#valueOf(key, index);
      return value === undefined ? "" : `<span class="reading reading-${toneNumber}"><i></i><span class="reading-name" title="${escape(label)}">${escape(label)}</span> <b>${this.format(value)}</b></span>`;
    });
    const at = index === null || index === undefined ? "" : `<span class="reading reading-x">${this.page.axisText(this.drawn.columns[0][index])}</span>`;
    this.readings.innerHTML = at + texts.join("");
  }

  #valueOf(key, index) {
    let best;
    let bestAt = -1;
    const end = index ?? this.drawn.columns[0].length - 1;
    this.drawn.styles.forEach((style, column) => {
      if (style.key !== key || style.isExtra) return;
      const values = this.drawn.columns[column + 1];
      for (let at = end; at > bestAt; at -= 1) {
        if (values[at] !== null && values[at] !== undefined) { best = values[at]; bestAt = at; break; }
      }
    });
    return best;
  }
}

// A margin of 5 %, and some room around a line that does not move.
function padded(u, low, high) {
  if (low === null) return [0, 1];
  const room = high > low ? (high - low) * 0.05 : Math.abs(high) * 0.05 || 1;
  return [low - room, high + room];
}

function paddedLog(u, low, high) {
  return low === null ? [0.1, 1] : [low / 1.1, high * 1.1];
}

function distinct(name, names) {
  return names.length > 1 && names.every((other) => other.includes("/")) && new Set(names.map((n) => n.split("/")[0])).size === names.length
    ? name.split("/")[0]
    : name.split("/").slice(1).join("/") || name;
}

function escape(text) {
  const span = document.createElement("span");
  span.textContent = text;
  return span.innerHTML.replaceAll('"', "&quot;");
}
