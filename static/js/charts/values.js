// Numbers as the server writes them and as people read them.
const NOT_FINITE = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity };
const PREFIXES = ["", "k", "M", "G", "T", "P", "E"];
const BYTES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const SECONDS = [{ size: 86400, word: " d" }, { size: 3600, word: " h" }, { size: 60, word: " min" }, { size: 1, word: " s" }];
const MOST_DECIMALS = 5; // wider ones do not fit beside a chart

// JSON has no NaN, and no whole number beyond 2^53: both come as strings.
export function number(value) {
  if (typeof value === "number") return value;
  if (value === null || value === undefined) return null;
  return value in NOT_FINITE ? NOT_FINITE[value] : Number(value);
}

export function three(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e15) return value.toExponential(2).replace("e+", "e");
  return size >= 999.5 ? scaled(value) : value.toPrecision(3);
}

// A count: whole numbers below 1,000 as they are.
export function scaled(value) {
  if (Math.abs(value) < 1000 && Number.isInteger(value)) return String(value);
  return prefixed(value, 1000, PREFIXES);
}

export function inBytes(value) {
  if (!Number.isFinite(value)) return three(value);
  return Math.abs(value) < 1024 ? `${Math.round(value)} B` : prefixed(value, 1024, BYTES);
}

export function formatter(unit) {
  if (unit === "bytes") return inBytes;
  if (unit === "share") return (value) => (Number.isFinite(value) ? `${three(value * 100)} %` : three(value));
  return three;
}

// A duration, to about two digits, as the server writes it.
export function lasting(seconds) {
  if (Math.abs(seconds) < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.trunc(Math.abs(seconds));
  const sign = seconds < 0 ? "-" : "";
  for (const [large, small, size, part] of [["d", "h", 86400, 3600], ["h", "min", 3600, 60], ["min", "s", 60, 1]]) {
    if (whole < size) continue;
    const rest = whole >= 10 * size ? 0 : Math.floor((whole % size) / part);
    return `${sign}${Math.floor(whole / size)} ${large}${rest ? ` ${rest} ${small}` : ""}`;
  }
  return `${sign}${whole} s`;
}

// The ticks of one axis: one unit, and as many decimals as their distance needs.
export function ticks(splits, unit) {
  const shown = splits.filter((value) => Number.isFinite(value));
  const most = Math.max(...shown.map(Math.abs), 0);
  const distance = Math.min(...shown.slice(1).map((value, at) => Math.abs(value - shown[at])), Infinity);
  const { size, word, decimals } = tickLook(most, distance, unit);
  return splits.map((value) => {
    if (!Number.isFinite(value)) return "";
    return value === 0 ? "0" : `${(value / size).toFixed(decimals)}${word}`;
  });
}

// A logarithmic axis has the digits of its powers.
export function logTicks(splits, unit) {
  return splits.map((value) => {
    if (!Number.isFinite(value)) return "";
    const { size, word } = unitFor(Math.abs(value), unit);
    return `${Number((value / size).toPrecision(3))}${word}`;
  });
}

function tickLook(most, distance, unit) {
  const apart = Number.isFinite(distance) ? distance : most;
  let { size, word } = unitFor(unit === "seconds" ? Math.min(most, distance) : most, unit);
  let decimals = decimalsOf(apart / size);
  // Close together far from zero: a smaller unit says it in fewer digits.
  while (decimals > 2 && size > 1) {
    ({ size, word } = unitFor(size / 2, unit));
    decimals = decimalsOf(apart / size);
  }
  if (decimals <= MOST_DECIMALS) return { size, word, decimals };
  const power = Math.floor(Math.log10(most));
  return { size: 10 ** power, word: `e${power}`, decimals: Math.min(decimalsOf(distance / 10 ** power), 2) };
}

function unitFor(most, unit) {
  if (unit === "share") return { size: 0.01, word: " %" };
  if (unit === "seconds") return SECONDS.find(({ size }) => most >= size) ?? SECONDS.at(-1);
  const [step, words] = unit === "bytes" ? [1024, BYTES] : [1000, PREFIXES];
  const power = most < step ? 0 : Math.min(Math.floor(Math.log(most) / Math.log(step) + 1e-9), words.length - 1);
  return { size: step ** power, word: words[power] && ` ${words[power]}` };
}

function decimalsOf(distance) {
  if (!Number.isFinite(distance) || distance === 0) return 0;
  for (let decimals = 0; decimals <= MOST_DECIMALS; decimals += 1) {
    const scaledUp = distance * 10 ** decimals;
    if (scaledUp >= 0.999 && Math.abs(scaledUp - Math.round(scaledUp)) < 1e-3 * scaledUp) return decimals;
  }
  return MOST_DECIMALS + 1;
}

function prefixed(value, step, words) {
  let power = Math.min(Math.floor(Math.log(Math.abs(value)) / Math.log(step) + 1e-9), words.length - 1);
  power = Math.max(power, 0);
  if (step === 1000 && Math.abs(value) / step ** power >= 999.5 && power < words.length - 1) power += 1;
  const number = value / step ** power;
  const text = Math.abs(number) >= 999.5 ? number.toFixed(0) : number.toPrecision(3);
  return words[power] ? `${text} ${words[power]}` : text;
}
