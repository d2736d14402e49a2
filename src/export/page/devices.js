// devices.js: a card for each device, with its partitions, and the tiles of the machine.
import { make, show, get, number, missing, say, forms, why } from "./words.js";
import { makeSpark, spark } from "./charts.js";
import * as past from "./past.js";
import { addressOf } from "./one.js";

const SPARK_SECONDS = 900;

function recent(table, metric, key) {
  const line = key === undefined ? past.all(table, metric)[0] : past.find(table, metric, key);
  return line ? line.values.slice(past.since(SPARK_SECONDS)) : [];
}

function ratio(part, whole) {
  if (part.v === null) return part;
  if (whole.v === null) return whole;
  return whole.v > 0 ? { v: part.v / whole.v, a: part.a } : missing("unsupported");
}

// "71.8 of 80 GiB", or the one value that is available.
function ofWhole(element, part, whole, form) {
  if (part.v === null || whole.v === null) { show(element, part, form); return; }
  const [much, unit] = say(part, form).split(" "), all = say(whole, form);
  show(element, { v: (all.endsWith(" " + unit) ? much : much + " " + unit) + " of " + all, a: part.a }, "text");
}

// ---- a line with a bar ----

function meter(place, title) {
  const row = place.appendChild(make("div", "meter"));
  row.appendChild(make("span", "what", title));
  const bar = row.appendChild(make("span", "track")), fill = bar.appendChild(make("i"));
  const text = row.appendChild(make("span", "much")).appendChild(make("span"));
  bar.setAttribute("aria-hidden", "true");
  return { row, text, set(part) {
    bar.classList.toggle("unknown", part.v === null);
    fill.style.width = part.v === null ? "0" : (Math.min(Math.max(part.v, 0), 1) * 100).toFixed(1) + "%";
  } };
}

// ---- a device ----

const cards = new Map();

function makeCard(place, key, color) {
  const element = place.appendChild(make("article", "card c" + color)), head = element.appendChild(make("header"));
  const title = head.appendChild(make("h3")), label = title.appendChild(make("a")), name = title.appendChild(make("span", "soft"));
  const heat = head.appendChild(make("span", "heat")).appendChild(make("span"));
  const graph = element.appendChild(makeSpark(color));
  const meters = element.appendChild(make("div", "meters"));
  const card = { element, label, name, heat, graph, use: meter(meters, "Use"), memory: meter(meters, "Memory"), power: meter(meters, "Power"),
                 parts: element.appendChild(make("div", "parts")), facts: element.appendChild(make("p", "facts")), partitions: new Map() };
  cards.set(key, card);
  return card;
}

function factsOf(row, tables) {
  const facts = [], reasons = get(row, "throttle_reasons"), status = get(row, "runtime_status");
  const errors = get(row, "ecc_errors_uncorrected"), fan = get(row, "fan_ratio"), state = get(row, "performance_state");
  const count = tables.gpu_process ? tables.gpu_process.filter((one) => one.parent === row.key).length : 0;
  if (reasons.v) for (const reason of reasons.v.split(/[,+ ]+/)) facts.push(["held back: " + reason.replace(/_/g, " "), "bad"]);
  if (errors.v > 0) facts.push([errors.v + " uncorrected memory errors", "bad"]);
  if (status.v && status.v !== "active") facts.push([status.v, "fair"]);
  if (count > 0) facts.push([count + (count === 1 ? " process" : " processes")]);
  for (const clock of tables.gpu_clock || []) {
    const now = get(clock, "frequency_hertz");
    if (clock.parent === row.key && now.v !== null && /^(.*:)?(sm|graphics)$/.test(clock.label)) { facts.push([forms.hertz(now.v)]); break; }
  }
  for (const engine of tables.gpu_engine || []) {
    const use = get(engine, "utilization_ratio");
    if (engine.parent === row.key && use.v > 0.005) facts.push([engine.label.replace(/^.*:/, "") + " " + forms.percent(use.v)]);
  }
  if (fan.v !== null) facts.push(["fan " + forms.percent(fan.v)]);
  if (state.v !== null) facts.push(["P" + state.v]);
  return facts;
}

function showFacts(place, facts) {
  const said = JSON.stringify(facts);
  if (place.dataset.said === said) return;
  place.dataset.said = said;
  place.replaceChildren(...facts.map(([words, classes]) => make("span", "fact " + (classes || ""), words)));
}

