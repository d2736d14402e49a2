// page.js: receives samples from the server and passes them to the parts of the page. Connects only to
// the server that it came from.
import { make, get, missing, number, unpack, meanings, why, duration, say } from "./words.js";
import * as past from "./past.js";
import * as charts from "./charts.js";
import { sortable } from "./tables.js";
import * as tip from "./tip.js";
import { showDevices, showMachine } from "./devices.js";
import * as one from "./one.js";

const ROWS = 100; // of processes, until the reader wants more
const WINDOWS = [[300, "5 min"], [900, "15 min"], [3600, "1 h"]];
const SOON = 2000, LATEST = 60000; // ms before connecting again after a failure
const MARK = { sequence: 0, stream: 0 };
const by = (id) => document.getElementById(id);

let source = null, every = null, paused = false, last = null, heard = 0, begun = false, told = "", wait = SOON, again = 0;
let wanted = null, keptRow = null; // what the page is about, if it is one row, and that row as it was last seen

// ---- theme and choices, which the browser stores ----

function kept(name, value) {
  try {
    if (value === undefined) return localStorage.getItem("vitals-" + name);
    if (value === "") localStorage.removeItem("vitals-" + name);
    else localStorage.setItem("vitals-" + name, value);
  } catch (denied) { /* this browser stores nothing */ }
  return null;
}

const THEMES = ["", "light", "dark"], THEME_NAMES = { "": "Auto", light: "Light", dark: "Dark" };

function showTheme() {
  const theme = document.documentElement.dataset.theme || "";
  by("theme").textContent = THEME_NAMES[theme];
  by("theme").setAttribute("aria-label", "Colors: " + THEME_NAMES[theme]);
}

function turnTheme() {
  const theme = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme || "") + 1) % THEMES.length];
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  kept("theme", theme);
  showTheme();
  charts.redraw();
}

// Makes a row of buttons, one of which is chosen.
function choice(place, choices, chosen, act) {
  const buttons = choices.map(([value, title]) => {
    const button = place.appendChild(make("button", "", title));
    button.type = "button";
    button.addEventListener("click", () => { mark(value); act(value); });
    return button;
  });
  const mark = (value) => choices.forEach(([one], at) => buttons[at].setAttribute("aria-pressed", String(one === value)));
  mark(chosen);
  return mark;
}

// ---- tables ----

const text = (id, title, extra) => Object.assign({ id, title, form: "text", search: true, get: (row) => get(row, id) }, extra);
const figure = (id, title, form, extra) => Object.assign({ id, title, form, get: (row) => get(row, id) }, extra);

const PROCESS = [
  figure("pid", "PID", "count", { search: true, first: 1, address: (row) => (row.key > 0 ? one.addressOf("process", row) : null) }),
  text("name", "Name"),
  text("user", "User", { less: 1 }),
  text("gpus", "GPU", { help: "The devices that it is on." }),
  figure("gpu_memory", "GPU memory", "bytes"),
  figure("gpu_use", "GPU use", "percent", { help: "Its share of the devices that it is on, added up." }),
  figure("cpu_seconds_per_second", "CPU", "percent", { help: "Of one CPU: 400 % is four." }),
  figure("resident_bytes", "Memory", "bytes", { help: "Resident set size." }),
  figure("read_bytes_per_second", "Read", "rate", { less: 2 }),
  figure("written_bytes_per_second", "Written", "rate", { less: 2 }),
  figure("threads", "Threads", "count", { less: 2 }),
  text("state", "State", { less: 1 }),
  text("workload", "Workload", { less: 2 }),
  text("command_line", "Command line", { less: 2 }),
];

const processes = sortable(by("process-table"), PROCESS, "gpu_memory", -1, "cpu_seconds_per_second");

const workloads = sortable(by("workload-table"), [
  text("id", "Workload"),
  text("user", "User", { less: 1 }),
  figure("processes", "Processes", "count"),
  figure("cpu_seconds_per_second", "CPU", "percent", { help: "Of one CPU: 400 % is four." }),
  figure("memory_used_bytes", "Memory", "bytes"),
  figure("memory_peak_bytes", "Peak", "bytes", { less: 2 }),
  text("gpus", "GPU"),
  figure("gpu_memory", "GPU memory", "bytes"),
  figure("gpu_use", "GPU use", "percent"),
], "gpu_memory", -1);

const filesystems = sortable(by("filesystem-table"), [
  text("mount_point", "File system"), text("type", "Type", { less: 1 }),
  figure("used_ratio", "Used", "percent"), figure("used_bytes", "Used", "bytes", { less: 1 }), figure("total_bytes", "Size", "bytes"),
], "used_ratio", -1);

