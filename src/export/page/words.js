// words.js: formats values. A value is {v, a}: the value or null, and its availability. Text from
// processes is only set as the text of elements, never as markup.

const NAMES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const SIGNS = { estimate: "~", lower_bound: "≥", upper_bound: "≤" };
export const meanings = {}; // explanation of each availability, from the server

function digits(value) {
  const size = Math.abs(value);
  if (size >= 99.95) return value.toFixed(0);
  if (size >= 9.995) return value.toFixed(1).replace(/\.0$/, "");
  return value.toFixed(2).replace(/\.?0+$/, "") || "0";
}

export function bytes(value) {
  let at = 0;
  while (Math.abs(value) >= 1023.5 && at + 1 < NAMES.length) { value /= 1024; at++; }
  return (at === 0 ? value.toFixed(0) : digits(value)) + " " + NAMES[at];
}

export function duration(seconds) {
  const days = Math.floor(seconds / 86400), hours = Math.floor(seconds / 3600) % 24;
  const minutes = Math.floor(seconds / 60) % 60;
  if (days > 0) return days + " d " + hours + " h";
  if (hours > 0) return hours + " h " + minutes + " min";
  return minutes > 0 ? minutes + " min" : Math.floor(seconds) + " s";
}

// One formatter per unit.
export const forms = {
  plain: digits,
  count: (value) => String(value),
  bytes,
  rate: (value) => bytes(value) + "/s",
  percent: (value) => (value > 0 && value < 0.001 ? "<0.1" : value < 0.0995 ? digits(Math.round(value * 1000) / 10) : (value * 100).toFixed(0)) + " %",
  watts: (value) => digits(value) + " W",
  celsius: (value) => value.toFixed(0) + " °C",
  hertz: (value) => digits(value / 1e9) + " GHz",
  cores: digits,
  text: (value) => value,
};

export function why(availability) {
  const word = availability.replace(/_/g, " ");
  return meanings[availability] ? word + ": " + meanings[availability] : word;
}

export function say(value, form) {
  if (value.v === null) return value.a === "none" ? "" : "N/A";
  return (form === "text" ? "" : SIGNS[value.a] || "") + forms[form](value.v);
}

// Shows a value in an element: N/A with its reason, inexact values with a mark. Writes only changes.
// `stop`: the keyboard can focus it; in a table there would be too many stops.
export function show(element, value, form, stop = true) {
  const text = say(value, form), doubt = value.a === "have" || value.a === "none" ? "" : why(value.a);
  if (element.textContent !== text) element.textContent = text;
  if ((element.dataset.how || "") === doubt) return;
  element.classList.toggle("na", value.v === null);
  element.classList.toggle("how", doubt !== "");
  if (doubt === "") {
    delete element.dataset.how;
    element.removeAttribute("tabindex");
    element.removeAttribute("aria-description");
  } else {
    element.dataset.how = doubt;
    if (stop) element.tabIndex = 0;
    element.setAttribute("aria-description", doubt);
  }
}

export const missing = (reason) => ({ v: null, a: reason });
export const number = (v) => ({ v, a: "have" });

// Parses a document of page.h: tables of rows, each an object of values.
export function unpack(view) {
  const tables = {};
  for (const name of Object.keys(view.tables)) {
    const { columns, rows, state } = view.tables[name];
    tables[name] = rows.map((cells) => {
      const row = Object.create(null);
      columns.forEach((column, at) => {
        const cell = cells[at];
        if (at < 3) row[column] = cell;
        else row[column] = Array.isArray(cell) ? { v: cell.length > 1 ? cell[1] : null, a: cell[0] } : { v: cell, a: "have" };
      });
      return row;
    });
    tables[name].state = state || "have";
  }
  return tables;
}

export function get(row, column) {
  return (row && row[column]) || missing("not_requested");
}

// Makes an element: make("td", "num", "text").
export function make(name, classes, text) {
  const element = document.createElement(name);
  if (classes) element.className = classes;
  if (text !== undefined) element.textContent = text;
  return element;
}
