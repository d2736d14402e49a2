// past.js: what is known of the last hour: what the server kept, and what has come since. One list of
// times, and a list of values beside it for each line, with null where there was none.

const HOUR = 3600, BACK = 10;
export const times = []; // seconds since 1970, growing
let owner = 0;           // the stream whose keys the lines have
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

// The server's hour takes the place of everything before its end.
export function begin(history) {
  const ours = times.splice(0), kept = new Map(lines);
  lines.clear();
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

// A sample: `samples` is a list of [table, metric, key, label, value or null]. Whether it begins anew:
// another stream has other keys, and a clock that was put back other times.
export function add(stream, seconds, samples) {
  const last = times.length ? times[times.length - 1] : -Infinity;
  const anew = owner !== stream || seconds < last - BACK;
  if (!anew && seconds <= last) return false;
  owner = stream;
  if (anew) {
    times.splice(0);
    lines.clear();
  }
  times.push(seconds);
  for (const [table, metric, key, label, value] of samples) {
    const one = line(table, metric, key, label);
    if (one.values.length === times.length) one.values[times.length - 1] = value;
    else one.values.push(value);
  }
  for (const one of lines.values()) if (one.values.length < times.length) one.values.push(null);
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

// Every line of a metric, in the order of labels.
export function all(table, metric) {
  return [...lines.values()].filter((one) => one.table === table && one.metric === metric && one.values.some((value) => value !== null))
    .sort((a, b) => a.label.localeCompare(b.label, "en", { numeric: true }));
}

// The devices themselves, without their partitions ("5:0"), in their order: what they are colored by.
export function devices() {
  const labels = new Set();
  for (const one of lines.values()) if (one.table === "gpu" && !one.label.includes(":")) labels.add(one.label);
  return [...labels].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

// Where the last so many seconds begin.
export function since(seconds) {
  const last = times.length ? times[times.length - 1] : 0, from = times.findIndex((time) => time >= last - seconds);
  return from < 0 ? 0 : from;
}
