// Forms that ask the server while one types: what was typed before anything listened is asked about once it does.
const isTouched = (field) => "defaultValue" in field && (field.value !== field.defaultValue || field.checked !== field.defaultChecked);

document.addEventListener("DOMContentLoaded", () => { // htmx listens from this event on
  for (const form of document.querySelectorAll('form[hx-trigger^="input"]')) {
    const touched = [...form.elements].findLast((field) => field.type !== "hidden" && !field.hidden && isTouched(field));
    touched?.dispatchEvent(new Event("input", { bubbles: true }));
  }
});
