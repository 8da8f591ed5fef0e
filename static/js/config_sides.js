// Form and TOML are two sides of one document: the one typed in last counts, the other follows.
// Until it has followed it takes no typing, or what stands in it would undo what was just typed.
// `base` is the TOML as a person wrote it: what is changed in the form is carried into it, so that comments stay.
const form = document.querySelector("[data-config-form]");
const side = form.querySelector("[data-side]");
const base = form.querySelector("[data-base]");
const toml = form.querySelector("[data-toml-side]");
const fields = form.querySelector("[data-form-side]");
const takeBack = form.querySelector("[data-take-back]");
const MOST_KEPT = 100;
const replaced = []; // what stood in TOML before the page wrote something else there
let readable = toml.value; // the last that could be read
if (isStale()) readable = base.value === toml.value ? "" : base.value;
let typed = 0;
let asked = 0;
base.disabled = false;

function isStale() {
  return form.querySelector("[data-form-stale]") !== null;
}

function wait(isWaiting) {
  toml.readOnly = isWaiting && side.value === "form";
  fields.inert = isStale() || (isWaiting && side.value === "toml");
  form.toggleAttribute("data-checking", isWaiting);
}

function write(text) {
  if (text === toml.value) return;
  replaced.push(toml.value);
  if (replaced.length > MOST_KEPT) replaced.shift();
  takeBack.hidden = false;
  toml.value = text;
}

function tell(element) {
  element.dispatchEvent(new Event("input", { bubbles: true }));
}

form.addEventListener("input", (event) => {
  if (event.target === toml) side.value = "toml";
  else if (fields.contains(event.target)) side.value = "form";
  typed += 1;
  wait(true);
}, true);

document.addEventListener("htmx:beforeRequest", (event) => { if (event.detail.elt === form) asked = typed; });
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.elt !== form || asked !== typed) return;
  if (event.detail.successful && side.value === "toml" && !isStale()) readable = base.value = toml.value;
  wait(false);
});
wait(false);
// A config is kept for good: once a press, and by no Enter in the middle of typing.
form.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  if (event.ctrlKey || event.metaKey) form.requestSubmit(form.querySelector("[data-keep]"));
  else if (!event.target.matches("input[type=text]")) return;
  event.preventDefault();
});
let isSent = false;
window.addEventListener("submit", (event) => { // after those who ask first whether somebody is signed in
  if (event.target !== form || event.defaultPrevented) return;
  if (isSent) event.preventDefault();
  isSent = true;
  if (isStale()) base.value = readable || base.value; // the next page can restore it too
});
window.addEventListener("pageshow", () => { isSent = false; });
// What was typed while nobody was signed in is checked once somebody is.
document.addEventListener("safehold:signed-in", (event) => { event.preventDefault(); tell(form); });

// What rules say stays open while one types: every answer brings the list anew.
let isListOpen = false;
document.addEventListener("toggle", (event) => {
  if (event.target.matches?.("[data-rule-notes]")) isListOpen = event.target.open;
}, true);
document.addEventListener("htmx:afterSwap", () => {
  const list = form.querySelector("[data-rule-notes]");
  if (list && isListOpen) list.open = true;
});

// A rule that can say which values would answer it offers to set them.
function setValues(values) {
  for (const [path, text] of Object.entries(values)) {
    const field = form.elements.namedItem(path);
    if (field) field.value = text;
  }
  tell(fields.querySelector("input"));
}

function goToLine(number) {
  const lines = toml.value.split("\n");
  const start = lines.slice(0, number - 1).join("\n").length + (number > 1 ? 1 : 0);
  toml.focus();
  toml.setSelectionRange(start, start + (lines[number - 1] ?? "").length);
  const height = parseFloat(getComputedStyle(toml).lineHeight);
  toml.scrollTop = Math.max(0, (number - 1) * height - toml.clientHeight / 2);
}

form.addEventListener("click", (event) => {
  const at = event.target.closest("[data-note-values], [data-line], [data-go-on-in-toml], [data-restore], [data-take-back]");
  if (!at) return;
  event.preventDefault();
  if (at.dataset.noteValues) setValues(JSON.parse(at.dataset.noteValues));
  else if (at.dataset.line) goToLine(Number(at.dataset.line));
  else if (at === takeBack) takeItBack();
  else if (at.matches("[data-restore]")) restore(at);
  else toml.focus();
});

// What was typed stays within reach: taking back brings it again. The buttons go, so the focus moves to the text.
function restore(button) {
  if (!readable) { button.form.requestSubmit(button); return; }
  write(readable);
  tell(toml);
  toml.focus();
}

function takeItBack() {
  toml.value = replaced.pop();
  takeBack.hidden = replaced.length === 0;
  tell(toml);
  toml.focus();
}

// The text of a textarea cannot be swapped once it was typed in: its value is set instead.
document.addEventListener("htmx:afterSwap", (event) => {
  const update = event.detail.target.querySelector?.("[data-toml-update]");
  if (!update) return;
  if (asked === typed) { write(update.content.textContent); readable = toml.value; }
  update.remove();
});
