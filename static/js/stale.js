// "Out of date since …" while the socket is down, so that nobody trusts a frozen page.
export function showStale(since) {
  for (const element of document.querySelectorAll("[data-stale]")) {
    element.hidden = since === null;
    const time = element.querySelector("time");
    if (since === null || !time) continue;
    time.dateTime = since.toISOString();
    time.textContent = since.toLocaleTimeString();
  }
}
