// What was typed and not kept is within reach again after the page was left: in this tab only, for this person only.
import { markSent } from "./config_kept.js";

const form = document.querySelector("[data-config-form]");
const offer = document.querySelector("[data-draft]");
const toml = form.querySelector("[data-toml-side]");
const key = `draft:${offer.dataset.draft}:${location.pathname}${location.search}`;
const start = toml.value;

const read = () => { try { return sessionStorage.getItem(key); } catch { return null; } };
function keep(text) {
  try {
    if (text === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, text);
  } catch { /* the browser keeps nothing: nothing is offered later */ }
}

const left = read();
const isAnswer = "answered" in form.dataset; // what was sent stands here already
if (left !== null && left !== start && !isAnswer) offer.hidden = false;

offer.querySelector("[data-draft-back]").addEventListener("click", () => {
  offer.hidden = true;
  toml.value = left;
  toml.dispatchEvent(new Event("input", { bubbles: true }));
  toml.focus();
});
offer.querySelector("[data-draft-drop]").addEventListener("click", () => { offer.hidden = true; keep(null); });

form.addEventListener("input", () => { offer.hidden = true; });
const keepNow = () => { if (toml.value !== start || isAnswer) keep(toml.value); };
form.addEventListener("input", keepNow);
document.addEventListener("htmx:afterSettle", keepNow);
form.addEventListener("submit", () => { keep(toml.value); markSent(key); });
