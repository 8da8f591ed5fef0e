// The page of a run: one socket feeds whichever tab is open.
import { LiveCharts } from "./charts/live_charts.js";
import { LogView } from "./log_view.js";
import { LiveSocket } from "./socket.js";
import { showStale } from "./stale.js";

const page = document.querySelector("[data-run-page]");
const header = document.querySelector("[data-run-header]");
const HEADER_EVERY_MS = 1000;
const FIGURES_EVERY_MS = 2000; // of the header; asked for once a second they would be most of what a server does for its open pages
const TAB_EVERY_MS = 2000;
const BEAT_MS = 5000; // what a lost message can cost
const NAMES_EVERY_MS = 1000; // the ranks of a run log a name for the first time one after another
const TABS_THAT_FOLLOW = new Set(["timeline", "attempts", "checkpoints"]);
let part = null;
let socket = null;
let headerTimer = 0;
let headerDue = 0;
let tabTimer = 0;
let namesTimer = 0;

function openTab() {
  part?.destroy();
  part = null;
  const charts = page.querySelector("[data-live-charts]");
  const logs = page.querySelector("[data-log-view]");
  if (charts) part = new LiveCharts(charts, (names) => socket?.send({ names }));
  else if (logs) part = new LogView(logs);
}

// State and figures come from the server's own words; the message only says that it is time.
function refreshHeader(wait = HEADER_EVERY_MS) {
  const due = performance.now() + wait;
  if (headerTimer && headerDue <= due) return;
  clearTimeout(headerTimer);
  headerDue = due;
  headerTimer = setTimeout(() => {
    headerTimer = 0;
    if (!isInUse()) htmx.trigger(header, "refresh");
  }, wait);
}

// A dialog asks about a form of this header, a menu of it is open, or somebody types in it: leave it where it is.
function isInUse() {
  const fields = [...header.querySelectorAll('input:not([type="hidden"])')];
  const isOpen = document.querySelector("dialog[open]") ?? header.querySelector("details[data-menu][open]");
  return isOpen !== null || fields.some((field) => field.value !== "");
}

function refreshTab() {
  const tab = page.querySelector("[data-tab]").dataset.tab;
  if (!TABS_THAT_FOLLOW.has(tab)) return;
  tabTimer ||= setTimeout(() => {
    tabTimer = 0;
    if (document.querySelector("dialog[open]")) return;
    const body = page.querySelector("[data-follow]");
    if (body) htmx.trigger(body, "refresh");
  }, TAB_EVERY_MS);
}

function onMessage(message) {
  if (message.kind === "metrics" || message.kind === "reload") part?.receive?.(message);
  else if (message.kind === "log") part?.receiveLog?.(message);
  else if (message.kind === "names") makeRoom(message.items.flatMap(({ names }) => names));
  else {
    if (message.kind !== "state") part?.receiveFlag?.();
    refreshTab();
  }
  if (message.kind !== "log") refreshHeader(message.kind === "metrics" ? FIGURES_EVERY_MS : HEADER_EVERY_MS);
}

function onOpen() {
  if (part?.names) socket.send({ names: part.names });
  part?.refetch?.();
  refreshHeader();
  refreshTab();
}

// A metric that was logged for the first time needs a panel: draw the tab anew.
function makeRoom(names) {
  const known = new Set([...page.querySelectorAll("[data-panel]")].flatMap((panel) => JSON.parse(panel.dataset.names)));
  if (names.every((name) => known.has(name)) || namesTimer) return;
  drawCharts();
  namesTimer = setTimeout(() => { namesTimer = 0; refreshHeader(); }, NAMES_EVERY_MS);
}

// What the socket did not tell, the header does.
function lookForNewNames() {
  const seen = header.querySelector("[data-num-names]")?.dataset.numNames;
  const drawn = page.querySelector("[data-live-charts]")?.dataset.numNames;
  if (seen !== undefined && drawn !== undefined && seen !== drawn) drawCharts();
}

function drawCharts() {
  const charts = page.querySelector("[data-live-charts]");
  if (charts && !part?.zoom) htmx.ajax("GET", charts.dataset.tabUrl, { target: "#run-tab", swap: "innerHTML" });
}

if (page) {
  openTab();
  document.addEventListener("htmx:beforeSwap", (event) => { if (event.detail.requestConfig.elt === header && isInUse()) event.detail.shouldSwap = false; });
  setInterval(() => { if (!document.hidden) refreshHeader(); }, BEAT_MS);
  document.addEventListener("htmx:afterSettle", (event) => { if (event.detail.target.id === "run-header") lookForNewNames(); });
  document.addEventListener("htmx:afterSettle", (event) => { if (event.detail.target.id === "run-tab") openTab(); });
  socket = new LiveSocket(`/ws/runs/${page.dataset.runPage}/`, { onMessage, onOpen, onState: showStale });
}
