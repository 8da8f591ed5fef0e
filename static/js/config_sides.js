// Form and TOML are two sides of one document: the one typed in last counts, the other follows.
const form = document.querySelector("[data-config-form]");
const side = form.querySelector("[data-side]");
const toml = form.querySelector("[data-toml-side]");

form.addEventListener("input", (event) => { side.value = event.target === toml ? "toml" : "form"; }, true);

// The text of a textarea cannot be swapped once it was typed in: its value is set instead.
document.addEventListener("htmx:afterSwap", (event) => {
  const update = event.detail.target.querySelector?.("[data-toml-update]");
  if (!update) return;
  toml.value = update.content.textContent;
  update.remove();
});
