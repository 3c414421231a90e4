#!/usr/bin/env python3
"""What a crashed node, a full disk or a wrong argument leaves: each is told in one clear line with the right exit code,
and what is whole in a damaged spool is still read.

The whole spool is that of a real process. A file that is cut at any length is what a killed process leaves, so cuts go
through all of it: the merge must end properly each time, with nothing but a beginning of each thread's ranges.
"""

import os
import random
import shutil
import unittest
from collections import defaultdict
from pathlib import Path

import run_tools as tools
from run_file import RunFile, h5py

N_CUTS = 200
N_FLIPS = 40
SEED = 20261129


def make_directory(name, **files):
    """A run directory without records: NAME.jxspool for each of `files`."""
    Path(name).mkdir()
    for stem, content in files.items():
        Path(name, f"{stem}.jxspool").write_bytes(content)
    return name


class BadInput(tools.OwnFolderCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        job = tools.run(tools.EXEC, "-o", "whole/rank", "--", tools.NVTX_PUPPET, "--scenarios", "domains,nested,marks",
                        "--out", "truth.json")
        merged = tools.merge("whole", output="whole.h5")
        assert (job.status, merged.status) == (0, 0), f"{job}\n{merged}"
        spool, = cls.folder.glob("whole/*.jxspool")
        cls.spool = spool.read_bytes()
        cls.whole = cls.ranges_by_thread("whole.h5")

    @staticmethod
    def ranges_by_thread(run_file):
        """Ranges of each thread in their order; where a range was cut off its end is missing."""
        threads = defaultdict(list)
        with RunFile(run_file) as run:
            for row in run.rows("events/nvtx"):
                threads[row["tid"]].append((row["domain"], row["name"], row["kind"], row["depth"]))
        return threads

    def assert_is_a_beginning(self, run_file):
        for thread, ranges in self.ranges_by_thread(run_file).items():
            self.assertEqual(ranges, self.whole[thread][:len(ranges)])

    def assert_ends_properly(self, ended, statuses):
        self.assertIn(ended.status, statuses, str(ended))
        for line in ended.err.splitlines():
            self.assertTrue(line.startswith("jaxprof-merge: "), str(ended))

    # ---- directories

    def test_missing_directory(self):
        merged = tools.merge("nowhere")
        self.assert_status(merged, tools.UNREADABLE)
        self.assert_one_clear_line(merged, "nowhere", "No such file or directory")

    def test_directory_without_a_spool(self):
        merged = tools.merge(make_directory("nothing"))
        self.assert_status(merged, tools.UNREADABLE)
        self.assert_one_clear_line(merged, "nothing", "no *.jxspool")

    def test_file_instead_of_a_directory(self):
        Path("file").write_bytes(b"")
        merged = tools.merge("file")
        self.assert_status(merged, tools.UNREADABLE)
        self.assert_one_clear_line(merged, "file is empty (give the directory that")

    def test_no_directory_at_all(self):
        merged = tools.run(tools.BIN / "jaxprof-merge")
        self.assert_status(merged, tools.USAGE)
        self.assert_one_clear_line(merged, "DIRECTORY")

    def test_output_that_cannot_be_written(self):
        make_directory("good", rank=self.spool)
        merged = tools.merge("good", "--quiet", output="/proc/none/run.h5")
        self.assert_status(merged, tools.NOT_WRITTEN)
        self.assert_one_clear_line(merged, "/proc/none/run.h5")

    def test_output_that_exists_stays(self):
        make_directory("good", rank=self.spool)
        Path("run.h5").write_text("mine")
        merged = tools.merge("good", "--quiet")
        self.assert_status(merged, tools.NOT_WRITTEN)
        self.assert_one_clear_line(merged, "run.h5", "-f")
        self.assertEqual(Path("run.h5").read_text(), "mine")

    def test_a_run_that_left_nothing(self):
        os.makedirs("nothing/.run-7.0.0")
        merged = tools.merge("nothing")
        self.assert_status(merged, tools.UNREADABLE)
        self.assert_one_clear_line(merged, "run 7.0.0", "no task record and no spool")
        self.assertFalse(Path("run.h5").exists())

    # ---- task records

    def test_a_bad_record_is_listed_by_its_path(self):
        shutil.copytree(self.folder / "whole", "prof")
        record, = Path("prof").glob(".run-*/task.*.start.json")
        for content in ("", "{", "[]", "null", "{}", "\xff\x00", '{"version_of_record": 99}'):
            record.write_text(content)
            merged = tools.merge("prof", "-f")
            self.assert_status(merged, tools.PARTIAL)
            with RunFile("run.h5") as run:
                text = run.diagnostics("file.unreadable")[0]["text"]
                self.assertIn(str(record), text)
                self.assertIn(text, merged.out)
                self.assertNotIn("exception", text)
            self.assert_is_a_beginning("run.h5")

    # ---- spools

    def test_spools_that_are_none(self):
        for name, content, word in (("empty", b"", "empty"), ("random", random.Random(SEED).randbytes(5000), "JXSPOOL"),
                                    ("text", b"hello\n", "less than a header")):
            merged = tools.merge(make_directory(name, rank=content))
            self.assert_status(merged, tools.UNREADABLE)
            self.assert_one_clear_line(merged, f"{name}/rank.jxspool", word)
            self.assertFalse(Path("run.h5").exists())

    def test_a_bad_spool_beside_a_good_one_is_listed(self):
        merged = tools.merge(make_directory("mixed", good=self.spool, bad=b"no spool at all, but long enough"))
        self.assert_status(merged, tools.PARTIAL)
        with RunFile("run.h5") as run:
            self.assertEqual(len(run.rows("job/processes")), 1)
            self.assertIn("mixed/bad.jxspool", run.diagnostics("file.unreadable")[0]["text"])
        self.assert_is_a_beginning("run.h5")

    def test_a_spool_cut_anywhere_gives_a_beginning(self):
        n_read = 0
        lengths = sorted({len(self.spool) * cut // N_CUTS for cut in range(N_CUTS)} | {len(self.spool) - 1})
        for length in lengths:
            shutil.rmtree("cut", ignore_errors=True)
            merged = tools.merge(make_directory("cut", rank=self.spool[:length]), "-f")
            self.assert_ends_properly(merged, (tools.PARTIAL, tools.UNREADABLE))
            if merged.status == tools.UNREADABLE:
                self.assert_one_clear_line(merged, "cut/rank.jxspool")
                self.assertEqual(n_read, 0, f"unreadable at {length} bytes, but read with fewer")
                continue
            n_read += 1
            self.assert_is_a_beginning("run.h5")
            with RunFile("run.h5") as run:
                self.assertEqual(len(run.diagnostics("spool.cut")), 1)
        self.assertGreater(n_read, N_CUTS // 2)

    def test_flipped_bits_are_noticed_and_never_believed(self):
        chance = random.Random(SEED)
        for _ in range(N_FLIPS):
            position = chance.randrange(len(self.spool))
            damaged = bytearray(self.spool)
            damaged[position] ^= 1 << chance.randrange(8)
            shutil.rmtree("flip", ignore_errors=True)
            merged = tools.merge(make_directory("flip", rank=bytes(damaged)), "-f")
            self.assert_ends_properly(merged, (tools.PARTIAL, tools.UNREADABLE))
            if merged.status == tools.UNREADABLE:
                self.assert_one_clear_line(merged, "flip/rank.jxspool")
                continue
            with RunFile("run.h5") as run:
                codes = {row["code"] for row in run.rows("diagnostics") if row["severity"] == "error"}
                self.assertNotEqual(codes, set())


class BadRunFile(tools.OwnFolderCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        job = tools.run(tools.EXEC, "-o", "whole/rank", "--", tools.NVTX_PUPPET, "--scenarios", "marks", "--out", "t")
        merged = tools.merge("whole", output="whole.h5")
        assert (job.status, merged.status) == (0, 0), f"{job}\n{merged}"

    def assert_refused(self, path, *words):
        for name in ("summary", "spread"):
            answer = tools.study(name, path)
            self.assert_status(answer, tools.UNREADABLE)
            self.assert_one_clear_line(answer, path, *words)
            self.assertEqual(answer.out, "")

    def changed(self, change):
        shutil.copy(self.folder / "whole.h5", "run.h5")
        with h5py.File("run.h5", "r+") as file:
            change(file)
        return "run.h5"

    def test_missing(self):
        self.assert_refused("nowhere.h5", "No such file or directory")

    def test_not_hdf5(self):
        Path("run.h5").write_bytes(random.Random(SEED).randbytes(50000))
        self.assert_refused("run.h5", "not HDF5")

    def test_empty(self):
        Path("run.h5").write_bytes(b"")
        self.assert_refused("run.h5", "empty")

    def test_truncated(self):
        content = (self.folder / "whole.h5").read_bytes()
        for tenth in range(1, 10):
            Path("run.h5").write_bytes(content[:len(content) * tenth // 10])
            self.assert_refused("run.h5", "damaged or cut short")

    def test_another_schema(self):
        def become_newer(file):
            file.attrs.modify("schema", "jaxprof/2")
            file.attrs.modify("schema_version", "2.0.0")

        self.assert_refused(self.changed(become_newer), "schema version 2.0.0")
        self.assert_refused(self.changed(lambda file: file.attrs.modify("schema", "jaxprof/2")), "jaxprof/2")
        self.assert_refused(self.changed(lambda file: file.attrs.modify("schema", "nsys/1")), "nsys/1")

    def test_somebody_elses_hdf5(self):
        with h5py.File("run.h5", "w") as file:
            file["x"] = [1, 2, 3]
        self.assert_refused("run.h5", "schema")

    def test_unfinished(self):
        self.assert_refused(self.changed(lambda file: file.attrs.__delitem__("complete")), "complete")

    def test_without_a_column(self):
        def remove(file):
            del file["events/nccl/seq"], file["job/tasks"]

        path = self.changed(remove)
        answer = tools.study("summary", path)
        self.assert_status(answer, tools.UNREADABLE)
        self.assert_one_clear_line(answer, path)

    def test_directory(self):
        os.mkdir("run.h5")
        self.assert_refused("run.h5", "regular file")

    def test_unknown_study(self):
        answer = tools.study("nosuch", self.folder / "whole.h5")
        self.assert_status(answer, tools.USAGE)
        self.assert_one_clear_line(answer, "nosuch", "summary", "spread")


if __name__ == "__main__":
    unittest.main()
