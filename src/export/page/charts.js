// charts.js: the charts of the last hour, drawn by uPlot if it was built in, else by simple SVG here.
import { forms, make } from "./words.js";
import * as past from "./past.js";

const HEIGHT = 190, SHORTEST = 60; // pixels; the shortest time axis in seconds

// The charts. Each line is a metric of one row of a table, or (rows) of all rows.
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
];

const charts = [];
let machine = {}, seconds = 900;

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Powers of two for bytes, so that 256 MiB is a round number and 250000000 is not.
const BINARY = Array.from({ length: 60 }, (_, power) => Math.pow(2, power));

function clock(time, withSeconds) {
  const two = (value) => String(value).padStart(2, "0"), date = new Date(time * 1000);
  return two(date.getHours()) + ":" + two(date.getMinutes()) + (withSeconds ? ":" + two(date.getSeconds()) : "");
}

// ---- one chart ----

// Draws a chart with axes of time and values; `chart` has form, top (the highest value drawn) and
// lines.
function zoomed(chart) {
  const axis = { stroke: css("--soft"), grid: { stroke: css("--grid"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
  const series = [{}].concat(chart.lines.map((_, at) => ({
    stroke: css("--s" + chart.colors[at]), width: 1.6, spanGaps: false, points: { show: false },
    fill: chart.lines.length === 1 || (chart.soft && at === 0) ? css("--f" + chart.colors[at]) : undefined,
  })));
  const made = new uPlot({
    width: Math.max(chart.place.clientWidth, 120), height: HEIGHT, series, legend: { show: false },
    padding: [8, 8, 0, 0],
    cursor: { sync: { key: "vitals", setSeries: false }, drag: { setScale: false, x: false, y: false }, points: { size: 7 }, y: false },
    scales: { x: { time: true, range: () => chart.range }, y: { range: () => [0, chart.top] } },
    axes: [
      Object.assign({ size: 26, space: 62, values: (self, splits, at, space, step) => splits.map((time) => clock(time, step < 60)),
                      incrs: [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800] }, axis),
      Object.assign({ size: 66, space: 34, values: (self, splits) => splits.map((value) => forms[chart.form](value)) },
                    chart.form === "bytes" || chart.form === "rate" ? { incrs: BINARY } : {}, axis),
    ],
    hooks: { setCursor: [(self) => legend(chart, self.cursor.idx)] },
  }, chart.data, chart.place);
  return { update: () => made.setData(chart.data), resize: () => made.setSize({ width: Math.max(chart.place.clientWidth, 120), height: HEIGHT }), remove: () => made.destroy() };
}

function plain(chart) {
  const canvas = chart.place.appendChild(make("canvas", "plain"));
  const update = () => {
    const wide = chart.place.clientWidth, scale = window.devicePixelRatio || 1, context = canvas.getContext("2d");
    const left = 66, bottom = 26, high = HEIGHT - bottom - 8;
    const x = (time) => left + (time - chart.range[0]) / (chart.range[1] - chart.range[0]) * (wide - left - 8);
    const y = (value) => 8 + high - value / chart.top * high;
    canvas.width = wide * scale;
    canvas.height = HEIGHT * scale;
    canvas.style.width = wide + "px";
    context.scale(scale, scale);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (let part = 0; part <= 4; part++) {
      const value = chart.top * part / 4, time = chart.range[0] + (chart.range[1] - chart.range[0]) * part / 4;
      context.fillStyle = css("--grid");
      context.fillRect(left, y(value), wide - left - 8, 1);
      context.fillStyle = css("--soft");
      context.textAlign = "right";
      context.fillText(forms[chart.form](value), left - 8, y(value));
      context.textAlign = part === 0 ? "left" : part === 4 ? "right" : "center";
      context.fillText(clock(time, chart.range[1] - chart.range[0] < 600), x(time), HEIGHT - bottom / 2);
    }
    chart.lines.forEach((_, at) => {
      let drawing = false;
      context.beginPath();
      context.strokeStyle = css("--s" + chart.colors[at]);
      context.lineWidth = 1.6;
      chart.data[at + 1].forEach((value, point) => {
        if (value !== null) context[drawing ? "lineTo" : "moveTo"](x(chart.data[0][point]), y(value));
        drawing = value !== null;
      });
      context.stroke();
    });
  };
  update();
  return { update, resize: update, remove: () => canvas.remove() };
}

// ---- data ----

function linesOf(chart) {
  if (chart.rows) return past.all(chart.rows[0], chart.rows[1]).filter((one) => one.table !== "gpu" || !one.label.includes(":"));
  return chart.lines_wanted.map(([table, metric, title]) => {
    const found = past.all(table, metric)[0];
    return found ? Object.assign(Object.create(found), { label: title }) : null;
  }).filter((one) => one !== null);
}

function highest(chart) {
  let high = 0;
  for (const values of chart.data.slice(1)) for (const value of values) if (value > high) high = value;
  const most = chart.most ? chart.most(machine) : undefined;
  if (most) return most * 1.02;
  if (chart.form === "percent") return Math.min(1.02, Math.max(high * 1.2, 0.02));
  return high > 0 ? high * 1.15 : 1;
}

// Shows the newest values beside the names, or those under the pointer.
function legend(chart, point) {
  const at = point === null || point === undefined ? chart.data[0].length - 1 : point;
  chart.figures.forEach((element, index) => {
    const value = chart.data[index + 1] ? chart.data[index + 1][at] : null;
    const text = value === null || value === undefined ? "N/A" : forms[chart.form](value);
    if (element.textContent !== text) element.textContent = text;
  });
  const text = point === null || point === undefined || !chart.data[0].length ? "" : clock(chart.data[0][at], true);
  if (chart.when.textContent !== text) chart.when.textContent = text;
}

function take(chart) {
  const from = past.since(seconds), last = past.times[past.times.length - 1] || 0;
  chart.data = [past.times.slice(from)].concat(chart.lines.map((one) => one.values.slice(from)));
  chart.range = [Math.max(last - seconds, Math.min(past.times[0], last - SHORTEST)), last];
  chart.top = highest(chart);
}

function build(chart) {
  if (chart.drawn) chart.drawn.remove();
  chart.keys.replaceChildren();
  const devices = past.devices();
  chart.colors = chart.lines.map((one, at) => (one.table === "gpu" ? devices.indexOf(one.label) : at) % 8);
  chart.figures = chart.lines.map((one, at) => {
    const key = chart.keys.appendChild(make("span", "key"));
    key.appendChild(make("i", "k" + chart.colors[at]));
    key.appendChild(make("span", "", one.label));
    return key.appendChild(make("b", "figure"));
  });
  take(chart);
  chart.drawn = typeof uPlot === "undefined" ? plain(chart) : zoomed(chart);
  legend(chart, null);
}

function update(chart) {
  const lines = linesOf(chart);
  chart.figure.hidden = lines.length === 0;
  if (lines.length === 0) return;
  const same = lines.length === chart.lines.length && lines.every((one, at) => one.key === chart.lines[at].key && one.label === chart.lines[at].label);
  chart.lines = lines;
  if (!same || !chart.drawn) { build(chart); return; }
  if (!chart.seen) return;
  take(chart);
  chart.drawn.update();
  if (chart.when.textContent === "") legend(chart, null);
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
    charts.push(Object.assign({}, one, { figure, when, keys, place: figure.appendChild(make("div", "plot")), lines: [], lines_wanted: one.lines, figures: [], seen: false, soft: !one.rows }));
    watcher.observe(figure);
  }
  // The width of a chart changes with the window and with its neighbors.
  const ruler = new ResizeObserver((entries) => {
    for (const entry of entries) {
      const chart = charts.find((one) => one.place === entry.target);
      if (chart.drawn && entry.contentRect.width > 0) chart.drawn.resize();
    }
  });
  for (const chart of charts) ruler.observe(chart.place);
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
