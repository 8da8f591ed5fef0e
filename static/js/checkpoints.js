// A wide lineage opens where the checkpoint of the page stands, not at its left end.
const frame = document.querySelector("[data-lineage]");
const current = frame?.querySelector("[aria-current] .halo");
if (current) {
  const left = current.getBoundingClientRect().left - frame.getBoundingClientRect().left;
  frame.scrollLeft = Math.max(0, left - frame.clientWidth / 2);
}
