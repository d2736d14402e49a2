// past.js: the last hour: the server's history and the samples since then, both with a point every five
// seconds, the mean of its samples. One list of times, and for each line a list of values, null if
// missing.

const HOUR = 3600, BACK = 10, STEP = 5;
let open = [];           // the samples of the last point, each a map from a line to its value
export const times = []; // seconds since 1970, increasing
let owner = 0;           // the stream that the keys of the lines belong to
const lines = new Map(); // "gpu power_watts 1" → {table, key, label, metric, values}

const name = (table, metric, key) => table + " " + metric + " " + key;

function line(table, metric, key, label) {
  let found = lines.get(name(table, metric, key));
  if (!found) {
    found = { table, key, label, metric, values: new Array(times.length).fill(null) };
    lines.set(name(table, metric, key), found);
  }
  found.label = label;
  return found;
}

// Takes the server's history, which replaces everything before its end.
export function begin(history) {
  const ours = times.splice(0), kept = new Map(lines);
  lines.clear();
  open = [];
  for (const ms of history.realtime_ms) times.push(ms / 1000);
  const end = times.length ? times[times.length - 1] : 0, from = ours.findIndex((time) => time > end);
  const newer = from < 0 ? [] : ours.slice(from);
  for (const one of history.lines) line(one.table, one.metric, one.key, one.label).values = one.values;
  for (const one of kept.values()) line(one.table, one.metric, one.key, one.label);
  times.push(...newer);
  for (const [key, one] of lines) {
    const old = kept.get(key);
    for (let at = 0; at < newer.length; at++) one.values.push(old ? old.values[from + at] : null);
  }
}

// Takes a sample, a list of [table, metric, key, label, value or null]. Returns whether it starts anew,
// because the stream (and so all keys) or the clock has changed.
export function add(stream, seconds, samples) {
  const last = times.length ? times[times.length - 1] : -Infinity;
  const anew = owner !== stream || seconds < last - BACK;
  if (!anew && seconds <= last) return false;
  owner = stream;
  if (anew) {
    times.splice(0);
    lines.clear();
  }
  if (!anew && open.length && Math.floor(seconds / STEP) === Math.floor(last / STEP)) {
    times[times.length - 1] = seconds;
  } else {
    open = [];
    times.push(seconds);
    for (const one of lines.values()) one.values.push(null);
  }
  open.push(new Map(samples.map(([table, metric, key, label, value]) => [line(table, metric, key, label), value])));
  for (const one of lines.values()) {
    const values = open.map((sample) => sample.get(one)).filter((value) => value !== null && value !== undefined);
    if (values.length) one.values[times.length - 1] = values.reduce((sum, value) => sum + value, 0) / values.length;
  }
  if (times[0] < seconds - HOUR - 60) forget(seconds - HOUR);
  return anew;
}

function forget(before) {
  const count = times.findIndex((time) => time >= before);
  times.splice(0, count);
  for (const [key, one] of lines) {
    one.values.splice(0, count);
    if (one.values.every((value) => value === null)) lines.delete(key);
  }
}

export function find(table, metric, key) {
  return lines.get(name(table, metric, key)) || null;
}

// Returns every line of a metric, sorted by label.
export function all(table, metric) {
  return [...lines.values()].filter((one) => one.table === table && one.metric === metric && one.values.some((value) => value !== null))
    .sort((a, b) => a.label.localeCompare(b.label, "en", { numeric: true }));
}

// Returns the devices without their partitions ("5:0"), in the order of their colors.
export function devices() {
  const labels = new Set();
  for (const one of lines.values()) if (one.table === "gpu" && !one.label.includes(":")) labels.add(one.label);
  return [...labels].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

// Returns the index at which the last so many seconds begin.
export function since(seconds) {
  const last = times.length ? times[times.length - 1] : 0, from = times.findIndex((time) => time >= last - seconds);
  return from < 0 ? 0 : from;
}
