// Filters apply as they are chosen; text on enter, or when it is cleared.
for (const form of document.querySelectorAll("form[data-auto-submit]")) {
  form.addEventListener("change", (event) => { if (event.target.type !== "search") form.requestSubmit(); });
  form.addEventListener("search", () => form.requestSubmit());
  // Not every browser knows that event, and none sends a form of several fields by enter that has no button.
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target.type !== "search" || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  // Keeps the address short: a filter that is not set does not stand in it.
  form.addEventListener("formdata", (event) => {
    for (const [name, value] of [...event.formData]) if (value === "") event.formData.delete(name);
  });
}
