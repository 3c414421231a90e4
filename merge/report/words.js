// Numbers and names for people; what a value is in the file stays in the data.

function threeDigits(value) {
  const magnitude = Math.abs(value);
  if (magnitude > 0 && magnitude < 1e-4) return value.toExponential(2);
  let decimals = magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2;
  for (let least = 0.9995; decimals < 6 && magnitude > 0 && magnitude < least; least /= 10) ++decimals;
  let text = value.toFixed(decimals);
  if (decimals > 0) text = text.replace(/0+$/, "").replace(/\.$/, "");
  return text === "-0" ? "0" : text;
}

const TIMES = [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"], [60e9, "min"], [3600e9, "h"]];
const BYTES = [[1, "B"], [1024, "KiB"], [1048576, "MiB"], [1073741824, "GiB"], [1099511627776, "TiB"]];

function scaled(value, scales) {
  let chosen = 0;
  while (chosen + 1 < scales.length && Math.abs(value) >= scales[chosen + 1][0] * 0.99995) ++chosen;
  return threeDigits(value / scales[chosen][0]) + " " + scales[chosen][1];
}
const humanTime = (ns) => scaled(ns, TIMES);
const humanBytes = (bytes) => scaled(bytes, BYTES);

// The unit in which an axis up to `most` ns is read best: [ns, word], at most seconds.
function timeScale(most) {
  let chosen = TIMES[0];
  for (const scale of TIMES.slice(0, 4)) if (Math.abs(most) >= scale[0]) chosen = scale;
  return chosen;
}

// Control characters as escapes, so that a name can be read whole.
function printable(text) {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (c) =>
    c === "\n" ? "\\n" : c === "\t" ? "\\t" : c === "\r" ? "\\r" : "\\x" + c.charCodeAt(0).toString(16).padStart(2, "0"));
}

function humanCell(value, unit, rowUnit) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "string") return printable(value);
  if (unit === "row") unit = rowUnit;
  if (unit === "ns") return humanTime(value);
  if (unit === "bytes") return humanBytes(value);
  if (unit === "GB/s") return threeDigits(value) + " GB/s";
  if (unit === "share") return (100 * value).toFixed(1) + " %";
  return Number.isInteger(value) ? String(value) : threeDigits(value);
}

// Plotly reads tags in texts: a name must stay a name. At most `most` characters of it.
function plain(text, most = 60) {
  let short = printable(String(text));
  if (short.length > most) short = short.slice(0, most - 1) + "…";
  return short.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

// RFC 4180, as jaxprof-study --format csv: raw values; what holds a comma, a quote or a line break is quoted.
function csvText(names, rows) {
  const cell = (value) => {
    if (value === null || value === undefined) return "";
    const text = String(value);
    return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  };
  return [names, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

function saveText(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// element("p", {className: "note"}, "text", child, ...)
function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties || {});
  made.append(...children);
  return made;
}
