// Choosing a checkpoint from a list beside the field of its number: arrows and enter, or a click; the number may be
// typed as well. Without this script the list is not shown.
function options(picker) {
  return [...picker.querySelectorAll('[role="option"]')];
}

function activate(picker, option) {
  for (const one of options(picker)) one.setAttribute("aria-selected", String(one === option));
  const search = picker.querySelector('[role="combobox"]');
  if (option) search.setAttribute("aria-activedescendant", option.id);
  else search.removeAttribute("aria-activedescendant");
  option?.scrollIntoView({ block: "nearest" });
}

function move(picker, by) {
  const found = options(picker);
  if (!found.length) return;
  const at = found.findIndex((one) => one.getAttribute("aria-selected") === "true");
  activate(picker, found[at < 0 ? (by > 0 ? 0 : found.length - 1) : (at + by + found.length) % found.length]);
}

function choose(picker, option) {
  const field = document.getElementById(picker.dataset.picker);
  field.value = option.dataset.value;
  picker.open = false;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
}

for (const picker of document.querySelectorAll("[data-picker]")) {
  picker.hidden = false;
  const search = picker.querySelector('[role="combobox"]');
  picker.addEventListener("toggle", () => {
    if (!picker.open) return;
    search.focus();
    search.dispatchEvent(new CustomEvent("picker:open"));
  });
  // What is searched for is no part of the document: nothing is reckoned anew for it.
  search.addEventListener("input", (event) => event.stopPropagation());
  search.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") move(picker, event.key === "ArrowDown" ? 1 : -1);
    else if (event.key === "Enter") {
      const found = options(picker);
      const option = found.find((one) => one.getAttribute("aria-selected") === "true") ?? (found.length === 1 ? found[0] : null);
      if (option) choose(picker, option);
    } else return;
    event.preventDefault();
  });
  picker.addEventListener("click", (event) => {
    const option = event.target.closest('[role="option"]');
    if (option) choose(picker, option);
  });
  picker.addEventListener("htmx:afterSwap", () => activate(picker, null));
}
