// When a part of the page is replaced under the focus, the focus goes along: who works by keyboard stays in place.
const PLACES = "a[href], button, input, select, textarea, summary, [tabindex]";
const placesIn = (root) => [...root.querySelectorAll(PLACES)];
const nameOf = (place) => [place.tagName, place.name, place.value, place.textContent.trim()].join(" ");

// Returns a function that gives the focus to the same place in what came instead; it does nothing where the focus stood elsewhere.
export function focusIn(root) {
  const places = placesIn(root);
  const at = places.indexOf(document.activeElement);
  if (at < 0) return () => {};
  const name = nameOf(places[at]);
  return (fresh) => {
    if (document.activeElement !== document.body) return;
    const now = placesIn(fresh);
    const beside = now[at]?.tagName === places[at].tagName ? now[at] : null;
    (now.find((place) => nameOf(place) === name) ?? beside)?.focus({ preventScroll: true });
  };
}

let giveBack = () => {};
document.addEventListener("htmx:beforeSwap", (event) => { giveBack = focusIn(event.detail.target); });
document.addEventListener("htmx:afterSwap", (event) => { giveBack(event.detail.target); giveBack = () => {}; });