function showPartitions(card, row, tables) {
  const rows = tables.gpu.filter((one) => one.parent === row.key), seen = new Set();
  for (const part of rows) {
    let shown = card.partitions.get(part.key);
    if (!shown) {
      shown = meter(card.parts, "");
      shown.title = shown.row.firstChild;
      card.partitions.set(part.key, shown);
    }
    seen.add(part.key);
    const name = get(part, "name"), use = get(part, "utilization_ratio"), memory = get(part, "memory_used_bytes");
    shown.title.textContent = part.label + (name.v ? " " + name.v : "");
    shown.set(ratio(memory, get(part, "memory_total_bytes")));
    if (use.v === null) ofWhole(shown.text, memory, get(part, "memory_total_bytes"), "bytes");
    else show(shown.text, { v: say(use, "percent") + ", " + say(memory, "bytes"), a: use.a }, "text");
  }
  for (const [key, shown] of card.partitions) if (!seen.has(key)) { shown.row.remove(); card.partitions.delete(key); }
  card.parts.hidden = rows.length === 0;
}

function showCard(card, row, tables) {
  const use = get(row, "utilization_ratio"), used = get(row, "memory_used_bytes"), total = get(row, "memory_total_bytes");
  const power = get(row, "power_watts"), limit = get(row, "power_limit_watts"), name = get(row, "name");
  card.label.textContent = "GPU " + row.label;
  card.label.href = addressOf("gpu", row);
  card.name.textContent = name.v || "";
  card.element.title = get(row, "uuid").v || "";
  show(card.heat, get(row, "temperature_celsius"), "celsius");
  card.use.set(use);
  show(card.use.text, use, "percent");
  card.memory.set(ratio(used, total));
  ofWhole(card.memory.text, used, total, "bytes");
  card.power.set(ratio(power, limit));
  ofWhole(card.power.text, power, limit, "watts");
  card.graph.classList.toggle("none", use.v === null);
  spark(card.graph, recent("gpu", "utilization_ratio", row.key), 1);
  showPartitions(card, row, tables);
  showFacts(card.facts, factsOf(row, tables));
}

// Partitions are shown in the card of their device.
export function showDevices(place, tables) {
  const rows = (tables.gpu || []).filter((row) => row.parent === null || !tables.gpu.some((one) => one.key === row.parent));
  const order = past.devices(), seen = new Set();
  rows.forEach((row, at) => {
    const color = (order.includes(row.label) ? order.indexOf(row.label) : at) % 8;
    let card = cards.get(row.key);
    if (card && !card.element.classList.contains("c" + color)) { card.element.remove(); card = undefined; }
    showCard(card || makeCard(place, row.key, color), row, tables);
    seen.add(row.key);
  });
  for (const [key, card] of cards) if (!seen.has(key)) { card.element.remove(); cards.delete(key); }
  rows.forEach((row, at) => { if (place.children[at] !== cards.get(row.key).element) place.insertBefore(cards.get(row.key).element, place.children[at] || null); });
  return rows.length;
}

// ---- the machine ----

// Joins short texts, without line breaks inside them.
function pieces(place, words) {
  while (place.children.length > words.length) place.lastChild.remove();
  words.forEach((text, at) => {
    const piece = place.children[at] || place.appendChild(make("span"));
    if (piece.textContent !== text) piece.textContent = text;
  });
}

const tiles = new Map();

function tile(place, id, title, color) {
  let found = tiles.get(id);
  if (found) return found;
  const element = place.appendChild(make("div", "tile c" + color));
  element.appendChild(make("h3", "", title));
  const value = element.appendChild(make("p", "value")).appendChild(make("span"));
  found = { element, value, more: element.appendChild(make("p", "more soft")), graph: element.appendChild(makeSpark(color)) };
  element.id = "tile-" + id;
  tiles.set(id, found);
  return found;
}

function showCpu(place, host) {
  const shown = tile(place, "cpu", "CPU", 0), busy = get(host, "cpu_busy_seconds_per_second"), cpus = get(host, "cpus");
  show(shown.value, ratio(busy, cpus), "percent");
  pieces(shown.more, [say(busy, "cores") + " of " + say(cpus, "count") + " CPUs", "load " + ["1m", "5m", "15m"].map((one) => say(get(host, "load_" + one), "plain")).join(" ")]);
  spark(shown.graph, recent("host", "cpu_busy_seconds_per_second"), cpus.v);
}

function showMemory(place, host) {
  const shown = tile(place, "memory", "Memory", 1), used = get(host, "memory_used_bytes"), total = get(host, "memory_total_bytes");
  const swap = get(host, "swap_total_bytes");
  show(shown.value, ratio(used, total), "percent");
  pieces(shown.more, [say(used, "bytes") + " of " + say(total, "bytes")].concat(swap.v > 0 ? ["swap " + say(get(host, "swap_used_bytes"), "bytes")] : []));
  spark(shown.graph, recent("host", "memory_used_bytes"), total.v);
}

