// Numbers as the server writes them and as people read them.
const NOT_FINITE = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity };
const PREFIXES = ["", "k", "M", "G", "T", "P", "E"];

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
  if (size >= 1000) return scaled(value);
  return Number(value.toPrecision(3)) === value && Number.isInteger(value) ? String(value) : value.toPrecision(3);
}

export function scaled(value) {
  const size = Math.abs(value);
  if (size < 1000) return Number.isInteger(value) ? String(value) : value.toPrecision(3);
  const power = Math.min(Math.floor(Math.log10(size) / 3), PREFIXES.length - 1);
  return `${Number((value / 1000 ** power).toPrecision(3))} ${PREFIXES[power]}`;
}

export function inBytes(value) {
  if (!Number.isFinite(value)) return three(value);
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const power = Math.abs(value) < 1024 ? 0 : Math.min(Math.floor(Math.log2(Math.abs(value)) / 10), 5);
  return `${Number((value / 1024 ** power).toPrecision(3))} ${units[power]}`;
}

export function formatter(unit) {
  if (unit === "bytes") return inBytes;
  if (unit === "share") return (value) => (Number.isFinite(value) ? `${three(value * 100)} %` : three(value));
  return three;
}

// A duration, to about two digits.
export function lasting(seconds) {
  const size = Math.abs(seconds);
  if (size < 60) return `${Number(seconds.toPrecision(3))} s`;
  const [unit, length] = [["d", 86400], ["h", 3600], ["min", 60]].find(([, whole]) => size >= whole);
  return `${Number((seconds / length).toPrecision(3))} ${unit}`;
}
