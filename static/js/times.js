// <time datetime data-relative> says how long ago, in words; the exact time in the viewer's zone is its title.
const relative = new Intl.RelativeTimeFormat(document.documentElement.lang || "en", { numeric: "auto", style: "narrow" });
const exact = new Intl.DateTimeFormat(document.documentElement.lang || "en", { dateStyle: "medium", timeStyle: "long" });
const units = [["year", 31557600], ["month", 2629800], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

export function ago(at, now = Date.now()) {
  const seconds = (at - now) / 1000;
  const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? units.at(-1);
  return relative.format(Math.trunc(seconds / size), unit);
}

export function clock(at) {
  return exact.format(at);
}

// How long, without saying when: 2m, 3h.
function length(at, now = Date.now()) {
  const seconds = Math.max(0, (now - at) / 1000);
  const [unit, size] = units.find(([, whole]) => seconds >= whole) ?? units.at(-1);
  return new Intl.NumberFormat(document.documentElement.lang || "en", { style: "unit", unit, unitDisplay: "narrow" }).format(Math.trunc(seconds / size));
}

// Within a day from now the date says nothing new; before and after that it has to be told.
function moment(at) {
  return Math.abs(Date.now() - at) < 86_400_000 ? at.toLocaleTimeString() : at.toLocaleString();
}

function show(root) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const at = new Date(element.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    element.title = clock(at);
    if (element.hasAttribute("data-relative")) element.textContent = ago(at);
    else if (element.dataset.lasting) element.textContent = element.dataset.lasting.replace("{n}", length(at));
    else if (element.hasAttribute("data-moment")) element.textContent = moment(at);
  }
}

show(document);
document.addEventListener("htmx:load", (event) => show(event.detail.elt.parentNode ?? event.detail.elt));
document.addEventListener("safehold:swapped", () => show(document));
setInterval(() => show(document), 15000);
