// How each figure is drawn from its numbers, by Plotly. A function of FIGURES gets the figure and its card, and adds
// plots to it; it returns a list of [file name, CSV] of what they show.

const CLASSES = ["#3b7dd8", "#e08a2e", "#3a9d5d", "#b455c8", "#8c96a5", "#c94f4f", "#1aa7a7", "#9a7b3f"];
const GRID = "rgba(128,136,150,0.25)";
const QUIET = { displaylogo: false, responsive: true, toImageButtonOptions: { format: "svg" } };

const textColor = () => getComputedStyle(document.body).color;

function axis(title, more) {
  return { title: { text: title, standoff: 12 }, gridcolor: GRID, zerolinecolor: GRID, linecolor: GRID, automargin: true, ...more };
}

function addPlot(card, traces, layout) {
  const place = element("div", { className: "plot" });
  card.append(place);
  const full = {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: textColor(), size: 12 },
    margin: { l: 70, r: 20, t: 20, b: 45 },
    height: 380,
    hoverlabel: { align: "left" },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
    ...layout,
  };
  place.dataset.traces = traces.length;
  Plotly.newPlot(place, traces, full, QUIET);
  return place;
}

// A choice among named things above the plots, drawn anew when another is taken.
function addChoice(card, label, names, draw) {
  const place = element("div");
  if (names.length > 1) {
    const select = element("select", null, ...names.map((name, i) => element("option", { value: i }, printable(name))));
    select.onchange = () => { place.replaceChildren(); draw(place, Number(select.value)); };
    card.append(element("div", { className: "controls" }, element("label", null, label + " ", select)));
  }
  card.append(place);
  draw(place, 0);
}

// Names of rows, each once.
function uniqueLabels(map) {
  const seen = new Map();
  return map.row_labels.map((label, i) => {
    const text = map.row_name === "port" ? plain(map.row_hosts[i] + " " + label, 40) : plain(label, 20) + (map.row_hosts[i] ? " (" + plain(map.row_hosts[i], 24) + ")" : "");
    const n = seen.get(text) || 0;
    seen.set(text, n + 1);
    return n === 0 ? text : text + " #" + (n + 1);
  });
}

function farthest(rows) {
  let most = 0;
  for (const row of rows) for (const value of row) if (value !== null && Math.abs(value) > most) most = Math.abs(value);
  return most;
}

// Lines between rows of different hosts.
function hostLines(map) {
  const lines = [];
  for (let i = 1; i < map.row_hosts.length; ++i) {
    if (map.row_hosts[i] === map.row_hosts[i - 1]) continue;
    lines.push({ type: "line", xref: "paper", x0: 0, x1: 1, y0: i - 0.5, y1: i - 0.5, line: { width: 0.6, color: "rgba(128,136,150,0.8)" } });
  }
  return lines.length > 40 ? [] : lines;
}

function mapTrace(map, layer) {
  const scale = layer.unit === "ns" ? timeScale(farthest(layer.rows)) : layer.unit === "share" ? [0.01, "%"] : [1, "Gb/s"];
  const z = layer.rows.map((row) => row.map((value) => (value === null ? null : value / scale[0])));
  const most = farthest(z) || 1;
  const isTime = map.column_unit === "ns";
  const x = isTime
    ? [...map.column_begins, map.column_ends[map.column_ends.length - 1]].map((ns) => ns / 1e9)
    : map.column_begins.map((from, i) => (from === map.column_ends[i] ? String(from) : from + "–" + map.column_ends[i]));
  return {
    type: "heatmap", x, y: uniqueLabels(map), z,
    zmin: layer.signed ? -most : 0, zmax: layer.unit === "share" ? 100 : most,
    colorscale: layer.signed ? [[0, "#2166ac"], [0.5, "#d9dce1"], [1, "#b2182b"]] : "Viridis",
    colorbar: { title: { text: scale[1] }, thickness: 12 },
    hovertemplate: map.row_name + " %{y}<br>" + (isTime ? "at %{x:.6f} s" : map.column_name + " %{x}") + "<br>" +
      plain(layer.heading) + " %{z:.4~g} " + scale[1] + "<extra></extra>",
  };
}

