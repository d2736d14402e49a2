// charts.js: the charts of the last hour, drawn by plot.js, and the small ones of tiles and cards.
import { forms, make } from "./words.js";
import * as past from "./past.js";

const HEIGHT = 190, SHORTEST = 60; // pixels; the shortest time axis in seconds

// The charts. Each line is a metric of one row of a table, or (rows) of all rows; those of processes
// are for the page of one.
const CHARTS = [
  { id: "gpu-use", title: "Device utilization", form: "percent", most: () => 1, rows: ["gpu", "utilization_ratio"] },
  { id: "gpu-memory", title: "Device memory", form: "bytes", rows: ["gpu", "memory_used_bytes"] },
  { id: "gpu-power", title: "Device power", form: "watts", rows: ["gpu", "power_watts"] },
  { id: "gpu-heat", title: "Device temperature", form: "celsius", rows: ["gpu", "temperature_celsius"] },
  { id: "cpu", title: "CPUs at work", form: "cores", most: (machine) => machine.cpus,
    lines: [["host", "cpu_busy_seconds_per_second", "busy"], ["host", "cpu_iowait_seconds_per_second", "waiting for disks"]] },
  { id: "memory", title: "Memory", form: "bytes", most: (machine) => machine.memory,
    lines: [["host", "memory_used_bytes", "used"], ["host", "memory_cached_bytes", "cached"], ["host", "swap_used_bytes", "swap used"]] },
  { id: "disk", title: "Disks", form: "rate",
    lines: [["host", "disk_read_bytes_per_second", "read"], ["host", "disk_written_bytes_per_second", "written"]] },
  { id: "network", title: "Network", form: "rate",
    lines: [["host", "network_received_bytes_per_second", "received"], ["host", "network_transmitted_bytes_per_second", "sent"]] },
  { id: "pressure", title: "Pressure", form: "percent", rows: ["pressure", "some_10s_ratio"],
    help: "The part of the last ten seconds in which something waited for want of it." },
  { id: "process-cpu", title: "CPUs in use", form: "cores", rows: ["process", "cpu_seconds_per_second"] },
  { id: "process-memory", title: "Resident memory", form: "bytes", rows: ["process", "resident_bytes"] },
  { id: "process-read", title: "Read", form: "rate", rows: ["process", "read_bytes_per_second"] },
  { id: "process-written", title: "Written", form: "rate", rows: ["process", "written_bytes_per_second"] },
  { id: "process-gpu-memory", title: "GPU memory", form: "bytes", rows: ["process", "gpu_memory"] },
  { id: "process-gpu-use", title: "GPU use", form: "percent", rows: ["process", "gpu_use"] },
];

const charts = [];
let machine = {}, seconds = 900, only = null; // the row that the page is about: { table, key }

function clock(time, withSeconds) {
  const two = (value) => String(value).padStart(2, "0"), date = new Date(time * 1000);
  return two(date.getHours()) + ":" + two(date.getMinutes()) + (withSeconds ? ":" + two(date.getSeconds()) : "");
}

// ---- data ----

function linesOf(chart) {
  if ((only || chart.rows && chart.rows[0] === "process") && (!only || !chart.rows || chart.rows[0] !== only.table)) return [];
  if (only) return past.all(...chart.rows).filter((one) => one.key === only.key);
  if (chart.rows) return past.all(chart.rows[0], chart.rows[1]).filter((one) => one.table !== "gpu" || !one.label.includes(":"));
  return chart.lines_wanted.map(([table, metric, title]) => {
    const found = past.all(table, metric)[0];
    return found ? Object.assign(Object.create(found), { label: title }) : null;
  }).filter((one) => one !== null);
}

// Returns the highest value that the chart has room for, of the highest in sight.
function top(chart, high) {
  const most = chart.most ? chart.most(machine) : undefined;
  if (most) return most * 1.02;
  if (chart.form === "percent") return Math.min(1.02, Math.max(high * 1.2, 0.02));
  return high > 0 ? high * 1.15 : chart.binary ? 4 : 1;
}

const words = (chart, value) => (value === null || value === undefined ? "N/A" : forms[chart.form](value));

// Shows the newest values beside the names, or those under the pointer.
function legend(chart, point) {
  const at = point === null ? chart.data[0].length - 1 : point;
  chart.figures.forEach((element, index) => {
    const text = words(chart, chart.data[index + 1] ? chart.data[index + 1][at] : null);
    if (element.textContent !== text) element.textContent = text;
  });
  const text = point === null ? "" : clock(chart.data[0][at], true);
  if (chart.when.textContent !== text) chart.when.textContent = text;
}

function take(chart) {
  const begun = only && only.table === "process" ? past.times.findIndex((_, at) => chart.lines.some((one) => one.values[at] !== null)) : 0;
  const from = Math.max(past.since(seconds), begun), last = past.times[past.times.length - 1] || 0;
  chart.data = [past.times.slice(from)].concat(chart.lines.map((one) => one.values.slice(from)));
  Object.assign(chart, { points: past.times.length, newest: past.times[0] });
  chart.range = [Math.max(last - seconds, Math.min(past.times[begun], last - SHORTEST)), last];
}

