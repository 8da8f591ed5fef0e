// A session that ended under an open page: the person signs in again in another tab and goes on here; nothing typed is lost.
const dialog = document.querySelector("[data-signed-out]");
const texts = document.querySelector("[data-status-region]")?.dataset;
const CHECK_AFTER_MS = 60000; // a form that was open for less is sent without asking first
let heardAt = Date.now();

const isSignedIn = async () => {
  const answer = await fetch("/session", { headers: { "HX-Request": "true" } }).catch(() => null);
  return answer === null || answer.status !== 401; // no answer is another trouble, told by whoever asks next
};

// A new session has a new token; the forms of this page hold the old one.
// Returns whether there is another one than before.
const tokenNow = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1];
let knownToken = tokenNow();
function renewTokens() {
  const token = tokenNow();
  if (!token || token === knownToken) return false;
  for (const field of document.querySelectorAll("input[name=csrfmiddlewaretoken]")) field.value = token;
  knownToken = token;
  return true;
}

async function goOn() {
  if (!(await isSignedIn())) return;
  renewTokens();
  heardAt = Date.now();
  dialog.close();
  document.dispatchEvent(new CustomEvent("safehold:signed-in"));
}

// A refused form: the session ended, or another tab began a new one, whose token this page does not hold yet.
async function explain() {
  if (!(await isSignedIn())) { tell(); return; }
  const isNew = renewTokens();
  // A page that asks again by itself says so by cancelling the event.
  if (isNew && !document.dispatchEvent(new CustomEvent("safehold:signed-in", { cancelable: true }))) return;
  if (isNew) tellAgain();
  else announce(texts.answered.replace("{status}", 403));
}

function tellAgain() {
  announce(texts.again);
}

function announce(detail) {
  document.dispatchEvent(new CustomEvent("safehold:announce", { detail }));
}

// A form that the browser itself sends, whatever htmx asks about it while somebody types.
function isPlain(form) {
  const isOfHtmx = form.hasAttribute("hx-post") && (form.getAttribute("hx-trigger") ?? "submit").includes("submit");
  return form.method === "post" && !isOfHtmx && !form.hasAttribute("hx-boost");
}

function tell() {
  if (!dialog.open) dialog.showModal();
}

if (dialog) {
  document.addEventListener("safehold:signed-out", tell);
  document.addEventListener("safehold:refused", (event) => { event.preventDefault(); explain(); });
  document.addEventListener("htmx:afterRequest", (event) => { if (event.detail.successful) heardAt = Date.now(); });
  dialog.querySelector("[data-go-on]").addEventListener("click", goOn);
  // Back from the other tab.
  document.addEventListener("visibilitychange", () => { if (!document.hidden && dialog.open) goOn(); });
  // A plain form would leave the page, and with it what was typed.
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (event.defaultPrevented || !isPlain(form)) return;
    if (renewTokens()) { // its own token would be refused
      event.preventDefault();
      return tellAgain();
    }
    if (Date.now() - heardAt < CHECK_AFTER_MS) return;
    event.preventDefault();
    const { submitter } = event;
    if (!(await isSignedIn())) return tell();
    heardAt = Date.now();
    form.dataset.confirmed = "1"; // what had to be asked was asked before
    form.requestSubmit(submitter);
    delete form.dataset.confirmed;
  });
}