function mapLayout(map, layer) {
  const isTime = map.column_unit === "ns";
  return {
    // A row of less than a pixel might not be drawn at all.
    height: Math.max(260, Math.min(900, 110 + 14 * map.row_labels.length), 130 + map.row_labels.length),
    xaxis: axis(isTime ? "s of the run" : map.column_name, isTime ? {} : { type: "category", nticks: 20 }),
    yaxis: axis(map.row_name, { type: "category", autorange: "reversed", nticks: 40 }),
    shapes: hostLines(map),
  };
}

function mapCsv(map) {
  const names = [map.row_name, "node", map.column_name + "_begin", map.column_name + "_end", ...map.layers.map((layer) => layer.name)];
  const rows = [];
  map.row_labels.forEach((label, r) => map.column_begins.forEach((from, c) =>
    rows.push([label, map.row_hosts[r], from, map.column_ends[c], ...map.layers.map((layer) => layer.rows[r][c])])));
  return csvText(names, rows);
}

function drawMap(figure, card) {
  const map = figure.map;
  // One of zeros alone is not what is looked at first.
  const layers = map.layers.slice().sort((a, b) => (farthest(b.rows) > 0) - (farthest(a.rows) > 0));
  addChoice(card, "show", layers.map((layer) => layer.heading), (place, chosen) =>
    addPlot(place, [mapTrace(map, layers[chosen])], mapLayout(map, layers[chosen])));
  return [[figure.id + ".csv", () => mapCsv(map)]];
}

// Rows of a table as objects.
function records(table) {
  return table.rows.map((row) => Object.fromEntries(table.columns.map((column, i) => [column.name, row[i]])));
}

// Rows by a name, in order of first sight.
function grouped(rows, nameOf) {
  const groups = new Map();
  for (const row of rows) {
    const name = nameOf(row);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(row);
  }
  return groups;
}

const kindName = (row) => [row.op, row.dtype, row.algo, row.proto].filter((word) => word && word !== "missing").join(" ") +
  (row.ranks === null ? "" : ", " + row.ranks + " ranks") + (row.grouped ? ", grouped" : "");
const sizeName = (row) => (row.size_bytes === null ? "size unknown" : humanBytes(row.size_bytes));

// The most time first.
function kindsByTime(table) {
  const groups = [...grouped(records(table), kindName)];
  const time = (rows) => rows.reduce((sum, row) => sum + (row.count || 0) * (row.p50_ns || 0), 0);
  groups.sort((a, b) => time(b[1]) - time(a[1]));
  for (const [, rows] of groups) rows.sort((a, b) => (a.size_bytes ?? -1) - (b.size_bytes ?? -1));
  return groups;
}

function boxOf(rows, prefix, name, color, scale) {
  const there = rows.filter((row) => row[prefix + "p25_ns"] !== null && row[prefix + "p75_ns"] !== null);
  const pick = (key, other) => there.map((row) => (row[prefix + key] ?? row[prefix + other]) / scale);
  return {
    type: "box", name, x: there.map(sizeName), marker: { color },
    q1: pick("p25_ns"), median: pick("p50_ns"), q3: pick("p75_ns"),
    lowerfence: pick("p05_ns", "p25_ns"), upperfence: pick("p95_ns", "p75_ns"),
  };
}

function drawSpread(figure, card, table) {
  const kinds = kindsByTime(table);
  addChoice(card, "calls", kinds.map(([name]) => name), (place, chosen) => {
    const rows = kinds[chosen][1];
    const values = rows.flatMap((row) => [row.min_ns, row.p95_ns ?? row.max_ns, row.net_p05_ns, row.net_p25_ns]).filter((v) => v !== null);
    const [scale, unit] = timeScale(Math.max(...values, 1));
    const isHost = rows.every((row) => row.time === "host");
    const traces = [boxOf(rows, "", isHost ? "time of the host's call (enqueue)" : "raw", CLASSES[0], scale)];
    if (rows.some((row) => row.net_p50_ns !== null)) traces.push(boxOf(rows, "net_", "net of waiting", CLASSES[1], scale));
    const reference = rows.filter((row) => row.ref_ns !== null && row.ref_ns !== undefined);
    if (reference.length) traces.push({ type: "scatter", mode: "lines+markers", name: "nccl-tests", x: reference.map(sizeName), y: reference.map((row) => row.ref_ns / scale), line: { dash: "dash", color: CLASSES[2] } });
    const isLog = Math.min(...values) > 0;
    addPlot(place, traces, { boxmode: "group", xaxis: axis("size", { type: "category" }), yaxis: axis(unit, { type: isLog ? "log" : "linear" }) });
  });
  return [[figure.id + ".csv", () => tableCsv(table)]];
}

