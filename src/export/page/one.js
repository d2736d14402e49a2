// one.js: the page of one device or one process: its address, what is known of it, and its charts. The
// address stands behind the "#" of the page's own, and can be sent to others: it names a device by its
// UUID and a process by its pid and its start.
import { make, show, get, number, missing } from "./words.js";

const FACTS = {
  gpu: [["name", "Name", "text"], ["utilization_ratio", "Use", "percent"], ["memory_used_bytes", "Memory in use", "bytes"], ["memory_total_bytes", "Memory", "bytes"],
        ["power_watts", "Power", "watts"], ["power_limit_watts", "Power limit", "watts"], ["temperature_celsius", "Temperature", "celsius"], ["fan_ratio", "Fan", "percent"],
        ["throttle_reasons", "Held back by", "text"], ["ecc_errors_uncorrected", "Uncorrected memory errors", "count"], ["runtime_status", "Status", "text"],
        ["vendor", "Vendor", "text"], ["driver_version", "Driver", "text"], ["uuid", "UUID", "text"]],
  process: [["command_line", "Command line", "text"], ["user", "User", "text"], ["state", "State", "text"], ["workload", "Workload", "text"], ["started", "Started", "text"],
            ["cpu_seconds_per_second", "CPU", "percent"], ["threads", "Threads", "count"], ["resident_bytes", "Memory", "bytes"], ["read_bytes_per_second", "Read", "rate"],
            ["written_bytes_per_second", "Written", "rate"], ["gpus", "On devices", "text"], ["gpu_memory", "GPU memory", "bytes"], ["gpu_use", "GPU use", "percent"]],
};

export function addressOf(table, row) {
  if (table === "gpu") return "#gpu=" + encodeURIComponent(get(row, "uuid").v || row.label);
  const start = get(row, "start_seconds").v;
  return "#process=" + get(row, "pid").v + (start === null ? "" : "," + start);
}

// Returns what an address is about, or null: { table, id }, the id as it stands in the address.
export function parse(address) {
  const found = /^#(gpu|process)=(.+)$/.exec(address);
  return found && { table: found[1], id: found[2].replace(/%2C/gi, ",") };
}

export function find(wanted, tables) {
  return (tables[wanted.table] || []).find((row) => addressOf(wanted.table, row) === "#" + wanted.table + "=" + wanted.id) || null;
}

export function titleOf(wanted, row) {
  if (wanted.table === "gpu") return "GPU " + (row ? row.label : wanted.id);
  return (row ? get(row, "name").v || "process" : "Process") + " " + wanted.id.split(",")[0];
}

// Shows the facts in a list of descriptions. Those that were not requested are left out, as are empty texts.
export function showFacts(place, wanted, row, booted) {
  const start = get(row, "start_seconds").v;
  if (wanted.table === "process") row.started = start === null ? missing("not_requested") : number(new Date((booted + start) * 1000).toLocaleString());
  for (const [column, title, form] of FACTS[wanted.table]) {
    let fact = place.querySelector("[data-of=" + column + "]");
    if (!fact) {
      fact = place.appendChild(make("div"));
      fact.dataset.of = column;
      fact.appendChild(make("dt", "soft", title));
      fact.appendChild(make("dd")).appendChild(make("span"));
    }
    const value = get(row, column);
    if (column === "throttle_reasons" && value.v) Object.assign(row, { [column]: number(value.v.replace(/_/g, " ").replace(/[,+] */g, ", ")) });
    fact.hidden = ["not_requested", "none"].includes(value.a) || value.v === "";
    show(fact.lastChild.firstChild, get(row, column), form);
  }
}
