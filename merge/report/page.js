// Puts the page together: verdicts, what is missing, clocks, figures, tables. What it shows is all in #data.

const page = JSON.parse(document.getElementById("data").textContent);
page.study = (name) => page.studies.find((study) => study.name === name);

const section = (id) => document.getElementById(id);

function sentence(text) {
  return /[.!?:]$/.test(text) ? text : text + ".";
}

function addHead() {
  const facts = page.facts;
  section("title").textContent = printable(facts.run_file);
  const begin = new Date(facts.epoch_unix_ns / 1e6);
  const words = [facts.run_id && "run " + facts.run_id, facts.command && plainCut(facts.command),
    facts.epoch_unix_ns > 0 && begin.toISOString().replace("T", " ").slice(0, 19) + " UTC", "report of " + facts.tool];
  section("about").textContent = words.filter(Boolean).join("; ");
  for (const [id, title] of [["verdicts", "Verdicts"], ["missing", "Missing or dropped"], ["clocks", "Clocks"], ["figures", "Figures"], ["tables", "Tables"]]) {
    section("contents").append(element("a", { href: "#" + id }, title));
  }
}
function plainCut(text) {
  const shown = printable(text);
  return shown.length > 160 ? shown.slice(0, 159) + "…" : shown;
}

const GRAVITY = { critical: 0, warning: 1, none: 2 };

function addVerdicts() {
  const studies = page.studies.slice().sort((a, b) => GRAVITY[a.finding] - GRAVITY[b.finding]);
  for (const study of studies) {
    const line = element("span");
    if (study.finding !== "none") line.append(element("span", { className: "finding" }, study.finding));
    line.append(printable(study.table.verdict + (study.table.rows.length || study.table.n_rows ? "" : "; no rows: " + study.table.empty_reason)));
    section("verdicts").append(element("div", { className: "verdict " + study.finding, id: "verdict-" + study.name },
      element("a", { href: "#study-" + study.name }, study.name), line));
  }
}

// Rows of the summary that tell of what is not in the run file. Nothing missing is said as well.
function addMissing() {
  const table = page.study("summary").table;
  const at = (name) => columnIndex(table, name);
  const sections = ["tasks", "losses", "diagnostics"];
  const rows = table.rows.filter((row) => sections.includes(row[at("section")]));
  section("missing").append(makeTable({ ...table, rows, n_rows: rows.length, empty_reason: table.empty_reason }, "missing"));
}

function addClocks() {
  const study = page.study("clock");
  section("clocks").append(element("p", null, printable(study.table.verdict)));
  section("clocks").append(makeTable(study.table, "clock"));
  for (const note of study.table.notes) section("clocks").append(element("p", { className: "note" }, printable(note)));
}

function addFigure(figure) {
  const card = element("div", { className: "figure", id: figure.id });
  card.append(element("h3", null, figure.id + "  " + figure.title), element("p", { className: "definition" }, figure.definition));
  section("figures").append(card);
  const say = (why) => {
    card.dataset.empty = why;
    card.append(element("p", { className: "empty" }, "Nothing to show: " + sentence(printable(why))));
  };
  if (figure.empty_reason) return say(figure.empty_reason);
  if (typeof Plotly === "undefined") return say("the program that wrote this page was built without Plotly");
  const study = figure.study ? page.study(figure.study).table : null;
  let files;
  try {
    files = FIGURES[figure.id](figure, card, study, page);
  } catch (error) {
    console.error(figure.id, error); // the others are drawn all the same
    return say("it could not be drawn: " + error.message);
  }
  if (typeof files === "string") return files === "" ? say("there is neither a path nor a scenario") : say(files);
  const tools = element("div", { className: "controls" });
  for (const [name, csv] of files) {
    const save = element("button", { type: "button", className: "csv" }, name);
    save.onclick = () => saveText(name, csv());
    tools.append(save);
  }
  card.append(tools);
  card.dataset.drawn = "1";
}

// One after the other, so that the page can be read meanwhile.
async function addFigures() {
  for (const figure of page.figures) {
    addFigure(figure);
    await new Promise((done) => setTimeout(done));
  }
}

function addTables() {
  for (const study of page.studies) {
    const box = element("details", { id: "study-" + study.name });
    box.append(element("summary", null, study.name, element("span", null, study.answers)));
    // A thousand rows in twenty tables are made when somebody looks.
    box.ontoggle = () => {
      if (!box.open || box.dataset.made) return;
      box.dataset.made = "1";
      const table = study.table;
      box.append(element("p", null, printable(table.verdict)));
      if (table.heading) box.append(element("p", { className: "heading" }, printable(table.heading)));
      if (table.rows.length === 0 && table.n_rows > 0) {
        box.append(element("p", { className: "empty" }, table.n_rows + " rows, shown as figure F8; jaxprof-study " + study.name + " --format csv prints them."));
      } else {
        box.append(makeTable(table, study.name));
      }
      for (const note of table.notes) box.append(element("p", { className: "note" }, printable(note)));
      box.append(element("pre", null, study.definitions));
    };
    section("tables").append(box);
  }
}

// A link to a table opens it.
function openTarget() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.tagName === "DETAILS") {
    target.open = true;
    target.scrollIntoView();
  }
}

function plots() {
  return [...document.querySelectorAll(".plot")];
}

function addThemes() {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = "";
  const apply = () => {
    root.dataset.theme = chosen || (system.matches ? "dark" : "light");
    for (const plot of plots()) Plotly.relayout(plot, { "font.color": textColor() });
  };
  section("theme").onclick = () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    apply();
  };
  system.addEventListener("change", apply);
  apply();
  // Paper is white, and narrower than most screens.
  addEventListener("beforeprint", () => {
    root.dataset.theme = "light";
    for (const plot of plots()) Plotly.relayout(plot, { "font.color": "#1b1f26", width: 700 });
  });
  addEventListener("afterprint", () => {
    for (const plot of plots()) Plotly.relayout(plot, { width: null, autosize: true });
    apply();
  });
}

async function start() {
  addThemes();
  addHead();
  addVerdicts();
  addMissing();
  addClocks();
  addTables();
  addEventListener("hashchange", openTarget);
  await addFigures();
  openTarget();
  document.body.dataset.drawn = "1";
}
start();