function drawHistogram(figure, card, spread) {
  const table = figure.tables.histogram;
  const kinds = [...grouped(records(table), (row) => kindName(row) + ", " + sizeName(row))];
  const calls = (rows) => rows.reduce((sum, row) => sum + row.count, 0);
  kinds.sort((a, b) => calls(b[1]) - calls(a[1]));
  addChoice(card, "calls", kinds.map(([name]) => name), (place, chosen) => {
    const rows = kinds[chosen][1];
    const [scale, unit] = timeScale(rows[rows.length - 1].end_ns);
    const x = rows.map((row) => (row.begin_ns + row.end_ns) / 2 / scale);
    const width = (rows[0].end_ns - rows[0].begin_ns) / scale;
    const share = (key) => {
      const whole = rows.reduce((sum, row) => sum + (row[key] || 0), 0) || 1;
      let sum = 0;
      return rows.map((row) => (100 * (sum += row[key] || 0)) / whole);
    };
    const traces = [];
    [["count", "raw", CLASSES[0]], ["net_count", "net of waiting", CLASSES[1]]].forEach(([key, name, color]) => {
      if (rows.every((row) => row[key] === null)) return;
      traces.push({ type: "bar", name, x, y: rows.map((row) => row[key]), width, opacity: 0.6, marker: { color }, hovertemplate: "%{x:.4~g} " + unit + ": %{y} calls<extra>" + name + "</extra>" });
      traces.push({ type: "scatter", mode: "lines", name: name + ", at most so long", x: rows.map((row) => row.end_ns / scale), y: share(key), yaxis: "y2", line: { color }, hovertemplate: "%{y:.1f} % within %{x:.4~g} " + unit + "<extra>" + name + "</extra>" });
    });
    const reference = records(spread).find((row) => row.ref_ns > 0 && kindName(row) + ", " + sizeName(row) === kinds[chosen][0]);
    const shapes = reference ? [{ type: "line", yref: "paper", y0: 0, y1: 1, x0: reference.ref_ns / scale, x1: reference.ref_ns / scale, line: { dash: "dash", color: CLASSES[2] } }] : [];
    addPlot(place, traces, { shapes, barmode: "overlay", xaxis: axis(unit), yaxis: axis("calls"), yaxis2: axis("share of calls, %", { overlaying: "y", side: "right", range: [0, 101], tickmode: "linear", dtick: 20, showgrid: false }), margin: { l: 70, r: 70, t: 20, b: 45 } });
  });
  return [[figure.id + ".csv", () => tableCsv(table)]];
}

function drawBandwidth(figure, card, table, page) {
  const rows = records(table).filter((row) => row.busbw_gb_per_s !== null && row.size_bytes !== null);
  if (rows.length === 0) return "no call has a bus bandwidth: it comes from GPU times of instances of which every member was recorded";
  const traces = [];
  let color = 0;
  for (const [name, kind] of grouped(rows, kindName)) {
    kind.sort((a, b) => a.size_bytes - b.size_bytes);
    const own = CLASSES[color++ % CLASSES.length];
    const x = kind.map((row) => row.size_bytes);
    // The same bytes over another time.
    const at = (row, key) => (row[key] > 0 ? (row.busbw_gb_per_s * row.fast_p50_ns) / row[key] : row.busbw_gb_per_s);
    traces.push({ type: "scatter", mode: "lines", x, y: kind.map((row) => at(row, "net_p95_ns")), line: { width: 0 }, showlegend: false, hoverinfo: "skip", legendgroup: name });
    traces.push({ type: "scatter", mode: "lines", x, y: kind.map((row) => at(row, "net_p05_ns")), line: { width: 0 }, fill: "tonexty", fillcolor: own + "33", showlegend: false, hoverinfo: "skip", legendgroup: name });
    traces.push({ type: "scatter", mode: "lines+markers", name: plain(name), legendgroup: name, x, y: kind.map((row) => row.busbw_gb_per_s), line: { color: own }, text: kind.map((row) => plain(name) + "<br>" + sizeName(row) + ", " + row.count + " calls"), hovertemplate: "%{text}<br>%{y:.4~g} GB/s<extra></extra>" });
    const reference = kind.filter((row) => row.ref_ns > 0);
    if (reference.length) traces.push({ type: "scatter", mode: "lines", name: plain(name) + ", nccl-tests", x: reference.map((row) => row.size_bytes), y: reference.map((row) => at(row, "ref_ns")), line: { color: own, dash: "dash" } });
  }
  const sums = new Map();
  for (const port of records(page.study("network").table)) {
    if (port.line_gbit_per_s > 0) sums.set(port.node, (sums.get(port.node) || 0) + port.line_gbit_per_s / 8);
  }
  const shapes = [], annotations = [];
  if (sums.size) {
    const line = Math.max(...sums.values());
    shapes.push({ type: "line", xref: "paper", x0: 0, x1: 1, y0: line, y1: line, line: { dash: "dot", color: "#8c96a5" } });
    annotations.push({ xref: "paper", x: 1, y: line, yanchor: "bottom", showarrow: false, text: "line rate of a node's ports: " + threeDigits(line) + " GB/s" });
  }
  addPlot(card, traces, { xaxis: axis("size, bytes", { type: "log" }), yaxis: axis("GB/s", { rangemode: "tozero" }), shapes, annotations });
  return [[figure.id + ".csv", () => tableCsv(table)]];
}

