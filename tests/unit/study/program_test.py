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
        document = json.loads(self.study("spread", self.path, "--format", "json").stdout)
        self.assertEqual(document["parameters"]["run_file"], self.path)
        for key in ("study", "schema_version", "parameters", "verdict", "rows"):
            self.assertIn(key, document)
        for name, delimiter in (("csv", ","), ("tsv", "\t")):
            text = self.study("spread", self.path, "--format", name).stdout
            rows = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
            self.assertEqual([list(row) for row in rows], [list(row) for row in document["rows"]])
            self.assertEqual(rows[0]["count"], str(document["rows"][0]["count"]))
            self.assertEqual(rows[0]["busbw_gb_per_s"], "")
        self.assertIn("| AllReduce |", self.study("spread", self.path, "--format", "md").stdout)

    def test_writes_to_a_file(self):
        out = Path(self.folder.name) / "spread.csv"
        result = self.study("spread", self.path, "--format", "csv", "--out", str(out))
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertTrue(out.read_text().startswith("op,dtype,"))
        self.assertIn("/nonexistent/x", self.refused(5, "spread", self.path, "--out", "/nonexistent/x"))

    def test_says_on_stderr_why_csv_is_empty(self):
        result = self.study("spread", self.path, "--format", "csv", "--op", "Reduce")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(len(result.stdout.splitlines()), 1)
        self.assertIn("no rows: none of the run file's NCCL calls fits --op Reduce", result.stderr)

    def test_refuses_with_one_line(self):
        self.assertIn("known are summary, spread, network", self.refused(2, "nothing", self.path))
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
