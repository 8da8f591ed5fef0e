// Form and TOML are two sides of one document: the one typed in last counts, the other follows.
// Until it has followed it takes no typing, or what stands in it would undo what was just typed.
const form = document.querySelector("[data-config-form]");
const side = form.querySelector("[data-side]");
const toml = form.querySelector("[data-toml-side]");
const fields = form.querySelector("[data-form-side]");
let typed = 0;
let asked = 0;

function wait(isWaiting) {
  toml.readOnly = isWaiting && side.value === "form";
  fields.disabled = isWaiting && side.value === "toml";
}

form.addEventListener("input", (event) => {
  if (event.target === toml) side.value = "toml";
  else if (fields.contains(event.target)) side.value = "form";
  typed += 1;
  wait(true);
}, true);

document.addEventListener("htmx:beforeRequest", (event) => { if (event.detail.elt === form) asked = typed; });
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.elt === form && asked === typed) wait(false);
});

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
form.addEventListener("click", (event) => {
  const offer = event.target.closest("[data-note-values]");
  if (!offer) return;
  for (const [path, text] of Object.entries(JSON.parse(offer.dataset.noteValues))) {
    const field = form.elements.namedItem(path);
    if (field) field.value = text;
  }
  fields.querySelector("input").dispatchEvent(new Event("input", { bubbles: true }));
});

// The text of a textarea cannot be swapped once it was typed in: its value is set instead.
document.addEventListener("htmx:afterSwap", (event) => {
  const update = event.detail.target.querySelector?.("[data-toml-update]");
  if (!update) return;
  if (asked === typed) toml.value = update.content.textContent;
  update.remove();
});