function drawCourse(figure, card) {
  const points = records(figure.tables.arrivals), bands = records(figure.tables.bands);
  const [scale, unit] = timeScale(Math.max(1, ...points.map((p) => Math.abs(p.off_middle_ns))));
  const traces = [];
  const band = (name, color, value) => {
    const there = bands.filter((b) => value(b) !== null);
    if (there.length === 0) return;
    const x = there.map((b) => b.last_arrival_ns / 1e9), y = there.map((b) => value(b) / scale);
    traces.push({ type: "scatter", mode: "lines", x, y: y.map((v) => -v), line: { width: 0 }, showlegend: false, hoverinfo: "skip", legendgroup: name });
    traces.push({ type: "scatter", mode: "lines", name, x, y, line: { width: 0 }, fill: "tonexty", fillcolor: color, hoverinfo: "skip", legendgroup: name });
  };
  band("1 std of all members", "rgba(140,150,165,0.25)", (b) => b.std_ns);
  band("3 sigma of the clocks", "rgba(59,125,216,0.25)", (b) => b.clock_ns);
  let color = 0;
  for (const [rank, own] of grouped(points, (p) => p.rank)) {
    traces.push({
      type: "scatter", mode: "lines+markers", name: "rank " + plain(rank) + " (" + plain(own[0].node, 24) + ")",
      x: own.map((p) => p.arrival_ns / 1e9), y: own.map((p) => p.off_middle_ns / scale), line: { width: 1, color: CLASSES[color % CLASSES.length] }, marker: { size: 3, color: CLASSES[color++ % CLASSES.length] },
      text: own.map((p) => (p.step === null ? "" : "step " + p.step + ", ") + humanTime(p.off_middle_ns)),
      hovertemplate: "%{text}<br>at %{x:.6f} s<extra>rank " + plain(rank) + ", " + plain(own[0].node, 24) + "</extra>",
    });
  }
  addPlot(card, traces, { height: 420, xaxis: axis("s of the run"), yaxis: axis("against the middle arrival, " + unit) });
  return [["F5-arrivals.csv", () => tableCsv(figure.tables.arrivals)], ["F5-bands.csv", () => tableCsv(figure.tables.bands)]];
}

// Bars by rank, in order of ranks.
function byRank(table) {
  return records(table).sort((a, b) => (a.rank ?? 1e12) - (b.rank ?? 1e12));
}
const rankNames = (rows) => rows.map((row) => (row.rank === null ? "?" : String(row.rank)));

function stacked(card, rows, parts, hover, layout) {
  const x = rankNames(rows);
  const hosts = rows.map((row) => plain(row.node ?? "?", 24));
  // A thousand bars a part take seconds; their outline is drawn at once.
  const isMany = rows.length > 200;
  const traces = parts.filter(([, values]) => values.some((v) => v > 0)).map(([name, values, color]) => ({
    ...(isMany ? { type: "scatter", mode: "lines", stackgroup: "all", line: { shape: "hvh", width: 0, color }, fillcolor: color }
      : { type: "bar", marker: { color, line: { width: 0 } } }),
    name, x, y: values, customdata: hosts,
    hovertemplate: "rank %{x}, %{customdata}<br>" + name + " %{y:.4~g} " + hover + "<extra></extra>",
  }));
  addPlot(card, traces, { barmode: "stack", bargap: 0.15, xaxis: axis("rank", { type: "category", nticks: 40 }), ...layout });
}

