// Asks before a form with data-confirm is sent, or by a button with it: object and effect are in its attributes.
// Without script the form is simply sent.
const dialog = document.querySelector("[data-confirm-dialog]");
const yes = dialog?.querySelector("[data-confirm-yes]");
let waiting = null;

function ask(form, submitter, { confirm, confirmText, confirmYes, confirmTone }) {
  waiting = { form, submitter };
  dialog.querySelector("[data-confirm-title]").textContent = confirm;
  dialog.querySelector("[data-confirm-text]").textContent = confirmText ?? "";
  yes.textContent = confirmYes ?? "OK";
  yes.className = confirmTone === "danger" ? "btn btn-danger" : "btn btn-primary";
  dialog.showModal();
  dialog.querySelector("[data-confirm-no]").focus();
}

if (dialog) {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    const asking = event.submitter?.dataset.confirm ? event.submitter : form;
    if (!asking.dataset.confirm || form.dataset.confirmed) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    ask(form, event.submitter, asking.dataset);
  }, true);
  // A part of the page that asks for itself again does not take the form away that the question is about.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (dialog.open && event.detail.target.contains(waiting.form)) event.detail.shouldSwap = false;
  });
  dialog.querySelector("[data-confirm-no]").addEventListener("click", () => dialog.close());
  yes.addEventListener("click", () => {
    const { form, submitter } = waiting;
    dialog.close();
    form.dataset.confirmed = "1";
    form.requestSubmit(submitter);
    delete form.dataset.confirmed;
  });
}
