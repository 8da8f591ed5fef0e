// A uPlot plugin: flags of checkpoints and alerts on the edges of a chart, as links that say what they are.
const APART_PX = 9; // nearer ones become one flag that counts

export function flagsPlugin(read, texts) {
  let layer = null;
  return {
    hooks: {
      init: (u) => {
        layer = document.createElement("div");
        layer.className = "chart-flags";
        u.over.append(layer);
      },
      draw: (u) => layer.replaceChildren(...placed(u, read(), texts)),
    },
  };
}

function placed(u, flags, texts) {
  const { min, max } = u.scales.x;
  const inside = flags.filter(({ x }) => x >= min && x <= max).map((flag) => ({ ...flag, left: u.valToPos(flag.x, "x") }));
  return ["checkpoint", "alert"].flatMap((kind) => gathered(inside.filter((flag) => flag.kind === kind)).map((group) => drawn(group, texts)));
}

// Flags too near to each other stand as one, at the newest.
function gathered(flags) {
  const groups = [];
  for (const flag of flags.toSorted((a, b) => a.left - b.left)) {
    const last = groups.at(-1);
    if (last && flag.left - last[0].left < APART_PX) last.push(flag);
    else groups.push([flag]);
  }
  return groups;
}

function drawn(group, texts) {
  const newest = group.at(-1);
  const flag = document.createElement(newest.href ? "a" : "span");
  if (newest.href) flag.href = newest.href;
  flag.className = `chart-flag chart-flag-${newest.kind} chart-flag-${newest.tone}`;
  flag.style.left = `${newest.left}px`;
  flag.dataset.step = newest.step;
  flag.tabIndex = -1; // the timeline lists the same for the keyboard
  const more = group.length > 1 ? ` ${(texts.more ?? "+{n}").replace("{n}", group.length - 1)}` : "";
  flag.title = newest.text + more;
  flag.setAttribute("aria-label", flag.title);
  if (!newest.href) flag.setAttribute("role", "img");
  return flag;
}