function drawFault(figure, card, table) {
  const rows = byRank(table);
  const [scale, unit] = timeScale(Math.max(1, ...rows.map((row) => row.fault_ns)));
  const keys = ["compute_excess_ns", "host_excess_ns", "copy_excess_ns", "rest_excess_ns"];
  // Only what a cause was longer in than the peers counts for it.
  const part = (row, key) => {
    const sum = keys.reduce((all, k) => all + Math.max(0, row[k] || 0), 0);
    const named = keys.some((k) => row[k] !== null);
    if (key === null) return named && sum > 0 ? 0 : row.fault_ns / scale;
    return named && sum > 0 ? ((Math.max(0, row[key] || 0) / sum) * row.fault_ns) / scale : 0;
  };
  const names = ["slow kernels", "idle for the host", "copies", "the rest", "cause not known"];
  const parts = [...keys, null].map((key, i) => [names[i], rows.map((row) => part(row, key)), CLASSES[i]]);
  const alike = rows.reduce((sum, row) => sum + row.fault_ns, 0) / rows.length / scale;
  stacked(card, rows, parts, unit, {
    yaxis: axis("fault, " + unit),
    shapes: [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: alike, y1: alike, line: { dash: "dash", width: 1.5, color: "#8c96a5" } }],
    annotations: [{ xref: "paper", x: 1, y: alike, yanchor: "bottom", showarrow: false, text: "1/n: " + threeDigits(alike) + " " + unit }],
  });
  return [[figure.id + ".csv", () => tableCsv(table)]];
}

function drawBreakdown(figure, card, table) {
  const rows = byRank(table);
  const percent = (key) => rows.map((row) => 100 * (row[key] || 0));
  const hasCauses = rows.some((row) => row.idle_host_share !== null);
  const parts = [["compute", percent("compute_share"), CLASSES[0]], ["compute and communication", percent("both_share"), CLASSES[6]], ["exposed communication", percent("exposed_share"), CLASSES[1]], ["copies", percent("copies_share"), CLASSES[3]]];
  if (hasCauses) {
    const unknown = rows.map((row) => 100 * Math.max(0, (row.idle_share || 0) - (row.idle_host_share || 0) - (row.idle_launch_share || 0) - (row.idle_other_share || 0)));
    parts.push(["idle for the host", percent("idle_host_share"), CLASSES[5]], ["idle, launch", percent("idle_launch_share"), CLASSES[7]], ["idle, other", percent("idle_other_share"), CLASSES[4]], ["idle, not known why", unknown.map((v) => (v < 1e-6 ? 0 : v)), "#5d6674"]);
  } else {
    parts.push(["idle", percent("idle_share"), CLASSES[4]]);
  }
  stacked(card, rows, parts, "%", { yaxis: axis("share of GPU time, %", { range: [0, 100] }) });
  return [[figure.id + ".csv", () => tableCsv(table)]];
}

// Stretches of time in rows: horizontal bars that begin where they begin.
function stripTraces(rows, rowOf, nameOf, color, hover) {
  return [...grouped(rows, nameOf)].map(([name, own], i) => ({
    type: "bar", orientation: "h", name: plain(name), base: own.map((r) => r.begin_ns / 1e9), x: own.map((r) => Math.max(r.end_ns - r.begin_ns, 0) / 1e9), y: own.map(rowOf),
    marker: { color: color(name, i), line: { width: 0 } }, text: own.map(hover), textposition: "none", hovertemplate: "%{text}<extra></extra>",
  }));
}

function drawPorts(figure, card) {
  const map = figure.map, bands = records(figure.tables.collectives);
  const range = [map.column_begins[0] / 1e9, map.column_ends[map.column_ends.length - 1] / 1e9];
  addChoice(card, "show", map.layers.map((layer) => layer.heading), (place, chosen) => {
    const layer = map.layers[chosen], layout = mapLayout(map, layer);
    const strips = stripTraces(bands, (b) => plain(b.op), (b) => b.op, (_, i) => CLASSES[i % CLASSES.length], (b) => plain(b.op) + "<br>" + (b.begin_ns / 1e9).toFixed(6) + " s, " + humanTime(b.end_ns - b.begin_ns));
    for (const strip of strips) Object.assign(strip, { yaxis: "y2", showlegend: false });
    const share = strips.length ? Math.min(0.4, Math.max(0.12, (30 * strips.length) / layout.height)) : 0;
    layout.height += 30 * strips.length;
    Object.assign(layout.xaxis, { range, anchor: strips.length ? "y2" : "y" });
    layout.yaxis.domain = [strips.length ? share + 0.04 : 0, 1];
    if (strips.length) layout.yaxis2 = axis("", { domain: [0, share], type: "category" });
    layout.barmode = "overlay";
    addPlot(place, [mapTrace(map, layer), ...strips], layout);
  });
  return [["F7-ports.csv", () => mapCsv(map)], ["F7-collectives.csv", () => tableCsv(figure.tables.collectives)]];
}

