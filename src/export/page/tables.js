// tables.js: a table that can be sorted and searched while it changes: rows keep their elements, and
// only changed cells are written.
import { make, show, say } from "./words.js";

// `columns`: {id, title, form, get(row) → value, help, less (hidden on narrow screens), first (the order
// at the first click: 1 or -1), address(row) (of the page that the cell leads to, or null)}. `table` is the element; `then` a column that sorts rows with equal
// values, the highest first.
export function sortable(table, columns, sorted, direction, then) {
  const body = make("tbody"), head = make("thead"), line = head.appendChild(make("tr"));
  const state = { rows: [], column: columns.find((one) => one.id === sorted), direction, most: Infinity, words: [], shown: 0, matching: 0 };
  const listeners = [];

  for (const column of columns) {
    const cell = line.appendChild(make("th", classes(column))), button = cell.appendChild(make("button", "sort", column.title));
    cell.scope = "col";
    button.type = "button";
    if (column.help) button.title = column.help;
    button.addEventListener("click", () => {
      state.direction = state.column === column ? -state.direction : column.first || (column.form === "text" ? 1 : -1);
      state.column = column;
      draw();
    });
    column.head = cell;
  }
  table.append(head, body);

  function classes(column) {
    return (column.form === "text" ? "name" : "num") + (column.id === "command_line" ? " long" : "") + (column.less ? " less" + column.less : "");
  }

  // Missing values come last in either order.
  function compare(a, b) {
    const left = state.column.get(a).v, right = state.column.get(b).v;
    if (left === null || right === null) return (left === null) - (right === null) || alike(a, b);
    const order = typeof left === "string" ? left.localeCompare(right, "en", { numeric: true }) : left - right;
    return order * state.direction || alike(a, b);
  }

  const second = columns.find((one) => one.id === then);
  const alike = (a, b) => (second ? (second.get(b).v || 0) - (second.get(a).v || 0) : 0) || a.key - b.key;

  function matches(row) {
    return state.words.every((word) => columns.some((column) => column.search && say(column.get(row), column.form).toLowerCase().includes(word)));
  }

  function draw() {
    columns.forEach(hide);
    if (!state.column.asked) Object.assign(state, { column: second || columns[0], direction: -1 });
    const found = state.words.length ? state.rows.filter(matches) : state.rows.slice();
    found.sort(compare);
    state.matching = found.length;
    state.shown = Math.min(found.length, state.most);
    while (body.rows.length > state.shown) body.deleteRow(-1);
    for (let at = 0; at < state.shown; at++) {
      const element = body.rows[at] || newRow();
      columns.forEach((column, place) => {
        const cell = element.cells[place].firstChild, address = column.address ? column.address(found[at]) : null;
        show(cell, column.get(found[at]), column.form, false);
        if (cell.getAttribute("href") === address) return;
        if (address === null) cell.removeAttribute("href");
        else cell.setAttribute("href", address);
      });
    }
    for (const column of columns) {
      if (column === state.column) column.head.setAttribute("aria-sort", state.direction > 0 ? "ascending" : "descending");
      else column.head.removeAttribute("aria-sort");
    }
    listeners.forEach((listener) => listener(state));
  }

  // Hide a column that was not requested for any row.
  function hide(column, place) {
    const asked = state.rows.length === 0 || state.rows.some((row) => column.get(row).a !== "not_requested");
    if (column.asked === asked) return;
    column.asked = asked;
    for (const row of table.rows) row.cells[place].hidden = !asked;
  }

  function newRow() {
    const element = body.insertRow();
    for (const column of columns) {
      const cell = element.appendChild(make("td", classes(column)));
      cell.hidden = column.asked === false;
      cell.appendChild(make(column.address ? "a" : "span"));
    }
    return element;
  }

  return {
    state,
    listen: (listener) => listeners.push(listener),
    set(rows) { state.rows = rows; draw(); },
    search(text) { state.words = text.toLowerCase().split(/\s+/).filter((word) => word); draw(); },
    show(most) { state.most = most; draw(); },
  };
}
