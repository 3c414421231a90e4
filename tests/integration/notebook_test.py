#!/usr/bin/env python3
"""merge/python/analysis.ipynb: runs from its first cell to its last, and its numbers are those of the studies.

It runs in the environment that merge/python/install.sh makes, by nbclient, as Jupyter would run it. A cell behind the last
one tells its numbers.
"""

import json
import os
import sys
import unittest

import run_tools as tools
from real_programs import TREE, set_up_path
from run_tools import BIN

try:
    import nbclient
    import nbformat
except ImportError:  # Debian's Python: on with that of the environment
    python = set_up_path("notebook")
    tools.require("notebook", (python.parent.parent / "complete").exists(),
                  f"there is no {python}; run: bash tests/setup.sh tests")
    os.environ["PATH"] = f"{python.parent}:{os.environ['PATH']}"
    os.execv(python, [str(python), "-B", *sys.argv])

import straggler_scenarios  # pylint: disable=wrong-import-position

FOLDER = TREE / "merge" / "python"
TELL = """
import json
print("numbers " + json.dumps({
    "blame_ms": blame["blame_ms"].to_dict(), "wait_ms": blame["wait_ms"].to_dict(),
    "late_us": lateness["50%"].to_dict(), "n_rates": len(nic_rates),
    "calls": int(spread[("raw_ms", "count")].sum()) if len(spread) else 0,
    "breakdown": breakdown.sum(axis=1).to_dict(), "exposed": breakdown["exposed communication"].to_dict()}))
"""


def by_rank(numbers):
    return {int(rank): value for rank, value in numbers.items()}


def run_notebook(run_file):
    """(the notebook after it has run, its numbers)"""
    notebook = nbformat.read(FOLDER / "analysis.ipynb", 4)
    nbformat.validate(notebook)
    notebook.cells.append(nbformat.v4.new_code_cell(TELL))
    os.environ["JAXPROF_RUN"] = str(run_file)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(FOLDER)}}).execute()
    said = "".join(output.get("text", "") for output in notebook.cells[-1].outputs)
    return notebook, json.loads(said.split("numbers ", 1)[1])


def study(name, run_file):
    answer = tools.run(BIN / "jaxprof-study", name, run_file, "--all-steps", "--by", "rank", "--format", "json")
    assert answer.status == 0, answer
    return {row["rank"]: row for row in json.loads(answer.out)["rows"]}


class Notebook(tools.FolderCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = straggler_scenarios.make("nic", 3).run_file
        cls.notebook, cls.numbers = run_notebook(os.path.abspath(cls.path))

    def test_draws_every_figure(self):
        figures = [output for cell in self.notebook.cells for output in cell.get("outputs", ())
                   if "application/vnd.plotly.v1+json" in output.get("data", {})]
        self.assertEqual(len(figures), 5)
        self.assertTrue(all(figure["data"]["application/vnd.plotly.v1+json"]["data"] for figure in figures))

    def test_blame_and_wait_are_those_of_stragglers(self):
        rows = study("stragglers", self.path)
        for ours, theirs in (("blame_ms", "blame_ns"), ("wait_ms", "wait_ns")):
            self.assertEqual(set(by_rank(self.numbers[ours])), set(rows))
            for rank, value in by_rank(self.numbers[ours]).items():
                self.assertAlmostEqual(value * 1e6, rows[rank][theirs], delta=1e3)  # a study shares whole ns

    def test_lateness_is_that_of_lateness(self):
        rows = study("lateness", self.path)
        for rank, value in by_rank(self.numbers["late_us"]).items():
            self.assertAlmostEqual(value * 1e3, rows[rank]["late_p50_ns"], delta=1)

    def test_ports_and_gpus_are_there(self):
        self.assertGreater(self.numbers["n_rates"], 100)
        self.assertGreater(self.numbers["calls"], 50)
        self.assertEqual(len(self.numbers["breakdown"]), straggler_scenarios.N_RANKS)
        self.assertTrue(all(value > 0 for value in self.numbers["exposed"].values()))


class AlmostEmpty(tools.FolderCase):
    def test_a_run_without_gpus_and_ports_runs_through(self):
        made = tools.run(BIN / "synthetic_run", "bare", "--processes", 2, "--nvtx", 100)
        self.assertEqual(made.status, 0, made)
        self.assert_status(tools.merge("bare", "-f", output="bare.h5"), 0)
        _, numbers = run_notebook(os.path.abspath("bare.h5"))
        self.assertEqual(numbers["calls"], 0)


if __name__ == "__main__":
    unittest.main()
