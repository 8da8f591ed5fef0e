// Copies what is shown once. The clipboard needs a secure page; without it the field is selected for the person.
import { announce } from "./announce.js";

for (const button of document.querySelectorAll("[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      announce(button.dataset.copied);
    } catch {
      field.focus();
    }
  });
}