function build(chart) {
  if (chart.drawn) chart.drawn.remove();
  chart.keys.replaceChildren();
  const devices = past.devices();
  const colors = chart.lines.map((one, at) => (one.table === "gpu" ? devices.indexOf(one.label) : at) % 8);
  chart.colors = colors.map((color) => "--s" + color);
  chart.fills = colors.map((color, at) => (colors.length === 1 || (!chart.rows && at === 0) ? "--f" + color : undefined));
  chart.figures = chart.lines.map((one, at) => {
    const key = chart.keys.appendChild(make("span", "key"));
    key.appendChild(make("i", "k" + colors[at]));
    key.appendChild(make("span", "", one.label));
    return key.appendChild(make("b", "figure"));
  });
  take(chart);
  chart.drawn = plot.make(chart.place, chart);
}

function update(chart) {
  const lines = linesOf(chart);
  chart.figure.hidden = lines.length === 0;
  if (lines.length === 0) return;
  const same = lines.length === chart.lines.length && lines.every((one, at) => one.key === chart.lines[at].key && one.label === chart.lines[at].label);
  chart.lines = lines;
  if (!same || !chart.drawn) { build(chart); return; }
  // A chart out of sight is drawn when it has a new point: a picture of the whole page shows it too.
  if (!chart.seen && chart.points === past.times.length && chart.newest === past.times[0]) return;
  take(chart);
  chart.drawn.update();
}

// ---- all charts ----

export function start(place) {
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const chart = charts.find((one) => one.figure === entry.target);
      chart.seen = entry.isIntersecting;
      if (chart.seen && chart.drawn) update(chart);
    }
  });
  for (const one of CHARTS) {
    const figure = place.appendChild(make("figure", "chart")), caption = figure.appendChild(make("figcaption"));
    const title = caption.appendChild(make("b", "", one.title));
    if (one.help) title.title = one.help;
    const when = caption.appendChild(make("span", "when soft"));
    const keys = caption.appendChild(make("span", "keys"));
    figure.id = "chart-" + one.id;
    figure.hidden = true;
    const chart = Object.assign({}, one, { figure, when, keys, place: figure.appendChild(make("div", "plot")), lines: [], lines_wanted: one.lines, figures: [], seen: false });
    charts.push(Object.assign(chart, {
      height: HEIGHT, top: (high) => top(chart, high), words: forms[one.form], clock: (time, step) => clock(time, step < 60),
      binary: one.form === "bytes" || one.form === "rate", hover: (at) => legend(chart, at), zooms: true,
      tell: (at) => clock(chart.data[0][at], true) + ": " + chart.lines.map((line, place) => line.label + " " + words(chart, chart.data[place + 1][at])).join(", "),
    }));
    watcher.observe(figure);
  }
  addEventListener("beforeprint", redraw);
  // The width of a chart changes with the window and with its neighbors.
  const ruler = new ResizeObserver((entries) => {
    for (const entry of entries) {
      const chart = charts.find((one) => one.place === entry.target);
      if (chart.drawn && entry.contentRect.width > 0) chart.drawn.update();
    }
  });
  for (const chart of charts) ruler.observe(chart.place);
}

// The charts of one row alone; null: those of the machine.
export function about(row) {
  only = row;
  charts.forEach(update);
}

export function draw(about) {
  machine = about;
  charts.forEach(update);
}

export function redraw() {
  charts.forEach((chart) => { if (chart.drawn) build(chart); });
}

export function show(window) {
  seconds = window;
  plot.whole();
  redraw();
}

// Draws a line without axes, for a tile or a card. `values` may hold nulls; `most` is the top.
export function spark(svg, values, most) {
  const count = values.length, high = most || Math.max(...values.filter((value) => value !== null), 0) * 1.15 || 1;
  let line = "", area = "", open = false, from = 0;
  const close = (at) => { if (open) area += "L" + x(at) + " 32L" + x(from) + " 32Z"; };
  const x = (at) => (count < 2 ? 100 : at * 100 / (count - 1)).toFixed(1);
  values.forEach((value, at) => {
    if (value === null) { close(at - 1); open = false; return; }
    const point = x(at) + " " + (31 - Math.min(value / high, 1) * 29).toFixed(1);
    if (!open) from = at;
    line += (open ? "L" : "M") + point;
    area += (open ? "L" : "M") + point;
    open = true;
  });
  close(count - 1);
  svg.firstChild.setAttribute("d", area);
  svg.lastChild.setAttribute("d", line);
}

export function makeSpark(color) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 100 32");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "spark c" + color);
  for (const part of ["area", "stroke"]) svg.appendChild(document.createElementNS(svg.namespaceURI, "path")).setAttribute("class", part);
  return svg;
}
