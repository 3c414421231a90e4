#!/usr/bin/env python3
"""What programs do with processes and libraries: Python's multiprocessing in all its ways, and libraries that come and go
with copies of NVTX of their own. In a build with sanitizers the agent that Python loads is instrumented as well.
"""

import os
import subprocess
import unittest
from collections import Counter
from pathlib import Path

import run_tools as tools
from nvtx_case import NvtxCase
from run_file import RunFile

HERE = Path(__file__).parent
LIB = Path(os.environ["JAXPROF_LIB"])
SANITIZED_AGENT = LIB / "libsanitized_agent.so"
N_TASKS = 100
N_THREAD_RANGES = 8 * 50
SUM = str(sum(i * i for i in range(N_TASKS)))


def sanitizer_environment():
    """The sanitizers' run time must be loaded first where the program is not instrumented itself. Python's own allocator
    and its leaks at exit are not what is tested."""
    if not SANITIZED_AGENT.exists():
        return {}
    needed = subprocess.run(["ldd", SANITIZED_AGENT], stdout=subprocess.PIPE, check=True).stdout.decode().split()
    run_time = ":".join(word for word in needed if word.startswith("/") and "san" in Path(word).name)
    return {"JAXPROF_AGENT": SANITIZED_AGENT, "LD_PRELOAD": run_time,
            "PYTHONMALLOC": "malloc", "ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "halt_on_error=1"}


class Multiprocessing(tools.OwnFolderCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        found = tools.run("bash", HERE.parent / "setup.sh", "--path", "python")
        cls.python = Path(found.out.strip())
        tools.require("jax", cls.python.exists(), f"there is no {cls.python}; run: bash tests/setup.sh jax")

    def profile(self, method):
        job = tools.run("env", *(f"{name}={value}" for name, value in sanitizer_environment().items()), tools.EXEC, "-o",
                        "prof/rank", "--", self.python, HERE / "multiprocessing_job.py", method)
        self.assert_status(job, 0)
        self.assertEqual(job.out, SUM + "\n")
        self.assertNotIn("Sanitizer", job.err)
        self.assertTrue(all(line.startswith("jaxprof") for line in job.err.splitlines()), str(job))
        merged = tools.merge("prof")
        self.assert_status(merged, tools.DONE)
        return RunFile("run.h5")

    def ranges(self, run):
        return Counter(row["domain"] for row in run.rows("events/nvtx"))

    def test_fork(self):
        """The children share their parent's rings: they are left alone, and what they would have recorded is counted."""
        with self.profile("fork") as run:
            self.assertEqual(self.ranges(run), {"parent": 1, "threads": N_THREAD_RANGES})
            self.assertEqual([row["count"] for row in run.diagnostics("drop.forked-child")], [2 * N_TASKS])
            self.assertEqual(len(run.rows("job/processes")), 1)

    def assert_children_are_recorded(self, run):
        self.assertEqual(self.ranges(run), {"parent": 1, "threads": N_THREAD_RANGES, "workers": N_TASKS})
        names = {row["name"] for row in run.rows("events/nvtx") if row["domain"] == "workers"}
        self.assertEqual(names, {f"task {i}" for i in range(N_TASKS)})
        self.assertEqual(run.file.attrs["n_dropped"], 0)

    def test_spawn(self):
        """Each child is a program of its own; terminate() kills it, and the wrapper saves what it had recorded."""
        with self.profile("spawn") as run:
            self.assert_children_are_recorded(run)
            self.assertGreater(len(run.rows("job/processes")), 1)

    def test_forkserver(self):
        """The children are forks of a server that never calls NVTX itself."""
        with self.profile("forkserver") as run:
            self.assert_children_are_recorded(run)


class Unloading(NvtxCase):
    ROUNDS, RANGES = 40, 10

    def test_a_library_that_comes_and_goes(self):
        self.job = tools.run(tools.EXEC, "-o", "prof/rank", "--", tools.BIN / "unload_puppet", LIB / "libnvtx_library.so",
                             self.ROUNDS, self.RANGES)
        self.assert_status(self.job, 0)
        self.merged = tools.merge("prof")
        self.assert_status(self.merged, tools.DONE)
        with RunFile("run.h5") as run:
            self.assertEqual(Counter((row["domain"], row["name"]) for row in run.rows("events/nvtx")),
                             {(None, "of a library"): self.ROUNDS * self.RANGES,
                              ("library", "registered in a library"): self.ROUNDS * self.RANGES})
            self.assertEqual(self.drops(run), {})


if __name__ == "__main__":
    unittest.main()
