// Canvas knows no custom properties: ask an element what they are in the current theme.
const probe = document.createElement("span");
probe.hidden = true;

export function colour(name) {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

export function faded(name, share) {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = `color-mix(in srgb, var(${name}) ${Math.round(share * 100)}%, transparent)`;
  return getComputedStyle(probe).color;
}
