// Draws each table marked data-chart above itself. The table holds the numbers; a row without
// numbers is a period without data, shown as a shaded gap; one that is partial is hatched, and one
// in which not all sources were read has a bar above it. data-apart says that its numbers can't be
// added up.
let drawn = [], FONT = "12px system-ui, sans-serif";
// Equal lines are told apart: the later ones are dashed, above the earlier ones.
let DASHES = [[], [8, 5], [3, 4], [10, 4, 2, 4], [5, 7], [1, 5]];

// Canvases know no variables: an element that nobody sees has their colours in the present theme.
let probe = document.head.appendChild(document.createElement("i"));
function colour(name) {
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}
function colourOf(i, lines) {
  return colour(lines && i < 6 ? `--line-${i + 1}` : `--series-${Math.min(i + 1, 7)}`);
}

function read(table) {
  let names = [...table.tHead.rows[0].cells].slice(1).map(cell => cell.textContent.trim());
  let days = [], labels = [], marks = [], values = names.map(() => []);
  [...table.tBodies[0].rows].forEach(row => {
    days.push(Date.parse(row.dataset.day + "T00:00:00Z") / 1000);
    labels.push(row.cells[0].textContent.trim());
    marks.push(row.dataset);
    names.forEach((_, i) => {
      let value = row.cells[i + 1]?.dataset.value;
      values[i].push(value === undefined ? null : Number(value));
    });
  });
  return { adds: !("apart" in table.dataset), names, days, labels, marks, values };
}

// Each series on top of those after it, so that the first is drawn last and lies below.
function stacked(values) {
  return values.map((own, i) => own.map((value, x) =>
    value === null ? null : values.slice(0, i + 1).reduce((sum, each) => sum + each[x], 0)));
}

function hatching() {
  let tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  let pen = tile.getContext("2d");
  pen.strokeStyle = colour("--strong-rule");
  pen.lineWidth = 1.5;
  [-4, 0, 4, 8].forEach(x => { pen.moveTo(x, 8); pen.lineTo(x + 8, 0); });
  pen.stroke();
  return pen.createPattern(tile, "repeat");
}

// Behind the numbers: what they lack.
function shades(data) {
  return plot => {
    let context = plot.ctx, box = plot.bbox, half = box.width / data.days.length / 2;
    let gap = colour("--gap"), partial = hatching(), unread = colour("--note");
    context.save();
    data.days.forEach((_, x) => {
      let paint = (fill, height) => {
        context.fillStyle = fill;
        context.fillRect(plot.valToPos(x, "x", true) - half, box.top, 2 * half, height);
      };
      if (data.values[0][x] === null) paint(gap, box.height);
      else if ("partial" in data.marks[x]) paint(partial, box.height);
      if ("unread" in data.marks[x]) paint(unread, 4 * devicePixelRatio);
    });
    context.restore();
  };
}

// Names at the ends of lines, in place of a legend, apart from each other.
let STEP = 15;
function endNames(data) {
  let pen = document.createElement("canvas").getContext("2d");
  pen.font = FONT;
  let names = data.names.map(name => name.length > 20 ? name.slice(0, 19) + "…" : name);
  let width = Math.max(...names.map(name => pen.measureText(name).width));
  return { width: width + 24, write: plot => {
    let context = plot.ctx, box = plot.bbox, ratio = devicePixelRatio, step = STEP * ratio;
    let ends = data.values.map((values, i) => {
      let x = values.length - 1;
      while (x > 0 && values[x] === null) x--;
      return { i, y: plot.valToPos(values[x] || 0, "y", true) };
    }).sort((one, other) => one.y - other.y || one.i - other.i);
    ends.forEach((end, k) => { if (k) end.y = Math.max(end.y, ends[k - 1].y + step); });
    ends.reverse().forEach((end, k) => end.y = Math.min(end.y, box.top + box.height - k * step));
    context.save();
    context.font = FONT.replace("12px", 12 * ratio + "px");
    context.textBaseline = "middle";
    context.textAlign = "left";
    ends.forEach(end => {
      let left = box.left + box.width + 4 * ratio;
      context.fillStyle = colourOf(end.i, true);
      context.fillRect(left, end.y - 2 * ratio, 10 * ratio, 4 * ratio);
      context.fillStyle = colour("--text");
      context.fillText(names[end.i], left + 14 * ratio, end.y);
    });
    context.restore();
  } };
}

function ticks(data) {
  let months = data.days[1] - data.days[0] > 20 * 86400;
  let form = { month: "short", timeZone: "UTC", ...(months ? { year: "2-digit" } : { day: "numeric" }) };
  return (_, splits) => splits.map(x =>
    x in data.days ? new Date(data.days[x] * 1000).toLocaleDateString("en-GB", form) : "");
}