const disks = sortable(by("disk-table"), [
  text("name", "Disk"), figure("read_bytes_per_second", "Read", "rate"), figure("written_bytes_per_second", "Written", "rate"),
  figure("busy_seconds_per_second", "Busy", "percent"),
], "busy_seconds_per_second", -1);

const networks = sortable(by("network-table"), [
  text("name", "Network"), figure("received_bytes_per_second", "Received", "rate"), figure("transmitted_bytes_per_second", "Sent", "rate"),
], "received_bytes_per_second", -1);

// Adds up the rows of gpu_process per process or workload.
function together(users, tables) {
  const sum = (column) => {
    const values = users.map((one) => get(one, column)), known = values.filter((value) => value.v !== null);
    return known.length ? { v: known.reduce((all, value) => all + value.v, 0), a: known.length < values.length ? "lower_bound" : known.map((value) => value.a).find((a) => a !== "have") || "have" } : values[0] || missing("");
  };
  const labels = users.map((one) => (tables.gpu.find((gpu) => gpu.key === one.parent) || { label: "?" }).label);
  return { gpus: number([...new Set(labels)].sort((a, b) => a.localeCompare(b, "en", { numeric: true })).join(" ")), gpu_memory: sum("memory_used_bytes"), gpu_use: sum("utilization_ratio") };
}

// Without use of a device nothing is missing: the cells are empty.
const NOTHING = { gpus: number(""), gpu_memory: { v: null, a: "none" }, gpu_use: { v: null, a: "none" } };
const NO_DEVICES = { gpus: missing("not_requested"), gpu_memory: missing("not_requested"), gpu_use: missing("not_requested") };

function without(tables) {
  return (tables.gpu || []).length || (tables.gpu_process || []).length ? NOTHING : NO_DEVICES;
}

