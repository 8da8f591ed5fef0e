// A small line of values in an SVG of 72 by 18; what is not finite is left out.
export function sparkline(svg, values) {
  const kept = values.map(Number).filter(Number.isFinite);
  if (kept.length < 2) return;
  const low = Math.min(...kept);
  const span = Math.max(...kept) - low || 1;
  const points = kept.map((value, index) => `${((index / (kept.length - 1)) * 72).toFixed(1)},${(16.5 - ((value - low) / span) * 15).toFixed(1)}`);
  const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  line.setAttribute("points", points.join(" "));
  svg.replaceChildren(line);
}