function drawOver(table) {
  let area = table.closest("figure").querySelector(".canvas");
  let data = read(table);
  area.textContent = "";
  area.parentNode.querySelector(".key-list")?.remove();
  if (!data.days.length) return;
  let lines = table.dataset.chart === "lines";
  let sums = lines ? data.values : stacked(data.values);
  let bars = uPlot.paths.bars({ size: [0.82, 60], radius: 0 });
  let order = data.names.map((_, i) => lines ? i : data.names.length - 1 - i);
  let ends = lines && data.names.length > 1 && area.clientWidth > 560 ? endNames(data) : null;
  let axis = { stroke: colour("--faint"), font: FONT,
               grid: { stroke: colour("--rule"), width: 1 }, ticks: { show: false } };
  let options = {
    width: area.clientWidth, height: Math.max(180, Math.min(320, area.clientWidth * 0.36)),
    padding: [12, ends ? ends.width : 8, 0, 0],
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    legend: { show: false },
    scales: { x: { time: false, range: [-0.6, data.days.length - 0.4] },
              y: { range: (_, low, high) => [0, Math.max(high || 0, 4) * 1.06] } },
    axes: [
      { ...axis, grid: { show: false }, size: 30, space: 64, values: ticks(data), incrs: [1, 2, 3, 7, 14, 30, 61, 91, 182] },
      { ...axis, size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 1e6] }
    ],
    series: [{}, ...order.map(i => {
      let stroke = colourOf(i, lines);
      let looks = lines ? { width: 2, dash: DASHES[i % DASHES.length] } : { fill: stroke, width: 0, paths: bars };
      return { ...looks, stroke, label: data.names[i], points: { show: lines && data.days.length < 3 } };
    })],
    hooks: { drawClear: [shades(data)], draw: ends ? [ends.write] : [], setCursor: [plot => legend(area, data, plot.cursor.idx)] }
  };
  legend(area, data, null, lines);
  area.parentNode.querySelector(".key-list").classList.toggle("on-ends", Boolean(ends));
  let plot = new uPlot(options, [[...data.days.keys()], ...order.map(i => sums[i])], area);
  keys(area, plot, data);
  ways(area, plot, table);
  drawn.push({ plot, area });
  area.dataset.drawn = String(data.days.length);
}

// What the colours mean: the numbers of the period under the pointer, or of all periods.
function legend(area, data, x, lines) {
  let list = area.parentNode.querySelector(".key-list");
  if (!list) {
    list = document.createElement("ul");
    list.className = "key-list";
    list.setAttribute("aria-live", "polite");
    area.after(list);
    ["", ...data.names].forEach((name, i) => {
      let item = list.appendChild(document.createElement("li"));
      if (i) {
        let key = item.appendChild(document.createElement("span"));
        key.className = "key " + (lines ? "line-" : "stack-") + i;
        if (data.names.length > 1) item.append(name + " ");
      }
      item.appendChild(document.createElement(i ? "b" : "span"));
      if (i && data.names.length === 1) item.append(" " + name);
    });
  }
  let none = x == null;
  list.classList.toggle("read", !none);
  list.querySelector("span").textContent = !none ? data.labels[x] : data.adds ? "Total" : "";
  list.querySelectorAll("b").forEach((cell, i) => {
    let value = none ? data.values[i].reduce((sum, each) => sum + (each || 0), 0)
      : data.values[i][x];
    cell.textContent = value === null ? "no data" : none && !data.adds ? ""
      : value.toLocaleString("en-GB");
  });
}

// The arrow keys move from period to period, as the pointer does.
function keys(area, plot, data) {
  let at = null;
  area.tabIndex = 0;
  area.onkeydown = event => {
    if (event.key === "Enter") area.click();
    let step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    at = at === null ? (step > 0 ? 0 : data.days.length - 1)
      : Math.min(Math.max(at + step, 0), data.days.length - 1);
    plot.setCursor({ left: plot.valToPos(at, "x"), top: 0 });
  };
  area.onblur = () => { at = null; plot.setCursor({ left: -10, top: -10 }); };
}

// The picture of the chart, on its ground.
function picture(link) {
  let area = link.closest("figure").querySelector(".canvas"), from = area.querySelector("canvas");
  let whole = document.createElement("canvas"), pen = whole.getContext("2d");
  whole.width = from.width;
  whole.height = from.height;
  pen.fillStyle = colour("--card");
  pen.fillRect(0, 0, whole.width, whole.height);
  pen.drawImage(from, 0, 0);
  link.href = whole.toDataURL();
  link.download = "newscrawl-chart.png";
}
document.addEventListener("click", event => {
  let link = event.target.closest(".picture");
  if (link) picture(link);
  document.querySelectorAll(".menu[open]").forEach(menu => {
    if (!menu.contains(event.target)) menu.open = false;
  });
});

// A bar leads where its period in the table leads: to the articles of that day.
function ways(area, plot, table) {
  area.classList.toggle("leads", Boolean(table.querySelector("tbody th a")));
  area.onclick = () => table.tBodies[0].rows[plot.cursor.idx]?.querySelector("th a")?.click();
}

new ResizeObserver(() => {
  drawn = drawn.filter(each => each.area.isConnected);
  drawn.forEach(each => {
    let width = each.area.clientWidth;
    if (width && width !== each.plot.width) {
      each.plot.setSize({ width, height: Math.max(180, Math.min(320, width * 0.36)) });
    }
  });
}).observe(document.documentElement);

export function draw(anew) {
  document.querySelectorAll("table[data-chart]").forEach(table => {
    if (anew || !table.closest("figure").querySelector(".canvas").dataset.drawn) drawOver(table);
  });
}