function showDevicesTile(place, tables) {
  const rows = (tables.gpu || []).filter((row) => row.parent === null);
  if (rows.length === 0) return;
  const shown = tile(place, "gpu", rows.length === 1 ? "Device" : rows.length + " devices", 2);
  const known = rows.map((row) => get(row, "utilization_ratio")).filter((value) => value.v !== null);
  const sum = (column) => rows.map((row) => get(row, column)).filter((value) => value.v !== null).reduce((all, value) => all + value.v, 0);
  show(shown.value, known.length ? number(known.reduce((all, value) => all + value.v, 0) / known.length) : get(rows[0], "utilization_ratio"), "percent");
  shown.value.title = known.length < rows.length ? "the mean of " + known.length + " that tell" : "";
  pieces(shown.more, [forms.bytes(sum("memory_used_bytes")) + " of " + forms.bytes(sum("memory_total_bytes")), forms.watts(sum("power_watts"))]);
  const lines = past.all("gpu", "utilization_ratio").map((line) => line.values.slice(past.since(SPARK_SECONDS)));
  spark(shown.graph, lines.length ? lines[0].map((_, at) => {
    const values = lines.map((line) => line[at]).filter((value) => value !== null);
    return values.length ? values.reduce((all, value) => all + value, 0) / values.length : null;
  }) : [], 1);
}

function showRates(place, host, id, title, color, pairs) {
  const shown = tile(place, id, title, color), values = pairs.map(([metric]) => get(host, metric));
  const first = recent("host", pairs[0][0]), second = recent("host", pairs[1][0]);
  const known = values.filter((value) => value.v !== null);
  show(shown.value, known.length ? number(known.reduce((all, value) => all + value.v, 0)) : values[0], "rate");
  pieces(shown.more, pairs.map(([, word], at) => word + " " + say(values[at], "rate")));
  spark(shown.graph, first.map((value, at) => (value === null && second[at] === null ? null : (value || 0) + (second[at] || 0))));
}

function showPressure(place, tables) {
  const rows = (tables.pressure || []).filter((row) => get(row, "scope").v === "machine");
  if (rows.length === 0) return;
  const shown = tile(place, "pressure", "Pressure", 6), values = rows.map((row) => get(row, "some_10s_ratio"));
  const worst = values.reduce((most, value) => (value.v !== null && (most.v === null || value.v > most.v) ? value : most), values[0]);
  shown.element.title = "The part of the last ten seconds in which something waited for want of it.";
  show(shown.value, worst, "percent");
  pieces(shown.more, rows.map((row) => get(row, "resource").v + " " + say(get(row, "some_10s_ratio"), "percent")));
  spark(shown.graph, recent("pressure", "some_10s_ratio", rows[values.indexOf(worst)].key), 1);
}

// One cell per CPU, filled by its load; every so many have their number below, which is the distance
// that sixteen of them keep.
function showCpus(place, tables) {
  const rows = tables.cpu || [], apart = 2 ** Math.ceil(Math.log2(Math.max(rows.length / 16, 1)));
  const known = rows.filter((row) => get(row, "busy_seconds_per_second").v !== null);
  const busiest = known.reduce((most, row) => (most === null || get(row, "busy_seconds_per_second").v > get(most, "busy_seconds_per_second").v ? row : most), null);
  place.hidden = rows.length < 2;
  const words = rows.length + " CPUs" + (busiest === null ? "" : ", the busiest is CPU " + say(get(busiest, "index"), "count") + " with " + say(get(busiest, "busy_seconds_per_second"), "percent"));
  if (place.getAttribute("aria-label") !== words) place.setAttribute("aria-label", words);
  while (place.children.length > rows.length) place.lastChild.remove();
  rows.forEach((row, at) => {
    const cell = place.children[at] || place.appendChild(make("span")).appendChild(make("i")).parentNode;
    const busy = get(row, "busy_seconds_per_second"), number = say(get(row, "index"), "count");
    if (at % apart === 0 && cell.dataset.number !== number) cell.dataset.number = number;
    cell.firstChild.style.height = busy.v === null ? "0" : (Math.min(Math.max(busy.v, 0), 1) * 100).toFixed(0) + "%";
    cell.classList.toggle("unknown", busy.v === null);
    cell.dataset.how = "CPU " + say(get(row, "index"), "count") + ": " + (busy.v === null ? "N/A, " + why(busy.a) : say(busy, "percent"));
  });
}

export function showMachine(place, strip, tables) {
  const host = (tables.host || [])[0];
  showCpu(place, host);
  showMemory(place, host);
  showDevicesTile(place, tables);
  showRates(place, host, "disk", "Disks", 3, [["disk_read_bytes_per_second", "read"], ["disk_written_bytes_per_second", "written"]]);
  showRates(place, host, "network", "Network", 5, [["network_received_bytes_per_second", "in"], ["network_transmitted_bytes_per_second", "out"]]);
  showPressure(place, tables);
  showCpus(strip, tables);
}
