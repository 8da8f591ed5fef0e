// htmx carries attributes from the old element to the new one for a moment; a style among them is an inline style,
// which the content policy refuses.
htmx.config.attributesToSettle = ["class"];
// htmx 2 swaps only 2xx by default: a refused form (422) comes back as a fragment with its errors.
htmx.config.responseHandling = [
  { code: "204", swap: false },
  { code: "[23]..", swap: true },
  { code: "422", swap: true, error: false },
  { code: "[45]..", swap: false, error: true },
];
function announce(word, status = "") {
  const detail = document.querySelector("[data-status-region]")?.dataset[word].replace("{status}", status);
  document.dispatchEvent(new CustomEvent("safehold:announce", { detail }));
}
document.addEventListener("htmx:responseError", (event) => {
  const { status } = event.detail.xhr;
  if (status === 401) { document.dispatchEvent(new CustomEvent("safehold:signed-out")); return; }
  // A session that ended is told by its dialog alone; whether it did is asked where a form was refused.
  if (document.querySelector("[data-signed-out]")?.open) return;
  if (status === 403 && !document.dispatchEvent(new CustomEvent("safehold:refused", { cancelable: true }))) return;
  announce(status === 0 ? "unreachable" : "answered", status);
});
for (const name of ["htmx:sendError", "htmx:timeout"]) document.addEventListener(name, () => announce("unreachable"));
