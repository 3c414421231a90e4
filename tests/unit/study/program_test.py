"""jaxprof-study as a person meets it: output, exit status, one line on stderr.

Usage: program_test.py WRITE_SAMPLE JAXPROF_STUDY
"""
import csv
import io
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np
import pandas

WRITE_SAMPLE, JAXPROF_STUDY = sys.argv.pop(1), sys.argv.pop(1)


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = str(Path(self.folder.name) / "run.h5")
        subprocess.run([WRITE_SAMPLE, self.path], check=True)

    def study(self, *arguments):
        return subprocess.run([JAXPROF_STUDY, *arguments], capture_output=True, text=True)

    def refused(self, status, *arguments):
        result = self.study(*arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, r"\Ajaxprof-study: [^\n]+\n\Z")
        return result.stderr

    def test_prints_the_verdict_first(self):
        for name in ("summary", "spread", "network", "env"):
            result = self.study(name, self.path)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertTrue(result.stdout.startswith("verdict  "))

    def test_all_formats_hold_the_same_rows(self):
        document = json.loads(self.study("spread", self.path, "--all-steps", "--format", "json").stdout)
        self.assertEqual(document["parameters"]["run_file"], self.path)
        for key in ("study", "schema_version", "parameters", "verdict", "rows"):
            self.assertIn(key, document)
        for name, delimiter in (("csv", ","), ("tsv", "\t")):
            text = self.study("spread", self.path, "--all-steps", "--format", name).stdout
            rows = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
            self.assertEqual([list(row) for row in rows], [list(row) for row in document["rows"]])
            self.assertEqual(rows[0]["count"], str(document["rows"][0]["count"]))
            self.assertEqual(rows[0]["busbw_gb_per_s"], "")
        self.assertIn("| AllReduce |", self.study("spread", self.path, "--all-steps", "--format", "md").stdout)

    def test_writes_to_a_file(self):
        out = Path(self.folder.name) / "spread.csv"
        result = self.study("spread", self.path, "--all-steps", "--format", "csv", "--out", str(out))
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertTrue(out.read_text().startswith("op,dtype,"))
        self.assertIn("/nonexistent/x", self.refused(5, "spread", self.path, "--out", "/nonexistent/x"))

    def test_saves_its_table_beside_the_run_file(self):
        before = Path(self.path).read_bytes()
        for name in ("spread", "summary", "spread"):
            self.assertEqual(self.study(name, self.path, "--save", *(["--all-steps"] if name == "spread" else [])).returncode, 0)
        self.assertEqual(Path(self.path).read_bytes(), before)
        side_file = Path(self.folder.name) / "run.analysis.h5"
        rows = json.loads(self.study("spread", self.path, "--all-steps", "--format", "json").stdout)["rows"]
        with h5py.File(side_file) as saved:
            self.assertEqual(sorted(saved), ["spread", "summary"])
            table = saved["spread"]
            self.assertEqual(list(table.dtype.names), list(rows[0]))
            self.assertEqual(table.attrs["parameter.run_file"], self.path)
            self.assertIn("call", table.attrs["verdict"])
            for name in table.dtype.names:
                for value, row in zip(table[name], rows, strict=True):
                    expected = row[name]
                    if isinstance(expected, str):
                        self.assertEqual(value.decode(), expected)
                    elif expected is None:
                        self.assertTrue(value == b"" or np.isnan(value) or value == -2**63)
                    else:
                        self.assertEqual(value, expected)
        frame = pandas.read_hdf(side_file, "spread")
        self.assertEqual(list(frame["count"]), [row["count"] for row in rows])

    def test_leaves_a_foreign_file_in_the_place_of_its_side_file_alone(self):
        side_file = Path(self.folder.name) / "run.analysis.h5"
        side_file.write_text("mine")
        self.assertIn("is there and no file of saved tables", self.refused(5, "spread", self.path, "--save"))
        self.assertEqual(side_file.read_text(), "mine")
        self.assertEqual(list(Path(self.folder.name).glob("*.part")), [])

    def test_cuts_rows_and_says_so(self):
        rows = json.loads(self.study("spread", self.path, "--all-steps", "--format", "json").stdout)["rows"]
        cut = json.loads(self.study("spread", self.path, "--all-steps", "--format", "json", "--top", "1").stdout)
        self.assertEqual(cut["rows"], rows[:1])
        if len(rows) > 1:
            self.assertIn(f"1 of {len(rows)} rows; --top 0 shows all", cut["notes"])

    def test_says_on_stderr_why_csv_is_empty(self):
        result = self.study("spread", self.path, "--all-steps", "--format", "csv", "--op", "Reduce")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(len(result.stdout.splitlines()), 1)
        self.assertIn("no rows: none of the run file's NCCL calls fits --op Reduce", result.stderr)

    def test_refuses_with_one_line(self):
        self.assertIn("known are summary, spread, lateness", self.refused(2, "nothing", self.path))
        self.assertIn("No such file", self.refused(3, "spread", self.path + ".absent"))
        self.assertIn("not HDF5", self.refused(3, "summary", __file__))
        Path(self.path).write_bytes(Path(self.path).read_bytes()[:2000])
        self.assertIn("cut short", self.refused(3, "summary", self.path))

    def test_survives_a_closed_pipe(self):
        shell = subprocess.run(["bash", "-c", '"$0" summary "$1" | head -1; echo "${PIPESTATUS[0]}"', JAXPROF_STUDY, self.path],
                               capture_output=True, text=True)
        self.assertEqual(shell.stderr, "")
        self.assertEqual(shell.stdout.splitlines()[1], "0")


if __name__ == "__main__":
    unittest.main()
