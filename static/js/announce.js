// Tells results in the page's status region, for eyes and screen readers.
const region = document.querySelector("[data-status-region] p");
let timer = 0;

export function announce(text) {
  if (!region) return;
  region.textContent = text;
  clearTimeout(timer);
  timer = setTimeout(() => { region.textContent = ""; }, 6000);
}

document.addEventListener("safehold:announce", (event) => announce(event.detail));
document.addEventListener("htmx:afterSwap", (event) => {
  const said = event.detail.xhr?.getResponseHeader("X-Announce");
  if (said) announce(decodeURIComponent(said));
});
