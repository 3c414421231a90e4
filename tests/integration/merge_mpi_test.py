#!/usr/bin/env python3
"""One run merged by one process and by several, on one node and on two: the files are the same, byte for byte."""

import filecmp
import os
import shutil
import time
import unittest
from pathlib import Path

import run_tools as tools

MERGE_MPI = str(tools.BIN / "jaxprof-merge-mpi")


class MergeMpiCase(tools.FolderCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        job = tools.srun(tools.EXEC, "-o", "prof/rank%r", "--", tools.NCCL_PUPPET, "--api", "plugin,nvtx")
        assert job.status == 0, str(job)
        merged = tools.merge("prof", output="one.h5")
        assert merged.status == 0, str(merged)
        cls.lines = merged.out

    def assert_same_file(self, path):
        self.assertTrue(filecmp.cmp("one.h5", path, shallow=False), f"one.h5 and {path} differ")

    def test_two_processes_on_two_nodes(self):
        merged = tools.srun(MERGE_MPI, "prof", "-o", "two.h5", options=("-N2", "--ntasks-per-node=1"))
        self.assert_status(merged, 0)
        self.assert_same_file("two.h5")
        self.assertEqual(merged.out.replace("two.h5", "one.h5"), self.lines, "one process speaks, and says the same")

    def test_more_processes_than_spools_under_mpirun(self):
        merged = tools.mpirun(MERGE_MPI, "prof", "-o", "six.h5", n_ranks=6)
        self.assert_status(merged, 0)
        self.assert_same_file("six.h5")

    def test_the_order_of_files_and_the_time_of_the_merge_do_not_show(self):
        Path("shuffled").mkdir()
        state = next(Path("prof").glob(".run-*"))
        for spool in sorted(Path("prof").glob("*.jxspool"), reverse=True):
            shutil.copy(spool, "shuffled")
        shutil.copytree(state, Path("shuffled") / state.name)
        for other in Path("prof").iterdir():
            if other.is_file() and other.suffix != ".jxspool":
                shutil.copy(other, "shuffled")
        time.sleep(1.1)  # a second of another number
        merged = tools.merge("shuffled", output="again.h5")
        self.assert_status(merged, 0)
        self.assert_same_file("again.h5")

    def test_threads_and_memory_do_not_show(self):
        merged = tools.merge("prof", "--threads", "3", "--memory", "1MB", output="small.h5")
        self.assert_status(merged, 0)
        self.assert_same_file("small.h5")

    def test_a_refusal_is_told_once_and_is_the_status(self):
        merged = tools.srun(MERGE_MPI, "prof", "-o", "one.h5", options=("-N2", "--ntasks-per-node=1"))
        self.assertNotEqual(merged.status, 0)
        self.assertEqual(merged.err.count("one.h5: exists already"), 1, str(merged))
        self.assertEqual(os.listdir(".").count("one.h5.part"), 0)


if __name__ == "__main__":
    unittest.main()
