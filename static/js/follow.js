// A part of a page that asks for itself again and again, but never under an open question or out of sight.
// What a person folded stays folded.
for (const part of document.querySelectorAll("[data-follow-every]")) {
  let folded = [];
  setInterval(() => {
    if (!document.hidden && !document.querySelector("dialog[open]")) htmx.trigger(part, "refresh");
  }, Number(part.dataset.followEvery));
  part.addEventListener("htmx:beforeSwap", () => {
    folded = [...part.querySelectorAll("details[id]:not([open])")].map((details) => details.id);
  });
  part.addEventListener("htmx:afterSettle", () => {
    for (const id of folded) document.getElementById(id)?.removeAttribute("open");
  });
}
