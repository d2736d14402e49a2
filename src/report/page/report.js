// report.js: puts a chart that can be zoomed (plot.js) in the place of each drawn one. Reads the data that
// stands in the page; asks nobody. Without it the drawn charts stay.
(() => {
  "use strict";
  const holder = document.getElementById("data");
  if (!holder) return;
  const data = JSON.parse(holder.textContent);

  function digits(value) {
    const size = Math.abs(value);
    return size >= 100 || size === Math.round(size) ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2);
  }

  function bytes(value) {
    const names = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let at = 0;
    while (Math.abs(value) >= 1024 && at + 1 < names.length) { value /= 1024; at++; }
    return digits(value) + " " + names[at];
  }

  const units = {
    bytes,
    "bytes/s": (value) => bytes(value) + "/s",
    ratio: (value) => digits(value * 100) + " %",
    watts: (value) => digits(value) + " W",
    cores: digits
  };

  const words = (unit, value) => (value === null || value === undefined ? "–" : (units[unit] || digits)(value));
  const pad = (value) => String(value).padStart(2, "0");

  function elapsed(seconds) {
    const whole = Math.floor(Math.abs(seconds) + 1e-6), part = Math.abs(seconds) - whole;
    const text = whole >= 3600 ? Math.floor(whole / 3600) + ":" + pad(Math.floor(whole / 60) % 60) + ":" + pad(whole % 60)
                               : Math.floor(whole / 60) + ":" + pad(whole % 60);
    return part > 0.004 ? text + part.toFixed(2).slice(1) : text;
  }

  const made = [];
  for (const chart of data.charts) {
    const figure = document.getElementById(chart.id);
    if (!figure) continue;
    const keys = [...figure.querySelectorAll(".key > b")], whole = keys.map((key) => key.textContent);
    const when = figure.querySelector("figcaption").appendChild(document.createElement("span")), place = figure.appendChild(document.createElement("div"));
    const ends = [data.seconds[0], data.seconds[data.seconds.length - 1]];
    when.className = "when";
    place.className = "plot";
    figure.classList.add("live");

    // Of the part that is chosen. The points of a thinned chart are peaks, and have no mean.
    const part = (values, [from, to]) => {
      let sum = 0, weight = 0, peak = null;
      data.seconds.forEach((time, at) => {
        if (values[at] === null || time < from || time > to) return;
        const passed = at > 0 ? time - data.seconds[at - 1] : 0;
        sum += values[at] * passed;
        weight += passed;
        peak = Math.max(peak, values[at]);
      });
      return (data.thinned || weight === 0 ? "" : "mean " + words(chart.unit, sum / weight) + ", ") + "peak " + words(chart.unit, peak);
    };
    made.push(plot.make(place, {
      data: [data.seconds].concat(chart.series.map((one) => one.values)),
      range: ends,
      top: (high) => (high > 0 ? high * 1.06 : 1),
      colors: chart.series.map((_, at) => "--s" + at % 8),
      words: (value) => words(chart.unit, value), clock: elapsed,
      binary: chart.unit.startsWith("bytes"), dots: data.seconds.length < 40, shades: data.phases.map((one) => ({ ...one, color: "--p" + one.color })), height: innerWidth < 640 ? 150 : 200, zooms: true,
      title: figure.querySelector("figcaption b").textContent,
      tell: (at) => elapsed(data.seconds[at]) + ": " + chart.series.map((one) => one.label + " " + words(chart.unit, one.values[at])).join(", "),
      hover: (at, range) => {
        const all = range[0] <= ends[0] && range[1] >= ends[1];
        keys.forEach((key, line) => { key.textContent = at !== null ? words(chart.unit, chart.series[line].values[at]) : all ? whole[line] : part(chart.series[line].values, range); });
        when.textContent = at !== null ? elapsed(data.seconds[at]) : all ? "" : elapsed(range[0]) + " to " + elapsed(range[1]);
      }
    }));
  }
  document.documentElement.classList.add("js");
  const update = () => made.forEach((one) => one.update());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);
  addEventListener("resize", update);
})();
