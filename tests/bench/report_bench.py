#!/usr/bin/env python3
"""How large the report of 1,024 ranks is, how long it takes to write and, in a browser, until all of it is drawn.

synthetic_run and jaxprof-merge make the run; Debian's Chromium opens the page, driven by playwright (tests/setup.sh tests).
The limit of the same run: a page that holds Plotly and one empty figure.

    report_bench.py BIN FOLDER

Prints "NAME VALUE UNIT" lines. Exit 1 where the page has more than 12 MB or a figure of it is not drawn.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHROMIUM = "/usr/bin/chromium"
MOST_MB = 12
WANTED_S = 5.0  # on two cores: depends on the machine, printed only
EMPTY = """<!DOCTYPE html><html><body><div id="p"></div><script>%s</script>
<script>Plotly.newPlot("p", [], {}); document.body.dataset.drawn = "1";</script></body></html>"""


def ensure_playwright():
    try:
        import playwright  # noqa: F401
    except ImportError:
        path = subprocess.run(["bash", str(ROOT / "tests/setup.sh"), "--path", "browser"], check=True, stdout=subprocess.PIPE)
        python = path.stdout.decode().strip()
        os.execv(python, [python, "-B", *sys.argv])


def drawn_s(browser, html):
    """The best of three: until the page says that all is drawn; and how many figures are."""
    best = None
    for _ in range(3):
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        began = time.monotonic()
        page.goto(html.as_uri())
        page.wait_for_selector("body[data-drawn]", state="attached", timeout=120_000)
        took = time.monotonic() - began
        figures = page.locator(".figure[data-drawn]").count()
        page.close()
        best = min(best or took, took)
    return best, figures


def main():
    ensure_playwright()
    from playwright.sync_api import sync_playwright
    binaries, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve() / "report_bench"
    folder.mkdir(parents=True, exist_ok=True)
    run, html, empty = folder / "run.h5", folder / "run.html", folder / "empty.html"
    subprocess.run([binaries / "synthetic_run", folder / "run", "--training", "--processes", "1024", "--nodes", "128", "--steps", "20",
                    "--clocks", "--counters", "--slow", "slow-kernels:rank300:1.3"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([binaries / "jaxprof-merge", folder / "run", "-o", run, "-f", "--quiet"], check=True)
    shutil.rmtree(folder / "run")
    began = time.monotonic()
    subprocess.run([binaries / "jaxprof-study", "report", run, "-o", html], check=True, stderr=subprocess.DEVNULL)
    wrote_s = time.monotonic() - began
    text = html.read_text(encoding="utf-8")
    empty.write_text(EMPTY % re.search(r"<script>\s(/\*\*.*?)</script>", text, re.S).group(1), encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        limit_s, _ = drawn_s(browser, empty)
        page_s, figures = drawn_s(browser, html)
        browser.close()
    shutil.rmtree(folder)
    page_mb = len(text.encode()) / 1e6
    print(f"report.1024.page_mb {page_mb:.2f} MB (at most {MOST_MB})")
    print(f"report.1024.write_s {wrote_s:.2f} s")
    print(f"report.1024.drawn_s {page_s:.2f} s (wanted: {WANTED_S})")
    print(f"report.1024.plotly_s {limit_s:.2f} s")
    print(f"report.1024.drawn_to_plotly {page_s / limit_s:.2f} ratio")
    return 0 if page_mb <= MOST_MB and figures == 11 else 1


if __name__ == "__main__":
    sys.exit(main())
