// plot.js: lines over time on a canvas, for the server's page and for reports. The charts of a page share
// the pointer and the part of the time axis that a drag has chosen. Loads nothing.
const plot = (() => {
  "use strict";
  const LEFT = 70, RIGHT = 8, TOP = 8, BOTTOM = 24, DRAG = 6, BAND = 3; // pixels; a shorter drag chooses nothing
  const all = [];
  let pointer = null, part = null; // the time under the pointer, and [from, to] of the chosen part

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const listeners = [], changed = () => listeners.forEach((listener) => listener(part));
  const whole = () => { part = null; changed(); redraw(); };
  const redraw = () => all.forEach((one) => one.update()), point = () => all.forEach((one) => one.paint());

  // Returns the round values between two, and the step between them, which is at least so long.
  function splits(low, high, least, steps) {
    const ten = Math.pow(10, Math.floor(Math.log10(least)));
    const step = steps === "binary" ? Math.pow(2, Math.ceil(Math.log2(least)))
      : (steps || []).find((one) => one >= least) || [1, 2, 5, 10].map((one) => one * ten).find((one) => one >= least * 0.999);
    const values = [];
    for (let at = Math.ceil(low / step - 1e-6); at * step <= high + step * 1e-6; at++) values.push(Number((at * step).toPrecision(12)));
    return { values, step };
  }

  // Returns the index of the time that is nearest.
  function nearest(times, time) {
    let low = 0, high = times.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] < time) low = middle;
      else high = middle;
    }
    return high > 0 && times[high] - time < time - times[low] ? high : low;
  }

  // Makes a chart in an element. Of `chart` are read at each update:
  //   data     [times, values of a line…], null for a missing value
  //   range    [from, to], the whole time axis
  //   top      (highest value in sight) => highest value that is drawn; the lowest is 0
  //   colors   names of the lines' colors; fills: likewise of the areas below them, or undefined
  //   words    (value) => text; clock: (time, step) => text
  //   binary   round values are powers of two; dots: of each value
  //   shades   [{ begin, end, color }…], parts of the time axis
  //   title, tell(index) => text, for screen readers
  //   height, zooms (a drag chooses a part of the time axis, a double click all), hover(index or null, range)
  function make(place, chart) {
    const canvas = place.appendChild(document.createElement("canvas")), base = document.createElement("canvas"); // without the pointer
    const times = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];
    let wide = 0, scale = 1, range = [0, 1], y = null, from = null, to = null; // of a drag, in pixels
    canvas.className = "plotted";

    const inside = () => Math.max(wide - LEFT - RIGHT, 1);
    const x = (time) => LEFT + (time - range[0]) / (range[1] - range[0] || 1) * inside();
    const timeAt = (pixel) => range[0] + Math.min(Math.max((pixel - LEFT) / inside(), 0), 1) * (range[1] - range[0]);

    // A part of the time axis: tinted, or in a color of its own with a band above.
    function box(context, begin, end, color) {
      const left = Math.max(x(begin), LEFT), width = Math.max(Math.min(x(end), wide - RIGHT) - left, 1);
      context.fillStyle = css(color || "--shade");
      context.globalAlpha = color ? 0.08 : 1;
      context.fillRect(left, TOP, width, chart.height - TOP - BOTTOM);
      context.globalAlpha = 1;
      if (color) context.fillRect(left, TOP - BAND, width, BAND);
    }

    function update() {
      const context = base.getContext("2d"), high = chart.height - TOP - BOTTOM;
      scale = window.devicePixelRatio || 1;
      wide = Math.max(place.clientWidth, 120);
      range = chart.zooms && part ? part : chart.range;
      canvas.width = base.width = wide * scale;
      canvas.height = base.height = chart.height * scale;
      canvas.style.width = wide + "px";
      canvas.style.height = chart.height + "px";
      let highest = 0;
      chart.data[0].forEach((time, at) => {
        if (time < range[0] || time > range[1]) return;
        for (let line = 1; line < chart.data.length; line++) if (chart.data[line][at] > highest) highest = chart.data[line][at];
      });
      const top = chart.top(highest);
      y = (value) => TOP + high - value / top * high;

      context.scale(scale, scale);
      context.font = "11px system-ui, sans-serif";
      context.textBaseline = "middle";
      for (const one of chart.shades || []) if (one.end >= range[0] && one.begin <= range[1]) box(context, one.begin, one.end, one.color);
      const soft = css("--soft"), grid = css("--grid");
      const rows = splits(0, top, top * 34 / high, chart.binary ? "binary" : null);
      const columns = splits(range[0], range[1], Math.max((range[1] - range[0]) * 64 / inside(), 1e-6), times);
      context.textAlign = "right";
      for (const value of rows.values) {
        context.fillStyle = grid;
        context.fillRect(LEFT, Math.round(y(value)), inside(), 1);
        context.fillStyle = soft;
        context.fillText(chart.words(value), LEFT - 8, y(value));
      }
      context.textAlign = "center";
      for (const time of columns.values) {
        context.fillStyle = grid;
        context.fillRect(Math.round(x(time)), TOP, 1, high);
        context.fillStyle = soft;
        const text = chart.clock(time, columns.step);
        context.fillText(text, Math.min(x(time), wide - 1 - context.measureText(text).width / 2), chart.height - BOTTOM / 2);
      }

      context.save();
      context.beginPath();
      context.rect(LEFT, 0, inside(), TOP + high);
      context.clip();
      chart.colors.forEach((color, line) => {
        const values = chart.data[line + 1], stroke = new Path2D(), area = new Path2D(), dots = new Path2D();
        let begun = null;
        const close = (end) => { if (begun !== null) { area.lineTo(x(chart.data[0][end]), y(0)); area.lineTo(x(chart.data[0][begun]), y(0)); } };
        values.forEach((value, index) => {
          if (value === null) { close(index - 1); begun = null; return; }
          for (const path of [stroke, area]) path[begun === null ? "moveTo" : "lineTo"](x(chart.data[0][index]), y(value));
          if (begun === null) begun = index;
          if (chart.dots) dots.addPath(dot(index, value, 2));
        });
        close(values.length - 1);
        if (chart.fills && chart.fills[line]) {
          context.fillStyle = css(chart.fills[line]);
          context.fill(area);
        }
        context.strokeStyle = context.fillStyle = css(color);
        context.lineWidth = 1.6;
        context.stroke(stroke);
        context.fill(dots);
      });
      context.restore();
      paint();
    }

    function dot(index, value, size) {
      const path = new Path2D();
      path.arc(x(chart.data[0][index]), y(value), size, 0, 7);
      return path;
    }

    // Draws the base, and on it the drag and the values under the pointer.
    function paint() {
      const context = canvas.getContext("2d");
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.clearRect(0, 0, canvas.width, canvas.height);
      context.drawImage(base, 0, 0);
      context.scale(scale, scale);
      const [time, ...lines] = chart.data, at = pointer === null || !time.length ? null : nearest(time, pointer);
      if (from !== null && to !== null) box(context, timeAt(Math.min(from, to)), timeAt(Math.max(from, to)));
      if (at !== null && time[at] >= range[0] && time[at] <= range[1]) {
        context.fillStyle = css("--soft");
        context.fillRect(Math.round(x(time[at])), TOP, 1, chart.height - TOP - BOTTOM);
        lines.forEach((values, line) => {
          if (values[at] === null || values[at] === undefined) return;
          context.fillStyle = css(chart.colors[line]);
          context.fill(dot(at, values[at], 3.5));
        });
      }
      chart.hover(at, range);
    }

    // Chooses a part of the time axis; all of it if the part holds it.
    const choose = ([begin, end]) => {
      const all = begin <= chart.range[0] && end >= chart.range[1];
      part = all ? null : [Math.max(begin, chart.range[0]), Math.min(end, chart.range[1])];
      changed();
    };
    const pixel = (event) => event.clientX - canvas.getBoundingClientRect().left;
    const drop = () => {
      document.removeEventListener("mouseup", drop);
      if (to !== null && Math.abs(to - from) >= DRAG) choose([timeAt(Math.min(from, to)), timeAt(Math.max(from, to))]);
      from = to = null;
      redraw();
    };
    canvas.addEventListener("mousemove", (event) => {
      pointer = timeAt(pixel(event));
      if (from !== null) to = pixel(event);
      point();
    });
    canvas.addEventListener("mouseleave", () => { pointer = null; point(); });

    // With the keyboard a chart is a slider along the time: its value is what stands at that moment.
    Object.entries({ role: "slider", tabindex: "0", "aria-label": chart.title, "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": 0, "aria-valuetext": "" })
      .forEach(([name, value]) => canvas.setAttribute(name, value));
    canvas.addEventListener("keydown", (event) => {
      const time = chart.data[0], steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };
      const zoom = { "+": 0.25, "-": 1 }[event.key], back = event.key === "Escape" || event.key === "0";
      if (!time.length || (!(event.key in steps) && !zoom && !back) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      const first = time.findIndex((one) => one >= range[0]), last = time.length - 1 - [...time].reverse().findIndex((one) => one <= range[1]);
      const at = pointer === null ? last : Math.min(Math.max(nearest(time, pointer) + (steps[event.key] || 0), first), last);
      pointer = time[at];
      if (back) { part = null; changed(); }
      if (zoom && chart.zooms) choose([pointer - (range[1] - range[0]) * zoom, pointer + (range[1] - range[0]) * zoom]);
      canvas.setAttribute("aria-valuenow", Math.round((pointer - range[0]) / (range[1] - range[0] || 1) * 100));
      redraw();
      canvas.setAttribute("aria-valuetext", chart.tell(at));
    });
    canvas.addEventListener("blur", () => { pointer = null; point(); });
    if (chart.zooms) {
      canvas.addEventListener("mousedown", (event) => { from = pixel(event); document.addEventListener("mouseup", drop); });
      canvas.addEventListener("dblclick", whole);
    }

    const made = { update, paint, range: () => range, remove: () => { all.splice(all.indexOf(made), 1); canvas.remove(); } };
    all.push(made);
    update();
    return made;
  }

  return { make, whole, part: () => part, onpart: (listener) => listeners.push(listener) };
})();
