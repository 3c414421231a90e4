// A study's table: sorted by a click on a column's head, filtered by what is typed, saved as CSV.

const FIRST_ROWS = 200;
const LONG_TEXT = 240;

function columnIndex(table, name) {
  return table.columns.findIndex((column) => column.name === name);
}

// Every row's value of that column; undefined if there is none.
function columnValues(table, name) {
  const at = columnIndex(table, name);
  return at < 0 ? undefined : table.rows.map((row) => row[at]);
}

function tableCsv(table) {
  return csvText(table.columns.map((column) => column.name), table.rows);
}

// Missing values last, whatever the direction.
function compareCells(a, b, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), "en", { numeric: true });
}

function textCell(text) {
  const cell = element("td", { className: "text" });
  if (text.length <= LONG_TEXT) {
    cell.textContent = text;
    return cell;
  }
  const words = element("span", null, text.slice(0, LONG_TEXT) + "…");
  const more = element("button", { type: "button" }, "all " + text.length + " characters");
  more.onclick = () => {
    words.textContent = text;
    more.remove();
  };
  cell.append(words, more);
  return cell;
}

function makeTable(table, name) {
  const state = { sorted: -1, sign: 1, words: "", wide: false, all: false };
  const unitColumn = columnIndex(table, "unit");
  const isNumber = table.columns.map((_, i) => table.rows.some((row) => typeof row[i] === "number"));
  const human = (row, i) => humanCell(row[i], table.columns[i].unit, unitColumn < 0 ? "" : row[unitColumn]);
  const box = element("div");
  if (table.rows.length === 0) {
    box.append(element("p", { className: "empty" }, "No rows: " + (table.empty_reason || "no reason was given") + "."));
    return box;
  }
  const filter = element("input", { type: "search", placeholder: "filter rows" });
  filter.setAttribute("aria-label", "filter rows of " + name);
  const count = element("span", { className: "count" });
  const head = element("tr");
  const body = element("tbody");
  const more = element("button", { type: "button" });

  function shownRows() {
    const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = words.length === 0 ? table.rows.slice() : table.rows.filter((row) => {
      const text = row.map((_, i) => human(row, i)).join("\u0001").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const at = state.sorted;
    return at < 0 ? rows : rows.sort((a, b) => compareCells(a[at], b[at], state.sign));
  }

  function draw() {
    const columns = table.columns.map((_, i) => i).filter((i) => state.wide || !table.columns[i].detail);
    head.replaceChildren(...columns.map((i) => {
      const cell = element("th", { className: isNumber[i] ? "number" : "", title: table.columns[i].name, tabIndex: 0 },
        table.columns[i].heading);
      if (i === state.sorted) cell.setAttribute("aria-sort", state.sign > 0 ? "ascending" : "descending");
      const sort = () => {
        // Numbers: the largest first.
        if (state.sorted === i) state.sign = -state.sign; else state.sign = isNumber[i] ? -1 : 1;
        state.sorted = i;
        draw();
      };
      cell.onclick = sort;
      cell.onkeydown = (event) => { if (event.key === "Enter") sort(); };
      return cell;
    }));
    const rows = shownRows();
    const drawn = state.all ? rows : rows.slice(0, FIRST_ROWS);
    body.replaceChildren(...drawn.map((row) => element("tr", null, ...columns.map((i) => {
      const value = row[i];
      if (typeof value === "string") return textCell(printable(value));
      const cell = element("td", { className: value === null ? "missing" : "number" }, human(row, i));
      if (typeof value === "number") cell.title = String(value);
      return cell;
    }))));
    const whole = table.n_rows ?? table.rows.length;
    count.textContent = rows.length + " of " + whole + " rows" +
      (whole > table.rows.length ? "; the first " + table.rows.length + " are on this page, all are in jaxprof-study " + name : "");
    more.hidden = drawn.length === rows.length;
    more.textContent = "show all " + rows.length;
  }

  filter.oninput = () => { state.words = filter.value; draw(); };
  more.onclick = () => { state.all = true; draw(); };
  const tools = element("div", { className: "tools" }, filter, count, more);
  if (table.columns.some((column) => column.detail)) {
    const wide = element("button", { type: "button" }, "all columns");
    wide.onclick = () => {
      state.wide = !state.wide;
      wide.textContent = state.wide ? "fewer columns" : "all columns";
      draw();
    };
    tools.append(wide);
  }
  const save = element("button", { type: "button", className: "csv" }, "CSV");
  save.onclick = () => saveText(name + ".csv", tableCsv(table));
  tools.append(save);
  draw();
  box.append(tools, element("div", { className: "table" }, element("table", null, element("thead", null, head), body)));
  return box;
}
