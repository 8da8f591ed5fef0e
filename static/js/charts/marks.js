// A uPlot plugin: where attempts begin, and where a value was NaN or infinite.
import { colour } from "./colours.js";

export function marksPlugin(read) {
  return { hooks: { draw: (u) => draw(u, read()) } };
}

function draw(u, { attempts, marks }) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width + 8 * devicePixelRatio, bbox.height); // a mark at the newest step stands whole
  ctx.clip();
  ctx.textAlign = "left";
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  for (const attempt of attempts) drawAttempt(u, attempt);
  for (const mark of marks) drawNotFinite(u, mark);
  ctx.restore();
}

function drawAttempt(u, { attempt, x }) {
  
  const { ctx, bbox } = u;
  const left = Math.round(u.valToPos(x, "x", true)) + 0.5;
  ctx.strokeStyle = colour("--chart-mark");
  ctx.fillStyle = colour("--ink-3");
  ctx.setLineDash([4, 3]);
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(left, bbox.top);
  ctx.lineTo(left, bbox.top + bbox.height);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.fillText(`#${attempt}`, left + 3 * devicePixelRatio, bbox.top + 11 * devicePixelRatio);
}

// A cross on the upper edge for NaN, an arrow for an infinite value.
function drawNotFinite(u, { x, value }) {
  const { ctx, bbox } = u;
  const size = 4 * devicePixelRatio;
  const left = u.valToPos(x, "x", true);
  const top = bbox.top + size + 2;
  ctx.strokeStyle = colour("--state-bad");
  ctx.lineWidth = 1.6 * devicePixelRatio;
  ctx.beginPath();
  if (Number.isNaN(value)) {
    ctx.moveTo(left - size, top - size); ctx.lineTo(left + size, top + size);
    ctx.moveTo(left + size, top - size); ctx.lineTo(left - size, top + size);
  } else {
    const down = value < 0 ? 1 : -1;
    ctx.moveTo(left - size, top - down * size / 2); ctx.lineTo(left, top + down * size / 2); ctx.lineTo(left + size, top - down * size / 2);
  }
  ctx.stroke();
}
