// report.js: puts a chart that can be zoomed in the place of each drawn one. Reads the data that
// stands in the page; asks nobody. Without it, or without uPlot, the drawn charts stay.
(function () {
  "use strict";
  var holder = document.getElementById("data");
  if (!holder || typeof uPlot === "undefined") return;
  var data = JSON.parse(holder.textContent);
  var charts = [];

  function color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function digits(value) {
    var size = Math.abs(value);
    return size >= 100 || size === Math.round(size) ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2);
  }

  function bytes(value) {
    var names = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], at = 0;
    while (Math.abs(value) >= 1024 && at + 1 < names.length) { value /= 1024; at++; }
    return digits(value) + " " + names[at];
  }

  var units = {
    bytes: bytes,
    "bytes/s": function (value) { return bytes(value) + "/s"; },
    ratio: function (value) { return digits(value * 100) + " %"; },
    watts: function (value) { return digits(value) + " W"; },
    cores: function (value) { return digits(value); }
  };

  function words(unit, value) {
    return value === null || value === undefined ? "–" : (units[unit] || digits)(value);
  }

  function pad(value) { return (value < 10 ? "0" : "") + value; }

  function elapsed(seconds) {
    if (seconds === null || seconds === undefined) return "–";
    var whole = Math.floor(Math.abs(seconds) + 1e-6), part = Math.abs(seconds) - whole;
    var text = whole >= 3600 ? Math.floor(whole / 3600) + ":" + pad(Math.floor(whole / 60) % 60) + ":" + pad(whole % 60)
                             : Math.floor(whole / 60) + ":" + pad(whole % 60);
    return part > 0.004 ? text + part.toFixed(2).slice(1) : text;
  }

  function shade(chart) {
    var context = chart.ctx, box = chart.bbox;
    context.save();
    context.beginPath();
    context.rect(box.left, box.top, box.width, box.height);
    context.clip();
    context.fillStyle = color("--shade");
    data.phases.forEach(function (phase) {
      var from = chart.valToPos(phase.begin, "x", true), to = chart.valToPos(phase.end, "x", true);
      context.fillRect(from, box.top, Math.max(to - from, 1), box.height);
    });
    context.restore();
  }

  // Powers of two for bytes: 256 MiB is a round number, 250000000 is none.
  var binary = [];
  for (var power = 0; power < 60; power++) binary.push(Math.pow(2, power));

  function draw(figure, chart) {
    var isBytes = chart.unit.indexOf("bytes") === 0;
    var series = [{ label: "time", value: function (self, value) { return elapsed(value); } }];
    chart.series.forEach(function (one, index) {
      series.push({
        label: one.label, stroke: color("--s" + index % 8), width: 1.6, spanGaps: false,
        points: { show: data.seconds.length < 40 },
        value: function (self, value) { return words(chart.unit, value); }
      });
    });
    var axis = { stroke: color("--soft"), grid: { stroke: color("--grid"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    var options = {
      width: figure.clientWidth - 24, height: 230, series: series,
      cursor: { sync: { key: "vitals" }, drag: { x: true, y: false } },
      scales: { x: { time: false }, y: { range: function (self, low, high) { return [0, high > 0 ? high * 1.06 : 1]; } } },
      axes: [
        Object.assign({ size: 30, space: 64, values: function (self, splits) { return splits.map(elapsed); },
                        incrs: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400] }, axis),
        Object.assign({ size: 78, values: function (self, splits) { return splits.map(function (value) { return words(chart.unit, value); }); } }, isBytes ? { incrs: binary } : {}, axis)
      ],
      hooks: { drawClear: [shade] }
    };
    var made = new uPlot(options, [data.seconds].concat(chart.series.map(function (one) { return one.values; })), figure);
    made.root.querySelectorAll(".u-legend .u-series").forEach(function (row, index) {
      if (index > 0) row.title = chart.series[index - 1].how;
    });
    figure.classList.add("live");
    charts.push(made);
  }

  function drawAll() {
    charts.forEach(function (made) { made.destroy(); });
    charts = [];
    data.charts.forEach(function (chart) {
      var figure = document.getElementById(chart.id);
      if (figure) draw(figure, chart);
    });
  }

  drawAll();
  document.documentElement.classList.add("js");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  var width = innerWidth;
  addEventListener("resize", function () {
    if (innerWidth === width) return;
    width = innerWidth;
    charts.forEach(function (made) {
      made.setSize({ width: made.root.parentNode.clientWidth - 24, height: 230 });
    });
  });
})();