const KINDS = { transfer: CLASSES[1], compute: CLASSES[0], copy: CLASSES[3], comm: CLASSES[6], host: CLASSES[5], other: CLASSES[4], unknown: "#5d6674" };

function drawCritical(figure, card, table) {
  const path = figure.tables.path, pieces = records(path);
  if (pieces.length === 0) {
    card.append(element("p", { className: "empty" }, "No critical path: " + path.empty_reason + "."));
  } else {
    const name = (p) => (p.rank === "others" ? "other ranks" : "rank " + plain(p.rank) + " (" + plain(p.node, 24) + ")");
    const rows = new Set(pieces.map(name));
    addPlot(card, stripTraces(pieces, name, (p) => p.kind, (kind) => KINDS[kind] || CLASSES[4], (p) => name(p) + (p.step === null ? "" : ", step " + p.step) + "<br>mostly " + p.kind + "<br>" + (p.begin_ns / 1e9).toFixed(6) + " s, " + humanTime(p.end_ns - p.begin_ns)),
      { barmode: "overlay", bargap: 0.1, height: 140 + 24 * rows.size, xaxis: axis("s of the run", { range: [pieces[0].begin_ns / 1e9, Math.max(...pieces.map((p) => p.end_ns)) / 1e9] }), yaxis: axis("", { type: "category", autorange: "reversed" }) });
  }
  const gains = records(table).filter((row) => row.gain !== null && row.scenario !== "replayed").reverse();
  if (gains.length === 0) {
    card.append(element("p", { className: "empty" }, "No what-if scenarios: " + (table.empty_reason || table.verdict) + "."));
  } else {
    addPlot(card, [{ type: "bar", orientation: "h", x: gains.map((row) => 100 * row.gain), y: gains.map((row) => plain(row.scenario)), marker: { color: gains.map((row) => (row.rank === null && row.node === null ? CLASSES[2] : CLASSES[0])) }, text: gains.map((row) => humanTime(row.time_ns)), textposition: "none", hovertemplate: "%{y}<br>%{x:.3~g} % less time: %{text}<extra></extra>" }],
      { height: 110 + 22 * gains.length, xaxis: axis("gain, % of the job's time"), yaxis: axis("", { type: "category" }) });
  }
  if (pieces.length === 0 && gains.length === 0) return "";
  return [["F10-path.csv", () => tableCsv(path)], ["F10-whatif.csv", () => tableCsv(table)]];
}

function drawClocks(figure, card, table) {
  const rows = records(table);
  const parts = [["sigma_ns", "likely error (sigma)"], ["bound_ns", "error at most (bound)"], ["residual_ns", "residual of the worst link"]];
  const there = parts.filter(([key]) => rows.some((row) => row[key] > 0));
  if (there.length === 0) return table.verdict;
  const traces = there.map(([key, name], i) => ({
    type: "bar", name, x: rows.map((row) => plain(row.node, 32)), y: rows.map((row) => (row[key] === null ? null : row[key] / 1e3)), marker: { color: CLASSES[i] },
    customdata: rows.map((row) => plain(row.method)), hovertemplate: "%{x}, %{customdata}<br>" + name + " %{y:.4~g} µs<extra></extra>",
  }));
  addPlot(card, traces, { barmode: "group", xaxis: axis("node", { type: "category", nticks: 40 }), yaxis: axis("µs", { type: "log" }) });
  return [[figure.id + ".csv", () => tableCsv(table)]];
}

const FIGURES = {
  F1: drawSpread, F2: drawHistogram, F3: drawBandwidth, F4: drawMap, F5: drawCourse, F6: drawFault,
  F7: drawPorts, F8: drawMap, F9: drawBreakdown, F10: drawCritical, F11: drawClocks,
};