function group(rows, column) {
  const groups = new Map();
  for (const row of rows) {
    const key = get(row, column).v;
    if (key === null || key === "") continue;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  return groups;
}

// A device user without a row among the processes is in another namespace or has ended: only its pid is
// known.
function strangers(tables, known) {
  const asked = (tables.process || [])[0];
  return (tables.gpu_process || []).filter((one) => !known.has(get(one, "process").v)).map((one) => {
    const process = get(one, "process"), row = Object.create(null);
    for (const { id } of PROCESS) if (!asked || id in asked) row[id] = missing(process.v === null ? process.a : "gone");
    return Object.assign(row, { key: -one.key, pid: get(one, "pid") }, together([one], tables));
  });
}

function showProcesses(tables) {
  const users = group(tables.gpu_process || [], "process"), rows = tables.process || [];
  for (const row of rows) Object.assign(row, users.has(row.key) ? together(users.get(row.key), tables) : without(tables));
  let listed = every ? rows : rows.filter((row) => users.has(row.key));
  listed = listed.concat(strangers(tables, new Set(rows.map((row) => row.key))));
  const device = wanted && wanted.table === "gpu" && one.find(wanted, tables);
  processes.set(device ? listed.filter((row) => get(row, "gpus").v !== null && get(row, "gpus").v.split(" ").includes(device.label)) : listed);
  return { users, rows };
}

function showWorkloads(tables, { users, rows }) {
  const works = group(rows.filter((row) => users.has(row.key)), "workload");
  for (const row of tables.workload || []) {
    const own = works.get(get(row, "id").v) || [];
    Object.assign(row, own.length ? together(own.flatMap((row) => users.get(row.key)), tables) : without(tables));
  }
  by("workloads").hidden = by("to-workloads").hidden = !(tables.workload || []).length;
  workloads.set(tables.workload || []);
}

function showStorage(tables) {
  const counted = (name) => (tables[name] || []).filter((row) => get(row, "counted").v !== 0);
  for (const row of tables.filesystem || []) {
    const used = get(row, "used_bytes"), total = get(row, "total_bytes");
    row.used_ratio = used.v !== null && total.v > 0 ? number(used.v / total.v) : used.v === null ? used : missing("unsupported");
  }
  filesystems.set(counted("filesystem"));
  disks.set(counted("disk"));
  networks.set(counted("network"));
  by("storage").hidden = !tables.filesystem && !tables.disk && !tables.network;
}

function counts(state) {
  const missed = state.matching - state.shown;
  by("found").textContent = state.words.length ? state.matching + " of " + state.rows.length : String(state.rows.length);
  by("more").hidden = missed === 0;
  by("more").textContent = "Show " + missed + " more";
  by("none").hidden = state.matching > 0;
  by("none").textContent = state.words.length ? "Nothing here matches." : every ? "No process may be seen." : "No process uses a device now. “All” lists every process.";
}

// ---- a sample ----

const LINES = [["host", ["cpu_busy_seconds_per_second", "cpu_iowait_seconds_per_second", "load_1m", "memory_used_bytes", "memory_cached_bytes", "swap_used_bytes", "disk_read_bytes_per_second",
                         "disk_written_bytes_per_second", "network_received_bytes_per_second", "network_transmitted_bytes_per_second", "package_energy_joules_per_second"]],
               ["pressure", ["some_10s_ratio"]],
               ["gpu", ["utilization_ratio", "memory_used_bytes", "power_watts", "temperature_celsius"]]];

const PROCESS_LINES = ["cpu_seconds_per_second", "resident_bytes", "read_bytes_per_second", "written_bytes_per_second", "gpu_memory", "gpu_use"];

function keep(view, tables) {
  const samples = [];
  for (const [table, metrics] of LINES) {
    for (const row of tables[table] || []) {
      for (const metric of metrics) {
        const { v, a } = get(row, metric), value = a === "stale" ? null : v; // not a value of this time
        if (value !== null || past.find(table, metric, row.key)) samples.push([table, metric, row.key, row.label, value]);
      }
    }
  }
  const row = wanted && wanted.table === "process" && one.find(wanted, tables);
  if (row) {
    Object.assign(row, together((tables.gpu_process || []).filter((user) => get(user, "process").v === row.key), tables));
    for (const metric of PROCESS_LINES) samples.push(["process", metric, row.key, "", get(row, metric).v]);
  }
  return past.add(view.stream, view.realtime_ms / 1000, samples);
}

function showAbout(view, tables) {
  const host = (tables.host || [])[0], facts = [];
  for (const column of ["operating_system", "cpu_model"]) if (get(host, column).v) facts.push(get(host, column).v);
  if (get(host, "kernel").v) facts.push("kernel " + get(host, "kernel").v);
  if (get(host, "uptime_seconds").v !== null) facts.push("up " + duration(get(host, "uptime_seconds").v));
  const driver = (tables.gpu || []).map((row) => get(row, "driver_version").v).filter((one) => one);
  if (driver.length) facts.push("driver " + [...new Set(driver)].join(", "));
  by("about").textContent = facts.join(" · ");
  by("host").textContent = view.host;
  by("version").textContent = "vitals " + view.version;
  document.title = view.host + " · vitals";
}

// Shows what could not be read, in the words of the source.
function showNotes(tables) {
  const notes = (tables.source || []).filter((row) => !["have", null].includes(get(row, "state").v) && get(row, "state").v !== "unsupported")
    .map((row) => {
      const message = get(row, "message").v || why(get(row, "state").v);
      return message.startsWith(row.label + ":") ? message : row.label + ": " + message;
    });
  if (tables.gpu && tables.gpu.state !== "have" && tables.gpu.length === 0) notes.push("devices: " + why(tables.gpu.state));
  if (notes.join("\n") === told) return;
  told = notes.join("\n");
  by("notes").replaceChildren(...notes.map((note) => make("p", "note", note)));
}

// ---- the page of one device or process ----

function showOne(view, tables) {
  const row = wanted && one.find(wanted, tables);
  if (row) keptRow = row;
  document.body.classList.toggle("one", wanted !== null);
  document.body.dataset.one = wanted ? wanted.table : "";
  by("one").hidden = wanted === null;
  if (!wanted) return;
  const title = one.titleOf(wanted, keptRow);
  if (by("one-title").textContent !== title) by("one-title").textContent = title;
  document.title = title + " · " + by("host").textContent;
  by("one-gone").hidden = row !== null || (wanted.table === "process" && !every && !keptRow);
  by("one-gone").textContent = keptRow ? (wanted.table === "gpu" ? "This device is gone." : "It has ended.") + " These are its last figures." : wanted.table === "gpu" ? "There is no such device here." : "There is no such process here; it may have ended.";
  if (keptRow) one.showFacts(by("one-facts"), wanted, keptRow, view.realtime_ms / 1000 - get((tables.host || [])[0], "uptime_seconds").v);
  charts.about(keptRow ? { table: wanted.table, key: keptRow.key } : { table: wanted.table, key: -1 });
}

// Follows the address. A process need not be on a device: then every process has to be listed.
function follow() {
  const before = wanted;
  wanted = one.parse(location.hash);
  if (!wanted && !before) return;
  keptRow = null;
  by("one-facts").replaceChildren();
  if (!wanted) charts.about(null);
  if (wanted && wanted.table === "process" && !every && last && !one.find(wanted, unpack(last))) {
    every = true;
    markWhich(true);
    listen();
  }
  if (last) showAll(last);
  if (wanted) scrollTo(0, 0);
}

function showAll(view) {
  const tables = unpack(view);
  document.body.classList.add("full");
  showAbout(view, tables);
  showNotes(tables);
  showMachine(by("tiles"), by("cpus"), tables);
  const devices = showDevices(by("cards"), tables);
  by("devices").hidden = by("to-devices").hidden = devices === 0;
  by("which").hidden = devices === 0;
  by("processes").hidden = by("to-processes").hidden = !tables.process; // not exported: --processes off
  showWorkloads(tables, showProcesses(tables));
  showStorage(tables);
  showOne(view, tables);
  const host = (tables.host || [])[0];
  charts.draw({ cpus: get(host, "cpus").v, memory: get(host, "memory_total_bytes").v });
}

function hear(event) {
  const view = JSON.parse(event.data);
  heard = performance.now();
  if (view.stream === MARK.stream && view.sequence === MARK.sequence) return;
  Object.assign(MARK, { stream: view.stream, sequence: view.sequence });
  const anew = keep(view, unpack(view));
  last = view;
  if (anew || !begun) { begun = true; begin(); }
  // Without a device there are no device users.
  if (every === null) {
    const tables = unpack(view), elsewhere = wanted && wanted.table === "process" && !one.find(wanted, tables);
    every = Boolean(tables.process) && (elsewhere || !(tables.gpu || []).length);
    if (every) { markWhich(true); listen(); }
  }
  if (!paused) showAll(view);
}

// ---- the server ----

function begin() {
  fetch("/api/v1/history").then((answer) => (answer.ok ? answer.json() : null)).then((history) => {
    if (!history) return;
    Object.assign(meanings, history.availability);
    past.begin(history);
    if (last && !paused) showAll(last);
  }).catch(() => { /* the page continues with its own samples */ });
}

function listen() {
  rest();
  source = new EventSource("/api/v1/stream?view=page" + (every ? "&processes=all" : ""));
  source.onmessage = (event) => { wait = SOON; hear(event); };
  source.onerror = comeBack;
}

// After an answer that is not a stream, the browser does not try again by itself.
function comeBack() {
  if (!source || source.readyState !== EventSource.CLOSED) return;
  clearTimeout(again);
  again = setTimeout(listen, wait);
  wait = Math.min(2 * wait, LATEST);
}

function rest() {
  clearTimeout(again);
  if (source) source.close();
  source = null;
}

let lostAt = "";
const STATES = { live: "live", late: "no news", off: "not connected", paused: "paused" };

function showState() {
  const age = (performance.now() - heard) / 1000;
  const state = paused ? "paused" : !source || source.readyState !== 1 ? "off" : heard && age > 10 ? "late" : "live";
  const words = !heard && state === "off" ? "connecting" : STATES[state] + (state === "late" ? " for " + duration(Math.floor(age / 10) * 10) : "");
  if (by("state").textContent !== words) by("state").textContent = words;
  by("state").dataset.state = heard || state !== "off" ? state : "";
  const lost = heard > 0 && (state === "off" || state === "late");
  document.body.classList.toggle("lost", lost);
  by("lost").hidden = !lost;
  if (!lost) { lostAt = ""; return; }
  if (lostAt) return;
  lostAt = new Date(Date.now() - age * 1000).toLocaleTimeString();
  by("lost-words").textContent = (state === "off" ? "Not connected" : "Nothing new") + " since " + lostAt + ": these figures are of that time. The page tries again by itself.";
}

function pause() {
  paused = !paused;
  by("pause").setAttribute("aria-pressed", String(paused));
  by("pause").textContent = paused ? "Go on" : "Pause";
  if (!paused && last) showAll(last);
  showState();
}

// ---- start ----

let markWhich;

function start() {
  charts.start(by("charts"));
  choice(by("window"), WINDOWS, 900, charts.show);
  markWhich = choice(by("which"), [[false, "On devices"], [true, "All"]], false, (all) => { every = all; listen(); if (last) showAll(last); });
  processes.listen(counts);
  processes.show(ROWS);
  by("search").addEventListener("input", () => processes.search(by("search").value));
  by("more").addEventListener("click", () => processes.show(processes.state.shown + 500));
  by("pause").addEventListener("click", pause);
  by("lost-try").addEventListener("click", listen);
  by("whole").addEventListener("click", plot.whole);
  plot.onpart((part) => { by("whole").hidden = part === null; });
  addEventListener("hashchange", follow);
  by("theme").addEventListener("click", turnTheme);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", charts.redraw);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) rest();
    else if (!source) { begun = false; listen(); }
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || /^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
    event.preventDefault();
    by("search").focus();
  });
  tip.start();
  showTheme();
  follow();
  listen();
  setInterval(showState, 1000);
}

start();
