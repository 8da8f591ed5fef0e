// Keeps the table of runs in step: the socket says which run changed, the page fetches its line.
import "./run_selection.js";
import { ask } from "./ask.js";
import { focusIn } from "./focus.js";
import { LiveSocket } from "./socket.js";
import { showStale } from "./stale.js";

const table = document.querySelector("[data-run-table]");
const EVERY_MS = 1000; // one request for all changed lines at most this often
const MOST_LINES = 50; // of one request
const RETRY_MS = 10000;
const changed = new Set();
let timer = 0;

const rowOf = (run) => document.getElementById(`run-${run}`);
const shownRuns = () => [...table.querySelectorAll("tr[data-run]")].map((row) => row.dataset.run);
const newest = table ? Math.max(0, ...shownRuns().map(Number)) : 0;
// A run that is not shown is new, or stands on another page of the list.
const belongs = (run) => rowOf(run) || (table.hasAttribute("data-takes-new") && Number(run) > newest);

async function fetchRows() {
  timer = 0;
  const wanted = [...changed].filter(belongs);
  const runs = wanted.splice(0, MOST_LINES);
  changed.clear();
  wanted.forEach(note);
  if (runs.length === 0) return;
  const query = new URLSearchParams(runs.map((run) => ["run", run]));
  const response = await ask(`${table.dataset.rowsUrl}?${query}`);
  if (response) takeRows(await response.text());
  else setTimeout(() => runs.forEach(note), RETRY_MS);
}

function takeRows(html) {
  const body = document.createElement("tbody");
  body.innerHTML = html;
  for (const fresh of [...body.rows].reverse()) { // the newest, which comes first, goes on top last
    const old = document.getElementById(fresh.id);
    if (!old) { table.tBodies[0].prepend(fresh); continue; }
    if (old.hasAttribute("aria-selected")) fresh.setAttribute("aria-selected", old.getAttribute("aria-selected"));
    const giveBack = focusIn(old);
    old.replaceWith(fresh);
    giveBack(fresh);
  }
  document.dispatchEvent(new CustomEvent("safehold:swapped"));
}

function note(run) {
  changed.add(String(run));
  if (!timer) timer = setTimeout(fetchRows, EVERY_MS);
}

if (table) {
  new LiveSocket(`/ws/projects/${table.dataset.project}/`, {
    onMessage: (message) => Object.keys(message.rows ?? {}).forEach(note),
    onOpen: () => shownRuns().forEach(note),
    onState: showStale,
  });
}
