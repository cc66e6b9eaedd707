"use strict";
// The charts of a report. Everything that can be read without them is in the page; here is what moves.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const colours = 15;
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const level = (text, at) => letters.indexOf(text[at]);
  const levels = letters.length - 1;
  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = number => style(`--c${number % colours}`);
  const swatch = (number, box = "0 0 16 10") => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    made.setAttribute("viewBox", box);
    made.setAttribute("aria-hidden", "true");
    rect.setAttribute("class", `c${number % colours}`);
    rect.setAttribute("width", "100%");
    rect.setAttribute("height", "100%");
    made.append(rect);
    return made;
  };

  // --- numbers

  const digits = value => {
    const size = Math.abs(value);
    if (size > 0 && size < 0.001) return value.toExponential(1);
    const decimals = size >= 999.5 ? 0 : size >= 99.95 ? 1 : size >= 9.995 ? 2 : 3;
    const text = value.toFixed(decimals);
    if (!decimals) return text.replace(/\B(?=(\d{3})+$)/g, ",");
    return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  };
  const scaleOf = (value, scales) => scales.find(([scale]) => Math.abs(value) >= scale * 0.9995) || scales.at(-1);
  const prefixes = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
  const times = [[1, "s"], [1e-3, "ms"], [1e-6, "us"], [1e-9, "ns"]];
  const seconds = value => {
    if (value === 0) return "0 s";
    const [scale, name] = scaleOf(value, times);
    return `${digits(value / scale)} ${name}`;
  };
  const show = (value, unit) => {
    if (value === null || value === undefined) return "–";
    if (unit === "ns") return seconds(value / 1e9);
    if (unit === "share") {
      const percent = value * 100;
      // A share of a million is told in full.
      return `${(percent > 0 && percent < 0.001 ? String(Number(percent.toPrecision(2))) : digits(percent)).replace(/^0\./, ".")} %`;
    }
    const [scale, prefix] = scaleOf(value, prefixes);
    return `${digits(value / scale)} ${prefix}${unit}`.trim();
  };
  // Marks of an axis of time, all in the unit of the greatest, with as many decimals as tell them apart.
  const timeMarks = (chart, marks, axis, space, step) => {
    const [scale, name] = scaleOf(Math.max(...marks.map(Math.abs)), times);
    const isWhole = value => Math.abs(value - Math.round(value)) < 1e-6;
    let decimals = 0;
    while (decimals < 9 && !isWhole(step / scale * 10 ** decimals)) decimals++;
    return marks.map(mark => `${(mark / scale).toFixed(decimals)} ${name}`);
  };

  // --- axes and frames

  const charts = []; // all, to be drawn again when colours or sizes change
  const axis = more => Object.assign({
    filter: (u, marks) => marks,
    stroke: () => style("--ink"),
    grid: { stroke: () => style("--line"), width: 1 },
    ticks: { stroke: () => style("--line"), width: 1 },
    font: "12px system-ui, sans-serif",
  }, more);
  // On paper, which nothing can measure before it is printed: a page's width and its half, in CSS pixels, with margins
  // of 11 mm (A4 and Letter).
  const paper = { whole: 690, half: 335, several: 690 };
  const isPaper = () => "print" in document.documentElement.dataset;
  const onPaper = place => place.id === "share" ? [paper.whole, 170]
    : data.runs.length > 1 ? [Math.floor(paper.several / data.runs.length) - 12, 110] : [paper.half, 110];
  const wide = place => isPaper() ? onPaper(place)[0] : Math.max(260, place.clientWidth || 600);
  const put = (place, options, columns, height) => {
    const chart = new uPlot(Object.assign({ width: wide(place), height, legend: { show: false } }, options), columns, place);
    charts.push({ chart, place, height });
    return chart;
  };
  // The names of a chart's lines with their colours, seen without a mouse; with one, the values where it is. Lines that
  // do not lie on each other can be hidden.
  const legend = (place, entries, isFixed) => {
    const list = element("ul", undefined, "legend"), values = [];
    const found = { chart: null, tell: at => values.forEach((value, number) => value.textContent = entries[number].value(at)) };
    for (const { name, colour: number, series } of entries) {
      const item = element("li"), button = element(isFixed ? "span" : "button"), value = element("output");
      button.append(swatch(number), name);
      if (!isFixed) {
        button.type = "button";
        button.setAttribute("aria-pressed", "true");
        button.addEventListener("click", () => {
          const show = !found.chart.series[series].show;
          button.setAttribute("aria-pressed", show);
          found.chart.setSeries(series, { show });
        });
      }
      values.push(value);
      item.append(button, " ", value);
      list.append(item);
    }
    place.append(list);
    return found;
  };

  const decades = (least, most) => [Math.floor(Math.log10(least) + 1e-9), Math.ceil(Math.log10(most) - 1e-9)];
  // Marks of a logarithmic axis: decades, or every second or third of them, and within few decades also 2 and 5.
  const logMarks = places => (u, axis, least, most) => {
    const [low, high] = decades(least, most), every = Math.ceil((high - low) / places), marks = [];
    for (let power = low; power <= high; power += every) {
      for (const of of high - low <= 2 ? [1, 2, 5] : [1]) marks.push(of * 10 ** power);
    }
    return marks.filter(mark => mark >= least * 0.999 && mark <= most * 1.001);
  };

  // --- the share of requests that take longer

  const drawShares = place => {
    const tables = [], series = [{}], entries = [];
    data.runs.forEach((run, number) => {
      ["read", "write", "flush"].forEach((kind, of) => {
        if (!run.share[kind]) return;
        tables.push(run.share[kind]);
        const alone = data.runs.length === 1, painted = alone ? of : number, kinds = kind === "flush" ? "flushes" : `${kind}s`;
        const at = series.length, isBroken = kind === "write" && !alone;
        series.push({
          stroke: () => colour(painted), dash: isBroken ? [6, 3] : undefined, width: 1.6, spanGaps: true,
          points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }),
        });
        entries.push({
          name: (alone ? kinds : `${run.name}: ${kinds}`) + (isBroken ? " (broken line)" : ""), colour: painted, series: at,
          value: row => {
            if (row === null) return "";
            // Between its steps a curve has the value of the one before.
            for (let back = row; back >= 0; back--) if (joined[at][back] !== null) return show(joined[at][back], "share");
            return "–";
          },
        });
      });
    });
    if (!tables.length) return;
    const joined = tables.length > 1 ? uPlot.join(tables) : tables[0];
    const whole = (least, most) => decades(least, most).map(power => 10 ** power);
    const names = legend(place, entries, false), when = element("p", "", "at");
    const chart = put(place, {
      hooks: { setCursor: [u => {
        const { idx } = u.cursor, row = idx === undefined ? null : idx;
        names.tell(row);
        when.textContent = row === null ? "" : `longer than ${show(joined[0][row], "ns")}`;
      }] },
      scales: {
        x: { time: false, distr: 3, range: (u, least, most) => whole(least, Math.max(most, least * 1.01)) },
        y: { distr: 3, range: (u, least) => [Math.min(whole(least, 1)[0], 0.1), 1] },
      },
      axes: [
        axis({ label: "latency", labelSize: 18, size: 32, labelFont: "12px system-ui, sans-serif", splits: logMarks(10), values: (u, marks) => marks.map(mark => mark === null ? null : show(mark, "ns")) }),
        axis({ label: "share of requests slower", labelSize: 20, labelFont: "12px system-ui, sans-serif", size: 70, splits: logMarks(8),
          values: (u, marks) => marks.map(mark => mark === null ? null : show(mark, "share")) }),
      ],
      series,
      cursor: { drag: { x: true, y: false } },
    }, joined, 340);
    chart.root.dataset.chart = "share";
    names.chart = chart;
    place.append(when);
  };

  // --- over time: one cursor and one zoom for all

  const overTime = { charts: [], whole: [0, 0], shown: [0, 0] };
  const told = document.getElementById("shown-time"), overTimeAt = element("span", "", "soft");
  if (told) told.after(overTimeAt);
  const zoom = (least, most) => {
    const [begin, end] = overTime.whole;
    const length = Math.min(Math.max(most - least, (end - begin) * 1e-6), end - begin);
    least = Math.min(Math.max(least, begin), end - length);
    overTime.shown = [least, least + length];
    for (const { chart } of overTime.charts) chart.setScale("x", { min: least, max: least + length });
    if (told) told.textContent = `${seconds(least)} to ${seconds(least + length)}`;
  };
  const zoomBy = (factor, shift) => {
    const [least, most] = overTime.shown, length = most - least;
    const middle = (least + most) / 2 + shift * length;
    zoom(middle - length * factor / 2, middle + length * factor / 2);
  };
  const timeOptions = (series, y, more) => ({
    scales: { x: { time: false, range: () => overTime.shown }, y },
    axes: [axis({ values: timeMarks, space: 90, size: 32 }), axis({ size: 78, space: 22, ...more.axis })],
    series: [{}, ...series],
    cursor: {
      sync: { key: "time", scales: ["x", null], setSeries: false,
        filters: { pub: type => type === "mousemove" || type === "mouseleave" } },
      drag: { x: true, y: false, setScale: false },
      bind: { dblclick: () => () => zoom(...overTime.whole) },
      points: { show: more.points },
    },
    hooks: {
      setSelect: [u => {
        const { left, width } = u.select;
        if (width < 3) return;
        zoom(u.posToVal(left, "x"), u.posToVal(left + width, "x"));
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      }],
      ...more.hooks,
    },
  });
  // Least and greatest of what is shown of a chart, in all runs: their axes are the same.
  const extremes = (group, isLog) => {
    const [from, to] = overTime.shown;
    let least = Infinity, most = -Infinity;
    for (const { x, columns } of group) {
      for (const column of columns) {
        for (let at = 0; at < x.length; at++) {
          // Every second point begins what the one behind it ends.
          const value = column[at], [begins, ends] = at % 2 ? [x[at - 1], x[at]] : [x[at], x[at + 1]];
          if (value === null || ends < from || begins > to || (isLog && value <= 0)) continue;
          if (value < least) least = value;
          if (value > most) most = value;
        }
      }
    }
    return [least, most];
  };
  const yScale = (group, isLog) => ({
    distr: isLog ? 3 : 1,
    range: () => {
      const [least, most] = extremes(group, isLog);
      if (!isLog) return [0, most > 0 ? most * 1.05 : 1];
      if (most < 0) return [1, 10];
      const [low, high] = [Math.floor(Math.log10(least) + 1e-9), Math.ceil(Math.log10(most) - 1e-9)];
      return [10 ** low, 10 ** Math.max(high, low + 1)];
    },
  });
  // What is drawn of a chart: each column, or the sums of it and those before.
  const stacked = columns => {
    const sums = [];
    columns.forEach((column, number) => {
      sums.push(column.map((value, at) => {
        const before = number ? sums[number - 1][at] : 0;
        return value === null ? null : value + before;
      }));
    });
    return sums;
  };
  // A value holds from its time to the next: two points, so that one alone is seen, too.
  const held = column => column.flatMap(value => [value, value]);
  const timesOf = (run, at) => at.flatMap((row, number) => {
    const next = number + 1 < at.length ? at[number + 1] * run.time.interval : run.time.end;
    return [row * run.time.interval, next];
  });
  // Where the run changed for good: a broken line from top to bottom.
  const drawChanges = (u, changes) => {
    const { left, top, width, height } = u.bbox;
    u.ctx.save();
    u.ctx.strokeStyle = getComputedStyle(u.root).color;
    u.ctx.lineWidth = devicePixelRatio;
    u.ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
    for (const { at } of changes) {
      const x = u.valToPos(at, "x", true);
      if (x < left || x > left + width) continue;
      u.ctx.beginPath();
      u.ctx.moveTo(x, top);
      u.ctx.lineTo(x, top + height);
      u.ctx.stroke();
    }
    u.ctx.restore();
  };
  const drawTime = (place, run, told, group) => {
    const columns = told.columns.map(held);
    const sums = told.stacked ? stacked(columns) : columns;
    const drawn = { x: timesOf(run, told.at), columns: told.log ? sums.map(c => c.map(v => v > 0 ? v : null)) : sums };
    group.push(drawn);
    const order = drawn.columns.map((_, number) => number);
    if (told.stacked) order.reverse(); // the greatest sums lie behind
    const series = order.map(number => ({
      stroke: () => colour(told.colours[number]), width: told.widths[number],
      fill: told.stacked ? () => colour(told.colours[number]) : undefined,
      points: { show: false }, cap: "square",
    }));
    const entries = told.names.map((name, number) => ({
      name, colour: told.colours[number], series: 1 + order.indexOf(number),
      value: at => at === null ? "" : show(columns[number][at], told.unit),
    }));
    const names = legend(place, entries, told.stacked || entries.length < 2);
    const marks = (u, marks) => marks.map(mark => mark === null ? null : show(mark, told.unit));
    const chart = put(place, timeOptions(series, yScale(group, told.log), {
      points: true, axis: { values: marks, ...(told.log ? { splits: logMarks(5) } : {}) },
      hooks: {
        draw: [u => drawChanges(u, run.time.changes)],
        setCursor: [u => {
          const { idx, left } = u.cursor, isThere = left >= 0 && idx !== null && idx !== undefined;
          names.tell(isThere ? idx : null);
          if (told && isThere && overTimeAt) overTimeAt.textContent = ` · ${seconds(u.posToVal(left, "x"))}`;
        }],
      },
    }),
      [drawn.x, ...order.map(number => drawn.columns[number])], 190);
    chart.root.dataset.chart = told.key;
    names.chart = chart;
    overTime.charts.push({ chart });
    return chart;
  };

  // --- maps of colours

  const anchors = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
  const shade = share => {
    const at = Math.min(Math.max(share, 0), 1) * (anchors.length - 1), low = Math.min(Math.floor(at), anchors.length - 2);
    return anchors[low].map((from, part) => Math.round(from + (anchors[low + 1][part] - from) * (at - low)));
  };
  const shades = [...Array(levels + 1).keys()].map(of => shade(of / levels));
  const hex = text => [1, 3, 5].map(at => parseInt(text.slice(at, at + 2), 16));
  // What the colours of a picture stand for.
  const scaleTo = (place, from, to) => {
    const canvas = picture(shades.length, 1, cell => shades[cell]), least = element("span", from), most = element("span", to);
    canvas.setAttribute("aria-hidden", "true");
    place.replaceChildren(least, canvas, most);
  };
  const picture = (columns, rows, colour) => {
    const canvas = element("canvas");
    [canvas.width, canvas.height] = [columns, rows];
    const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
    for (let cell = 0; cell < columns * rows; cell++) {
      const found = colour(cell);
      if (found) image.data.set([...found, 255], cell * 4);
    }
    context.putImageData(image, 0, 0);
    return canvas;
  };
  const drawUse = (place, run, told) => {
    const { rows, columns, cells, step, per, name } = told;
    // The first part lies on top.
    const image = picture(columns, rows, cell => shades[level(cells, cell)]);
    const at = element("p", "", "at"), scale = element("div", undefined, "scale");
    scaleTo(scale, "0 %", "100 % of the time");
    place.append(scale);
    const chart = put(place, timeOptions([{ paths: () => null, points: { show: false } }],
      { range: () => [0, rows] }, {
        points: false,
        axis: { splits: () => rows > 1 ? [0.5, rows - 0.5] : [0.5], values: (u, marks) =>
          marks.map(mark => `${name} ${(rows - 0.5 - mark) * per}`), grid: { show: false } },
        hooks: {
          draw: [u => {
            const { left, top, width, height } = u.bbox, [from, to] = overTime.shown;
            u.ctx.save();
            u.ctx.beginPath();
            u.ctx.rect(left, top, width, height);
            u.ctx.clip();
            u.ctx.imageSmoothingEnabled = false;
            const scale = width / (to - from);
            u.ctx.drawImage(image, left - from * scale, top, columns * step * scale, height);
            u.ctx.restore();
          }],
          setCursor: [u => {
            const { left, top } = u.cursor;
            if (!(left >= 0) || !(top >= 0)) return;
            const time = u.posToVal(left, "x"), column = Math.floor(time / step);
            const row = Math.min(Math.floor(top / (u.over.clientHeight / rows)), rows - 1);
            if (column < 0 || column >= columns || row < 0) return;
            const which = per > 1 ? `the busiest of ${name}s ${row * per} to ${row * per + per - 1}` : `${name} ${row}`;
            at.textContent = `${which}: ${digits(level(cells, row * columns + column) / levels * 100)} % at ${seconds(time)}`;
          }],
        },
      }), [[0, run.time.end], [null, null]], Math.min(Math.max(rows * 4, 110), 260));
    chart.root.dataset.chart = told.key;
    place.append(at);
    overTime.charts.push({ chart });
  };

  // Blocks: lanes one below the other, each in as many lines as make the map about three times as wide as high.
  const shapeOf = ({ lanes, per_lane }) => {
    let best = null;
    for (let lines = 1; lines <= per_lane; lines++) {
      const columns = Math.ceil(per_lane / lines), rows = lanes * lines, misfit = Math.abs(Math.log(columns / rows / 3));
      if (!best || misfit < best.misfit) best = { columns, rows, lines, misfit };
      if (columns < rows) break;
    }
    return best;
  };
  const drawBlocks = (place, run) => {
    const { maps, lanes, per_lane, per } = run.blocks, { columns, rows, lines } = shapeOf(run.blocks);
    const choice = element("select"), at = element("p", "", "at"), key = element("div", undefined, "scale");
    const said = element("p", "", "soft");
    const canvas = element("canvas", undefined, "map");
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    at.setAttribute("aria-live", "polite");
    choice.setAttribute("aria-label", "What the map of blocks shows");
    maps.forEach((map, number) => choice.append(new Option(map.title, number)));
    const cellAt = (column, row) => {
      const lane = Math.floor(row / lines), in_lane = (row % lines) * columns + column;
      return in_lane < per_lane && lane < lanes ? lane * per_lane + in_lane : null;
    };
    let chosen = [0, 0];
    const value = (map, cell) => {
      const found = level(map.cells, cell);
      if (found < 0) return "nothing";
      if (map.words) return map.words[found];
      return show(map.least + (map.most - map.least) * found / levels, map.unit);
    };
    const tell = () => {
      const cell = cellAt(...chosen);
      if (cell === null) return;
      const lane = Math.floor(cell / per_lane), first = lane * run.blocks.blocks_per_lane + (cell % per_lane) * per;
      const last = Math.min(first + per, (lane + 1) * run.blocks.blocks_per_lane) - 1;
      const which = last > first ? `blocks ${first} to ${last}` : `block ${first}`;
      at.textContent = `${which}, lane ${lane}: ` + maps.map(map => `${map.title.toLowerCase()} ${value(map, cell)}`).join(", ");
    };
    const draw = () => {
      const map = maps[choice.value];
      const painted = map.words && map.words.map((word, number) => hex(colour(number)));
      const shadeOf = found => found < 0 ? null : painted ? painted[found] : shades[found];
      const image = picture(columns, rows, cell => {
        const place = cellAt(cell % columns, Math.floor(cell / columns));
        return place === null ? null : shadeOf(level(map.cells, place));
      });
      const width = wide(place), size = Math.max(1, Math.floor(width * devicePixelRatio / columns));
      [canvas.width, canvas.height] = [columns * size, rows * size];
      const context = canvas.getContext("2d");
      context.imageSmoothingEnabled = false;
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.setAttribute("aria-label", `${map.title} of ${lanes * run.blocks.blocks_per_lane} blocks; arrow keys read them one by one`);
      said.textContent = map.doc;
      if (!map.words) return scaleTo(key, show(map.least, map.unit), show(map.most, map.unit));
      key.replaceChildren(...map.words.map((word, number) => {
        const item = element("span");
        item.append(swatch(number, "0 0 10 10"), word.replaceAll("_", " "));
        return item;
      }));
    };
    choice.addEventListener("change", draw);
    canvas.addEventListener("pointermove", event => {
      const box = canvas.getBoundingClientRect();
      const within = (of, size, count) => Math.min(Math.max(Math.floor(of / size * count), 0), count - 1);
      chosen = [within(event.clientX - box.left, box.width, columns), within(event.clientY - box.top, box.height, rows)];
      tell();
    });
    canvas.addEventListener("keydown", event => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = [chosen[0] + step[0], chosen[1] + step[1]];
      if (next[0] < 0 || next[0] >= columns || next[1] < 0 || next[1] >= rows) return;
      chosen = next;
      tell();
    });
    place.append(choice, said, key, canvas, at);
    charts.push({ redraw: draw });
    draw();
  };

  // --- putting it all in its places

  // What fills columns once all places of a section are in the page: only then they are as wide as they will be.
  const later = [];
  const inPlace = () => later.splice(0).forEach(fill => fill());
  const inColumns = (place, what, heading = "h4") => {
    const row = element("div", undefined, data.runs.length > 1 ? "columns" : "columns one");
    const columns = data.runs.map(run => {
      const column = element("div");
      if (data.runs.length > 1) column.append(element(heading, run.name));
      return column;
    });
    row.append(...columns);
    place.append(row);
    data.runs.forEach((run, number) => later.push(() => {
      if (!what(columns[number], run)) columns[number].append(element("p", "nothing to show", "none"));
    }));
  };
  const shares = document.getElementById("share");
  if (shares) drawShares(shares);
  const timed = data.runs.filter(run => run.time);
  const time = document.getElementById("time");
  if (time && timed.length) {
    overTime.whole = [0, Math.max(...timed.map(run => run.time.end))];
    overTime.shown = [...overTime.whole];
    document.querySelector(".tools").hidden = false;
    time.classList.toggle("several", data.runs.length > 1);
    // One run takes two pages: what others say as well is not among them.
    const unprinted = ["requests", "programmed", "dirty"];
    const keys = [...new Set(timed.flatMap(run => run.time.charts.map(chart => chart.key)))];
    for (const key of keys) {
      const title = timed.flatMap(run => run.time.charts).find(chart => chart.key === key).title;
      const group = [], block = element("div");
      time.append(block);
      block.append(element("h3", title));
      if (unprinted.includes(key)) block.className = "screen";
      inColumns(block, (column, run) => {
        const found = run.time && run.time.charts.find(chart => chart.key === key);
        return found && drawTime(column, run, found, group);
      });
    }
    const counters = [...new Map(timed.flatMap(run => run.time.counters.map(of => [of.key, of]))).values()];
    if (counters.length) {
      const choice = element("select"), place = element("div"), said = element("p", "", "soft");
      choice.setAttribute("aria-label", "Counter that is shown over time");
      for (const of of counters) choice.append(new Option(of.key, of.key));
      let drawn = [];
      const draw = () => {
        overTime.charts = overTime.charts.filter(({ chart }) => !drawn.includes(chart));
        for (const chart of drawn) {
          charts.splice(charts.findIndex(of => of.chart === chart), 1);
          chart.destroy();
        }
        place.textContent = "";
        drawn = [];
        const group = [];
        inColumns(place, (column, run) => {
          const found = run.time && run.time.counters.find(of => of.key === choice.value);
          if (!found) return false;
          said.textContent = found.doc;
          const told = { key: "counter", at: run.time.counters_at, columns: [found.values], names: [found.unit],
            colours: [0], widths: [1.4], unit: "", log: false, stacked: false };
          drawn.push(drawTime(column, run, told, group));
          return true;
        });
      };
      choice.addEventListener("change", () => {
        draw();
        inPlace();
      });
      const label = element("h3", "Any counter "), block = element("div", undefined, "screen");
      label.append(choice);
      block.append(label, said, place);
      time.append(block);
      draw();
    }
    const uses = [...new Set(timed.flatMap(run => run.time.use.map(use => use.key)))];
    for (const key of uses) {
      const first = timed.flatMap(run => run.time.use).find(use => use.key === key);
      const block = element("div", undefined, "screen");
      block.append(element("h3", first.title), element("p", first.doc, "soft"));
      time.append(block);
      inColumns(block, (column, run) => {
        const found = run.time && run.time.use.find(use => use.key === key);
        if (found) drawUse(column, run, found);
        return found;
      });
    }
    inPlace();
    zoom(...overTime.whole);
    const commands = { in: [0.5, 0], out: [2, 0], earlier: [1, -0.5], later: [1, 0.5] };
    for (const [name, [factor, shift]] of Object.entries(commands)) {
      document.getElementById(`time-${name}`).addEventListener("click", () => zoomBy(factor, shift));
    }
    document.getElementById("time-all").addEventListener("click", () => zoom(...overTime.whole));
    time.addEventListener("keydown", event => {
      if (event.target.closest("select")) return;
      const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "earlier", ArrowRight: "later", 0: "all" };
      const name = keys[event.key];
      if (!name) return;
      event.preventDefault();
      document.getElementById(`time-${name}`).click();
    });
  }
  const blocks = document.getElementById("blocks");
  if (blocks) {
    inColumns(blocks, (column, run) => {
      if (run.blocks) drawBlocks(column, run);
      return run.blocks;
    }, "h3");
    inPlace();
  }

  // --- sizes, colours, paper

  const redraw = () => {
    for (const { chart, redraw } of charts) chart ? chart.redraw(false, true) : redraw();
  };
  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(resize, 100);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  const resize = () => {
    for (const { chart, place, height } of charts.filter(of => of.chart)) {
      chart.setSize({ width: wide(place), height: isPaper() ? onPaper(place)[1] : height });
    }
    redraw();
  };
  window.addEventListener("beforeprint", () => {
    document.documentElement.dataset.print = "";
    resize();
  });
  window.addEventListener("afterprint", () => {
    delete document.documentElement.dataset.print;
    resize();
  });
  // What a test looks at.
  window.wordline = { charts: () => charts.filter(of => of.chart).map(of => of.chart), zoom, shown: () => overTime.shown };
})();
