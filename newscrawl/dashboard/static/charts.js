// Draws each table marked data-chart above itself. The table holds the numbers; a row without
// numbers is a period without data, shown as a shaded gap; one that is partial is hatched, and one
// in which not all sources were read has a bar above it. data-apart says that its numbers can't be
// added up.
var newscrawlCharts = (function () {
  "use strict";

  var drawn = [], FONT = "12px system-ui, sans-serif";
  // Equal lines are told apart: the later ones are dashed, above the earlier ones.
  var DASHES = [[], [8, 5], [3, 4], [10, 4, 2, 4], [5, 7], [1, 5]];

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function read(table) {
    var names = Array.from(table.tHead.rows[0].cells).slice(1).map(function (cell) {
      return cell.textContent.trim();
    });
    var days = [], labels = [], marks = [], values = names.map(function () { return []; });
    Array.from(table.tBodies[0].rows).forEach(function (row) {
      days.push(Date.parse(row.dataset.day + "T00:00:00Z") / 1000);
      labels.push(row.cells[0].textContent.trim());
      marks.push(row.dataset);
      names.forEach(function (_, i) {
        var cell = row.cells[i + 1];
        var value = cell && cell.dataset.value;
        values[i].push(value === undefined ? null : Number(value));
      });
    });
    return { adds: !("apart" in table.dataset), names: names, days: days, labels: labels, marks: marks, values: values };
  }

  // Each series on top of those after it, so that the first is drawn last and lies below.
  function stacked(values) {
    return values.map(function (_, i) {
      return values[i].map(function (value, x) {
        if (value === null) return null;
        var sum = 0;
        for (var below = 0; below <= i; below++) sum += values[below][x];
        return sum;
      });
    });
  }

  function hatching() {
    var tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    var pen = tile.getContext("2d");
    pen.strokeStyle = colour("--strong-rule");
    pen.lineWidth = 1.5;
    [-4, 0, 4, 8].forEach(function (x) { pen.moveTo(x, 8); pen.lineTo(x + 8, 0); });
    pen.stroke();
    return pen.createPattern(tile, "repeat");
  }

  // Behind the numbers: what they lack.
  function shades(data) {
    return function (plot) {
      var context = plot.ctx, box = plot.bbox, half = plot.bbox.width / data.days.length / 2;
      var bar = 4 * devicePixelRatio;
      context.save();
      data.days.forEach(function (day, x) {
        var left = plot.valToPos(x, "x", true) - half;
        var paint = function (fill, height) {
          context.fillStyle = fill;
          context.fillRect(left, box.top, 2 * half, height);
        };
        if (data.values[0][x] === null) paint(colour("--gap"), box.height);
        else if ("partial" in data.marks[x]) paint(hatching(), box.height);
        if ("unread" in data.marks[x]) paint(colour("--note"), bar);
      });
      context.restore();
    };
  }

  // Names at the ends of lines, in place of a legend, apart from each other.
  var STEP = 15;
  function endNames(data) {
    var pen = document.createElement("canvas").getContext("2d");
    pen.font = FONT;
    var names = data.names.map(function (name) { return name.length > 20 ? name.slice(0, 19) + "…" : name; });
    var width = Math.max.apply(null, names.map(function (name) { return pen.measureText(name).width; }));
    return { width: width + 24, write: function (plot) {
      var context = plot.ctx, box = plot.bbox, ratio = devicePixelRatio, step = STEP * ratio;
      var ends = data.values.map(function (values, i) {
        var x = values.length - 1;
        while (x > 0 && values[x] === null) x--;
        return { i: i, y: plot.valToPos(values[x] || 0, "y", true) };
      }).sort(function (one, other) { return one.y - other.y || one.i - other.i; });
      ends.forEach(function (end, k) { if (k) end.y = Math.max(end.y, ends[k - 1].y + step); });
      ends.reverse().forEach(function (end, k) { end.y = Math.min(end.y, box.top + box.height - k * step); });
      context.save();
      context.font = FONT.replace("12px", 12 * ratio + "px");
      context.textBaseline = "middle";
      context.textAlign = "left";
      ends.forEach(function (end) {
        var left = box.left + box.width + 4 * ratio;
        context.fillStyle = colour("--line-" + (end.i + 1));
        context.fillRect(left, end.y - 2 * ratio, 10 * ratio, 4 * ratio);
        context.fillStyle = colour("--text");
        context.fillText(names[end.i], left + 14 * ratio, end.y);
      });
      context.restore();
    } };
  }

  function ticks(data) {
    return function (_, splits) {
      return splits.map(function (x) {
        if (x !== Math.round(x) || !(x in data.days)) return "";
        var day = new Date(data.days[x] * 1000);
        var name = day.toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
        return data.days.length > 1 && data.days[1] - data.days[0] > 20 * 86400
          ? day.toLocaleDateString("en-GB", { month: "short", year: "2-digit", timeZone: "UTC" }) : name;
      });
    };
  }

  function draw(table) {
    var area = table.closest("figure").querySelector(".canvas");
    var data = read(table);
    area.textContent = "";
    var old = area.parentNode.querySelector(".key-list");
    if (old) old.remove();
    if (!data.days.length) return;
    var lines = table.dataset.chart === "lines";
    var sums = lines ? data.values : stacked(data.values);
    var bars = uPlot.paths.bars({ size: [0.82, 60], radius: 0 });
    var order = data.names.map(function (_, i) { return lines ? i : data.names.length - 1 - i; });
    var ends = lines && data.names.length > 1 && area.clientWidth > 560 ? endNames(data) : null;
    var axis = { stroke: colour("--faint"), font: FONT,
                 grid: { stroke: colour("--rule"), width: 1 }, ticks: { show: false } };
    var positions = data.days.map(function (_, x) { return x; });
    var options = {
      width: area.clientWidth, height: Math.max(180, Math.min(320, area.clientWidth * 0.36)),
      padding: [12, ends ? ends.width : 8, 0, 0],
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      legend: { show: false },
      scales: { x: { time: false, range: [-0.6, data.days.length - 0.4] },
                y: { range: function (_, low, high) { return [0, Math.max(high || 0, 4) * 1.06]; } } },
      axes: [
        Object.assign({}, axis, { grid: { show: false }, size: 30, space: 64, values: ticks(data), incrs: [1, 2, 3, 7, 14, 30, 61, 91, 182] }),
        Object.assign({}, axis, { size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 1e6] })
      ],
      series: [{}].concat(
        order.map(function (i) {
          var fill = colour((lines ? "--line-" : "--series-") + (i + 1)) || colour("--series-7");
          var looks = lines ? { stroke: fill, width: 2, dash: DASHES[i % DASHES.length] } : { fill: fill, stroke: fill, width: 0, paths: bars };
          return Object.assign(looks, { label: data.names[i], points: { show: lines && data.days.length < 3 } });
        })),
      hooks: { drawClear: [shades(data)], draw: ends ? [ends.write] : [], setCursor: [function (plot) { legend(area, data, plot.cursor.idx); }] }
    };
    legend(area, data, null, lines);
    area.parentNode.querySelector(".key-list").classList.toggle("on-ends", Boolean(ends));
    var plot = new uPlot(options, [positions].concat(order.map(function (i) { return sums[i]; })), area);
    keys(area, plot, data);
    ways(area, plot, table);
    drawn.push({ plot: plot, area: area });
    area.dataset.drawn = String(data.days.length);
  }

  // What the colours mean: the numbers of the period under the pointer, or of all periods.
  function legend(area, data, x, lines) {
    var list = area.parentNode.querySelector(".key-list");
    if (!list) {
      list = document.createElement("ul");
      list.className = "key-list";
      list.setAttribute("aria-live", "polite");
      area.after(list);
      [""].concat(data.names).forEach(function (name, i) {
        var item = list.appendChild(document.createElement("li"));
        if (i) {
          var key = item.appendChild(document.createElement("span"));
          key.className = "key " + (lines ? "line-" : "stack-") + i;
          if (data.names.length > 1) item.append(name + " ");
        }
        item.appendChild(document.createElement(i ? "b" : "span"));
        if (i && data.names.length === 1) item.append(" " + name);
      });
    }
    var none = x === null || x === undefined;
    list.classList.toggle("read", !none);
    list.querySelector("span").textContent = !none ? data.labels[x] : data.adds ? "Total" : "";
    list.querySelectorAll("b").forEach(function (cell, i) {
      var value = none ? data.values[i].reduce(function (sum, each) { return sum + (each || 0); }, 0)
        : data.values[i][x];
      cell.textContent = value === null ? "no data" : none && !data.adds ? ""
        : value.toLocaleString("en-GB");
    });
  }

  // The arrow keys move from period to period, as the pointer does.
  function keys(area, plot, data) {
    var at = null;
    area.tabIndex = 0;
    area.onkeydown = function (event) {
      if (event.key === "Enter") area.click();
      var step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      at = at === null ? (step > 0 ? 0 : data.days.length - 1)
        : Math.min(Math.max(at + step, 0), data.days.length - 1);
      plot.setCursor({ left: plot.valToPos(at, "x"), top: 0 });
    };
    area.onblur = function () { at = null; plot.setCursor({ left: -10, top: -10 }); };
  }

  // The picture of the chart, on its ground.
  function picture(link) {
    var area = link.closest("figure").querySelector(".canvas"), from = area.querySelector("canvas");
    var whole = document.createElement("canvas"), pen = whole.getContext("2d");
    whole.width = from.width;
    whole.height = from.height;
    pen.fillStyle = colour("--card");
    pen.fillRect(0, 0, whole.width, whole.height);
    pen.drawImage(from, 0, 0);
    link.href = whole.toDataURL();
    link.download = "newscrawl-chart.png";
  }
  document.addEventListener("click", function (event) {
    var link = event.target.closest(".picture");
    if (link) picture(link);
    document.querySelectorAll(".menu[open]").forEach(function (menu) {
      if (!menu.contains(event.target)) menu.open = false;
    });
  });

  // A bar leads where its period in the table leads: to the articles of that day.
  function ways(area, plot, table) {
    function go() {
      var row = table.tBodies[0].rows[plot.cursor.idx];
      var link = row && row.querySelector("th a");
      if (link) link.click();
    }
    area.classList.toggle("leads", Boolean(table.querySelector("tbody th a")));
    area.onclick = go;
  }

  new ResizeObserver(function () {
    drawn = drawn.filter(function (each) { return each.area.isConnected; });
    drawn.forEach(function (each) {
      var width = each.area.clientWidth;
      if (width && width !== each.plot.width) {
        each.plot.setSize({ width: width, height: Math.max(180, Math.min(320, width * 0.36)) });
      }
    });
  }).observe(document.documentElement);

  return {
    draw: function (within, anew) {
      within.querySelectorAll("table[data-chart]").forEach(function (table) {
        var area = table.closest("figure").querySelector(".canvas");
        if (anew || !area.dataset.drawn) draw(table);
      });
    }
  };
})();
