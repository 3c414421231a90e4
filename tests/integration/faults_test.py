#!/usr/bin/env python3
"""A disk that fails at any call: each write, allocation, mapping, opening and renaming below the spool folder or the run
directory is made to fail in turn, once and for good, in the job's processes and in its wrapper. The job must not
notice, people get at most one line more, and a run file that calls itself complete holds everything.
"""

import errno
import os
import shutil
import struct
import unittest
from pathlib import Path

import run_tools as tools
from run_file import RunFile

LIB = Path(os.environ["JAXPROF_LIB"])
DYNAMIC_EXEC = tools.BIN / "dynamic_exec"
SHIM = LIB / "libfault_shim.so"
JOB = f"{tools.NVTX_PUPPET} --scenarios default,nested,marks --threads 2 --out truth.json; echo result; exit 7"
CALLS = ("open", "mkdir", "write", "pwrite", "fallocate", "mmap", "fsync", "fdatasync", "ftruncate", "rename", "link",
         "unlink")
HALF_A_WRITE = 0
N_EACH = 12  # calls of one kind that fail in turn: the first ones and, of many, some beyond


class Faults(tools.OwnFolderCase):
    def run_job(self, fault, below):
        for name in ("prof", "node"):
            shutil.rmtree(name, ignore_errors=True)
        for name in ("counter", "truth.json", "run.h5"):
            Path(name).unlink(missing_ok=True)
        Path("node").mkdir()
        return tools.run(DYNAMIC_EXEC, "-o", Path("prof/rank").absolute(), "--spool", Path("node").absolute(), "--", "sh",
                         "-c", JOB, env=tools.environment(
                             LD_PRELOAD=SHIM, JAXPROF_FAULT=fault, JAXPROF_FAULT_BELOW=Path(below).absolute(),
                             JAXPROF_FAULT_COUNTER=Path("counter").absolute()))

    def count(self, call, below):
        job = self.run_job(f"{call}:0:0:0", below)
        self.assert_job_is_whole(job)
        return struct.unpack("<Q", Path("counter").read_bytes())[0]

    def assert_job_is_whole(self, job):
        self.assertEqual((job.status, job.out), (7, "result\n"), str(job))
        for line in job.err.splitlines():
            self.assertTrue(line.startswith("jaxprof"), str(job))
        usual = [line for line in job.err.splitlines() if " traced" in line or " written" in line]
        self.assertLessEqual(len(job.err.splitlines()) - len(usual), 1, str(job))

    def assert_run_file_is_honest(self, job, n_whole):
        merged = tools.merge("prof")
        self.assertIn(merged.status, (tools.DONE, tools.UNREADABLE, tools.PARTIAL), f"{job}\n{merged}")
        if merged.status != tools.DONE:
            return
        with RunFile("run.h5") as run:
            dropped = int(run.file.attrs["n_dropped"])
            self.assertEqual(len(run.rows("events/nvtx")) == n_whole, dropped == 0, f"{job}\n{merged}")

    def strike_each_call(self, below):
        self.assert_job_is_whole(self.run_job("write:0:0:0", below))
        self.assert_status(tools.merge("prof"), tools.DONE)
        with RunFile("run.h5") as run:
            n_whole = len(run.rows("events/nvtx"))
        self.assertGreater(n_whole, 100)
        n_struck = 0
        for call in CALLS:
            n_calls = self.count(call, below)
            places = range(1, n_calls + 1)
            places = sorted({*places[:N_EACH // 2], *places[N_EACH // 2::max(1, 2 * n_calls // N_EACH)]})
            for first in places:
                for error, n in ((errno.ENOSPC, 1), (errno.EROFS, 0)) + ((HALF_A_WRITE, 1),) * (call == "write"):
                    with self.subTest(f"{call}:{error}:{first}:{n}"):
                        job = self.run_job(f"{call}:{error}:{first}:{n}", below)
                        self.assert_job_is_whole(job)
                        self.assert_run_file_is_honest(job, n_whole)
                        n_struck += 1
        self.assertGreater(n_struck, 20)

    def test_of_the_node(self):
        self.strike_each_call("node")

    def test_of_the_run_directory(self):
        self.strike_each_call("prof")


if __name__ == "__main__":
    unittest.main()
