// A draft that was sent and became a config is no draft any more: the page of the config drops it.
const SENT = "draft-sent";

export function markSent(key) {
  try { sessionStorage.setItem(SENT, key); } catch { /* nothing is kept, nothing has to be dropped */ }
}

export function dropSent() {
  try {
    const key = sessionStorage.getItem(SENT);
    if (key && document.referrer.endsWith(key.slice(key.indexOf("/")))) sessionStorage.removeItem(key);
    sessionStorage.removeItem(SENT);
  } catch { /* as above */ }
}

if (document.querySelector("[data-config-page]")) dropSent();
