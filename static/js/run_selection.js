// Choosing runs in the list: boxes, `x` on the chosen row; what is chosen is kept across pages of the list.
const form = document.querySelector("[data-selection]");
const table = document.querySelector("[data-run-table]");
const KEY = `safehold.selection.${form?.dataset.selection}`;
const chosen = new Set(JSON.parse(sessionStorage.getItem(KEY) ?? "[]"));

const boxes = () => [...table.querySelectorAll("input[data-pick]")];

function show() {
  for (const box of boxes()) box.checked = chosen.has(box.value);
  const isAny = chosen.size > 0;
  form.hidden = !isAny;
  form.querySelector("[data-selection-count]").textContent = chosen.size;
  for (const button of form.querySelectorAll("[data-least]")) button.disabled = chosen.size < Number(button.dataset.least);
  const shown = new Set(boxes().map((box) => box.value));
  form.querySelector("[data-selection-elsewhere]").replaceChildren(...[...chosen].filter((run) => !shown.has(run)).map(field));
  sessionStorage.setItem(KEY, JSON.stringify([...chosen]));
}

// Runs of other pages go with the form too.
function field(run) {
  const input = document.createElement("input");
  input.type = "hidden";
  input.name = "run";
  input.value = run;
  return input;
}

function pick(box, isChosen) {
  if (isChosen) chosen.add(box.value);
  else chosen.delete(box.value);
  show();
}

function onKey(event) {
  if (event.key !== "x" || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input:not([data-pick]), textarea, select")) return;
  const box = table.querySelector('tr[aria-selected="true"] input[data-pick]');
  if (box) pick(box, !chosen.has(box.value));
}

if (form && table) {
  table.addEventListener("change", (event) => { if (event.target.matches("[data-pick]")) pick(event.target, event.target.checked); });
  document.addEventListener("keydown", onKey);
  document.addEventListener("safehold:swapped", show);
  form.querySelector("[data-selection-clear]").addEventListener("click", () => { chosen.clear(); show(); });
  // An act on the chosen runs is done with them; a comparison leaves the choice for the way back.
  form.addEventListener("submit", (event) => { if (event.submitter?.hasAttribute("data-ends-selection")) sessionStorage.removeItem(KEY); });
  show();
}
