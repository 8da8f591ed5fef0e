// htmx 2 swaps only 2xx by default: a refused form (422) comes back as a fragment with its errors.
htmx.config.responseHandling = [
  { code: "204", swap: false },
  { code: "[23]..", swap: true },
  { code: "422", swap: true, error: false },
  { code: "[45]..", swap: false, error: true },
];
document.addEventListener("htmx:responseError", (event) => {
  const text = event.detail.xhr.status === 0 ? "The server cannot be reached." : `The server answered ${event.detail.xhr.status}.`;
  document.dispatchEvent(new CustomEvent("safehold:announce", { detail: text }));
});
document.addEventListener("htmx:sendError", () => {
  document.dispatchEvent(new CustomEvent("safehold:announce", { detail: "The server cannot be reached." }));
});
// A session that has ended redirects to the sign-in page: that is a page, not a part of one.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (!event.detail.xhr.responseURL.startsWith(`${location.origin}/sign-in`)) return;
  event.detail.shouldSwap = false;
  location.reload();
});
