// `/` search, `g` + letter to go, `j` `k` rows, enter to open, `?` help.
const places = { r: "runs", c: "cards", f: "configs", k: "checkpoints", p: "preflight", l: "cluster", s: "settings" };
const GO_WAIT_MS = 1200; // long enough to find the second key, short enough to forget a stray `g`
let goUntil = 0;

const typing = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;
const rows = () => [...document.querySelectorAll("tr[data-row]")].filter((row) => row.offsetParent !== null);

function go(key) {
  const link = document.querySelector(`[data-place="${places[key]}"]`);
  if (link) location.assign(link.href);
}

function select(step) {
  const all = rows();
  if (all.length === 0) return;
  const at = all.findIndex((row) => row.getAttribute("aria-selected") === "true");
  const next = Math.min(Math.max(at + step, 0), all.length - 1);
  all.forEach((row, index) => row.setAttribute("aria-selected", String(index === next)));
  all[next].scrollIntoView({ block: "nearest" });
}

function open() {
  document.querySelector('tr[data-row][aria-selected="true"] [data-row-link]')?.click();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.key === "Escape" && typing(event.target)) return event.target.blur();
  if (typing(event.target) || document.querySelector("dialog[open]")) return;
  if (Date.now() < goUntil && event.key in places) { goUntil = 0; return go(event.key); }
  const acts = {
    "/": () => { event.preventDefault(); document.querySelector("[data-search]")?.focus(); },
    "?": () => document.getElementById("keys")?.showModal(),
    g: () => { goUntil = Date.now() + GO_WAIT_MS; },
    j: () => select(1),
    k: () => select(-1),
    Enter: () => { if (event.target === document.body || event.target.id === "main") open(); },
  };
  acts[event.key]?.();
}

document.addEventListener("keydown", onKey);
document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-open-dialog]");
  if (opener) document.getElementById(opener.dataset.openDialog)?.showModal();
});
