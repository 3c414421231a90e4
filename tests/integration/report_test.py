"""jaxprof-study report in a browser: everything is drawn, nothing is asked of anybody, and the numbers are the studies'.

Debian's Chromium, driven by playwright from an environment of its own (tests/setup.sh tests), opens the reports of a
training job, of an almost empty run and of one whose names try to break out of the page.  With a folder in
JAXPROF_REPORT_SHOTS screenshots are left there.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("JAXPROF_BIN", ROOT / "build/release/bin"))
CHROMIUM = "/usr/bin/chromium"
SHOTS = os.environ.get("JAXPROF_REPORT_SHOTS")

NAMES = ['</script><script>window.stolen = 1</script>', '<img src=x onerror="window.stolen = 2">', 'a"b\'c\\d', "two\nlines\tand a tab",
         "<!-- <b>bold</b> %{x} {{data}}", "k" * 60_000]


def missing(why):
    if "chromium" in os.environ.get("JAXPROF_REQUIRE", "").split(","):
        print(f"FAILED: JAXPROF_REQUIRE names chromium, but {why}", file=sys.stderr)
        sys.exit(1)
    print(f"skipped: {why}")
    sys.exit(77)


def ensure_browser():
    """Goes on in the environment that has playwright."""
    if not os.path.exists(CHROMIUM):
        missing(f"{CHROMIUM} is not installed; bash tests/setup.sh tests")
    try:
        import playwright  # noqa: F401
    except ImportError:
        path = subprocess.run(["bash", str(ROOT / "tests/setup.sh"), "--path", "browser"], check=True, stdout=subprocess.PIPE)
        python = path.stdout.decode().strip()
        if not os.path.exists(python) or os.environ.get("JAXPROF_IN_BROWSER_VENV"):
            missing(f"{python} has no playwright; bash tests/setup.sh tests")
        os.environ["JAXPROF_IN_BROWSER_VENV"] = "1"
        os.execv(python, [python, "-B", *sys.argv])


def study(*words):
    return subprocess.run([BIN / "jaxprof-study", *map(str, words)], check=True, stdout=subprocess.PIPE).stdout.decode()


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from playwright.sync_api import sync_playwright
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="jaxprof-report-"))
        cls.playwright = sync_playwright().start()
        cls.browser = cls.playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        cls.training = cls.run_of("training", "--training", "--processes", "8", "--nodes", "4", "--steps", "12", "--clocks",
                                  "--counters", "--api", "--slow", "slow-kernels:rank3:1.3")
        cls.empty = cls.run_of("empty", "--processes", "1", "--steps", "3", "--nvtx", "20")

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.playwright.stop()
        shutil.rmtree(cls.folder)

    @classmethod
    def run_of(cls, name, *options):
        subprocess.run([BIN / "synthetic_run", cls.folder / name, *options], check=True, stdout=subprocess.DEVNULL)
        run_file = cls.folder / f"{name}.h5"
        subprocess.run([BIN / "jaxprof-merge", cls.folder / name, "-o", run_file, "--allow-partial", "--quiet"], check=True)
        return run_file

    def report_of(self, run_file):
        html = run_file.with_suffix(".html")
        subprocess.run([BIN / "jaxprof-study", "report", run_file], check=True, stderr=subprocess.DEVNULL)
        return html

    def opened(self, html, **options):
        """The page when all is drawn; what it logged or asked for beside itself is a failure."""
        context = self.browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "accept_downloads": True, **options})
        self.addCleanup(context.close)
        page = context.new_page()
        faults = []
        page.on("console", lambda line: faults.append(line.text) if line.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith(("file:", "data:", "blob:")) else faults.append(request.url))
        page.goto(html.as_uri())
        page.wait_for_selector("body[data-drawn]", state="attached", timeout=120_000)
        page.faults = faults
        self.assertEqual(faults, [])
        return page

    def shoot(self, page, name, full=True):
        if SHOTS:
            page.screenshot(path=os.path.join(SHOTS, name + ".png"), full_page=full)

    def data_of(self, page):
        return json.loads(page.evaluate("document.getElementById('data').textContent"))

    def figures_of(self, page):
        return page.evaluate("""[...document.querySelectorAll('.figure')].map(card => ({id: card.id, empty: card.dataset.empty,
            drawn: card.dataset.drawn, plots: card.querySelectorAll('.main-svg').length}))""")

    def test_every_figure_of_a_training_is_drawn(self):
        page = self.opened(self.report_of(self.training))
        self.shoot(page, "training-light")
        figures = self.figures_of(page)
        self.assertEqual([figure["id"] for figure in figures], [f"F{i}" for i in range(1, 12)])
        for figure in figures:
            self.assertIsNone(figure.get("empty"), figure)
            self.assertGreater(figure["plots"], 0, figure)

    def test_dark_narrow_and_print_show_the_same(self):
        html = self.report_of(self.training)
        dark = self.opened(html, color_scheme="dark")
        self.assertEqual(dark.evaluate("document.documentElement.dataset.theme"), "dark")
        self.shoot(dark, "training-dark")
        ground = dark.evaluate("getComputedStyle(document.body).backgroundColor")
        dark.click("#theme")
        self.assertNotEqual(dark.evaluate("getComputedStyle(document.body).backgroundColor"), ground)
        narrow = self.opened(html, viewport={"width": 420, "height": 800})
        self.shoot(narrow, "training-narrow")
        self.assertLessEqual(narrow.evaluate("document.documentElement.scrollWidth"), 420)
        paper = self.opened(html).pdf()
        self.assertTrue(paper.startswith(b"%PDF"))
        if SHOTS:
            pathlib.Path(SHOTS, "training.pdf").write_bytes(paper)

    def test_an_almost_empty_run_says_why_there_is_nothing(self):
        page = self.opened(self.report_of(self.empty))
        self.shoot(page, "empty")
        for figure in self.figures_of(page):
            self.assertTrue(figure.get("drawn") or figure.get("empty"), figure)
        empty = {figure["id"] for figure in self.figures_of(page) if figure.get("empty")}
        self.assertLessEqual({"F4", "F5", "F6", "F7", "F8"}, empty)

    def test_values_are_those_of_the_studies(self):
        data = self.data_of(self.opened(self.report_of(self.training)))
        for own in data["studies"]:
            options = ["--all"] if own["name"] in ("summary", "env") else []
            told = json.loads(study(own["name"], self.training, "--format", "json", *options))
            table = own["table"]
            self.assertEqual(table["n_rows"], len(told["rows"]), own["name"])
            names = [column["name"] for column in table["columns"]]
            for row, expected in zip(table["rows"], told["rows"]):
                self.assertEqual(dict(zip(names, row)), expected, own["name"])

    def test_maps_are_those_of_the_studies(self):
        data = self.data_of(self.opened(self.report_of(self.training)))
        figures = {figure["id"]: figure for figure in data["figures"]}
        bins = json.loads(study("utilmap", self.training, "--format", "json"))["rows"]
        util = figures["F8"]["map"]
        for row in bins:
            place = util["row_labels"].index(str(row["rank"]))
            for layer in util["layers"]:
                self.assertAlmostEqual(layer["rows"][place][row["bin"]], row[layer["name"]], delta=5.1e-5)
        steps = figures["F4"]["map"]
        fault = next(layer for layer in steps["layers"] if layer["name"] == "fault_ns")
        for row in json.loads(study("stragglers", self.training, "--format", "json"))["rows"]:
            self.assertEqual(sum(fault["rows"][steps["row_labels"].index(str(row["rank"]))]), row["fault_ns"])

    def test_tables_sort_filter_and_save(self):
        page = self.opened(self.report_of(self.training))
        page.evaluate("document.getElementById('study-breakdown').open = true")
        table = page.locator("#study-breakdown")
        table.locator("table").wait_for()
        ranks = lambda: [int(text) for text in table.locator("tbody tr td:first-child").all_inner_texts()]
        self.assertEqual(ranks(), list(range(8)))
        table.locator("th", has_text="rank").first.click()
        self.assertEqual(ranks(), list(range(7, -1, -1)))
        table.locator("th", has_text="rank").first.click()
        self.assertEqual(ranks(), list(range(8)))
        table.locator("input[type=search]").fill("node0001")
        self.assertEqual(ranks(), [2, 3])
        with page.expect_download() as download:
            table.locator("button.csv").click()
        saved = pathlib.Path(download.value.path()).read_text(encoding="utf-8")
        # Shortest forms of numbers differ in the exponent only.
        self.assertEqual(saved.splitlines()[0], study("breakdown", self.training, "--format", "csv").splitlines()[0])
        self.assertEqual(len(saved.splitlines()), 9)
        self.assertEqual(page.evaluate("csvText(['a'], [['x\"y,z'], [null], ['l\\nm'], [0.5]])"), 'a\n"x""y,z"\n\n"l\nm"\n0.5\n')
        self.assertEqual(page.faults, [])

    def test_names_stay_names(self):
        hostile = self.folder / "hostile.h5"
        shutil.copy(self.training, hostile)
        subprocess.run(["/usr/bin/python3", "-c", RENAME, hostile, json.dumps(NAMES)], check=True)
        page = self.opened(self.report_of(hostile))
        self.assertIsNone(page.evaluate("window.stolen ?? null"))
        data = self.data_of(page)
        kernels = next(own for own in data["studies"] if own["name"] == "kernels")["table"]
        shown = {cell for row in kernels["rows"] for cell in row}  # the study cuts the first, and has the whole name besides
        for name in [*NAMES, "no utf-8: \ufffd\ufffd"]:
            self.assertTrue(name in shown, name[:80])
        page.evaluate("document.querySelectorAll('details').forEach(box => { box.open = true; })")
        page.wait_for_function("document.querySelectorAll('details table').length > 5")
        self.assertIsNone(page.evaluate("window.stolen ?? null"))
        self.assertEqual(page.evaluate("document.querySelectorAll('main img, main script, main b').length"), 0)
        self.assertEqual(page.faults, [])


# Names of the kernels that take longest, in place of those that the file has; a byte that is no UTF-8 besides.
RENAME = """
import json, sys, h5py, numpy
names = json.loads(sys.argv[2])
with h5py.File(sys.argv[1], "r+") as run:
    ids = numpy.unique(run["/events/kernels/name"][:])
    strings = run["/strings/value"] if "/strings/value" in run else run["/strings"]
    for place, name in zip(ids, names):
        strings[place] = name
    strings[ids[len(names)]] = b"no utf-8: \\xff\\xfe"
"""

if __name__ == "__main__":
    ensure_browser()
    unittest.main(verbosity=2)
