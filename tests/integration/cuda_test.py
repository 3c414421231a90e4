#!/usr/bin/env python3
"""A process that uses CUDA, under the real wrapper and agent, with the tests' CUDA driver and CUPTI: each kernel and copy
of the puppet's own log is in the run file, with the log's times; and whatever is wrong around the job leaves it alone.

CUPTI's double counts what an agent may not do (calls into CUDA from callbacks, a flush inside one, a lock across a flush,
any call in a forked child); each run here must end without one.
"""

import os
import signal
import statistics
import time
import unittest
from collections import Counter
from pathlib import Path

import run_tools as tools
from run_file import RunFile
from truth_log import read_log

PUPPET = str(tools.BIN / "cuda_puppet")
LIB = Path(os.environ.get("JAXPROF_LIB", tools.BIN.parent / "lib"))
FAKE = LIB / "fake_cuda"
FAKE_13_0 = LIB / "fake_cupti_13_0"  # its libcupti is without the functions that came after CUPTI 13.0
tools.require("cupti", (FAKE / "libcuda.so.1").exists(), f"there is no {FAKE}/libcuda.so.1; run: bash tests/setup.sh cupti")

# The log's own two stamps of a begin are taken one after the other; what is left is CUPTI's clock, read by the agent. On
# a busy machine single readings are off by more, but none by as much as would exchange two kernels.
MEDIAN_NS = 1_000
TOLERANCE_NS = 50_000
EXIT_LIMIT_S = 20  # at most 2 s are the agent's


class CudaCase(tools.OwnFolderCase):
    def profile(self, *words, status=0, exec_options=(), libraries=FAKE, **switches):
        """One run of the puppet; the double must have seen nothing forbidden."""
        began = time.monotonic()
        self.job = tools.run(tools.EXEC, "-o", "prof/rank%r", *exec_options, "--", PUPPET, "--log", "log", *words,
                             env=tools.environment(LD_LIBRARY_PATH=libraries, FAKE_CUPTI_REPORT="report", **switches))
        self.took_s = time.monotonic() - began
        self.assert_status(self.job, status)
        report = read_log("report") if Path("report").exists() else []
        self.assertEqual([line for line in report if line["what"] == "violation"], [])
        self.counts = next((line for line in report if line["what"] == "counts"), None)
        self.log = read_log("log")
        return self.log

    def merged(self):
        """The run file, which may say of the run what it likes."""
        self.merge = tools.merge("prof", "--allow-partial")
        self.assert_status(self.merge, tools.DONE)
        run = RunFile("run.h5")
        self.addCleanup(run.close)
        return run

    def truth(self, *kinds):
        return [line for line in self.log if line["what"] in kinds]

    def axis_offset_ns(self, run):
        return statistics.median(line["begin_realtime_ns"] - line["begin_raw_ns"] for line in self.truth("kernel")
                                 if "begin_realtime_ns" in line) - run.epoch_unix_ns

    def assert_rows_are(self, rows, truth, offset_ns):
        """Each line of the log is a row, and each row a line; times are equal but for the reading of clocks."""
        def key(one):
            return one["correlation"], one["stream"], one["graph_node"] or None, one["dur_ns"]

        lines = [{**line, "dur_ns": line["end_raw_ns"] - line["begin_raw_ns"]} for line in truth]
        self.assertEqual(Counter(map(key, rows)), Counter(map(key, lines)))
        line_of = {key(line): line for line in lines}
        off_ns = [abs(row["start_ns"] - line_of[key(row)]["begin_raw_ns"] - offset_ns) for row in rows]
        print(f"{len(rows)} starts off by {statistics.median(off_ns):.0f} ns in the median, {max(off_ns):.0f} ns at most")
        self.assertLess(statistics.median(off_ns), MEDIAN_NS)
        self.assertLess(max(off_ns), TOLERANCE_NS)

    def assert_undisturbed(self, n_steps):
        """The job did all its steps, and jaxprof said its two lines and no more than one besides."""
        self.assertEqual(self.job.out, f"cuda_puppet: {n_steps} steps\n")
        self.assertEqual(len(self.truth("iteration")), n_steps)
        self.assertLessEqual(len(self.job.lines_of_jaxprof()), 3, str(self.job))
        self.assertEqual(len(self.job.err.splitlines()), len(self.job.lines_of_jaxprof()), str(self.job))


class Records(CudaCase):
    WORK = "kernel:4,copy,fill,graph:3,capture:2,module:2,runtime,event,sync"

    def test_everything_is_recorded_with_its_times(self):
        self.profile("--work", self.WORK, "--steps", 4, "--devices", 2, "--threads", 2, "--streams", 2,
                     FAKE_CUDA_DEVICES=2, FAKE_CUDA_DELIVERY_JITTER_US=3000, FAKE_CUPTI_CROSS_THREAD=1,
                     # a GPU clock that is 7 s off and gains 20 us a second
                     FAKE_CUDA_CLOCK_OFFSET_NS=7_000_000_000, FAKE_CUDA_CLOCK_DRIFT_PPB=20_000)
        run = self.merged()
        kernels = run.rows("events/kernels")
        self.assertEqual(len(kernels), 4 * 4 * (4 + 3 + 2 + 2 + 1))
        offset_ns = self.axis_offset_ns(run)
        self.assertEqual(Counter(row["name"] for row in kernels), Counter(line["name"] for line in self.truth("kernel")))
        self.assert_rows_are(kernels, self.truth("kernel"), offset_ns)
        self.assert_rows_are(run.rows("events/memops"), self.truth("copy", "fill"), offset_ns)
        self.assertEqual({row["device"] for row in kernels}, {0, 1})
        # each kernel has the call that launched it
        api = run.rows("events/api")
        for row in kernels:
            self.assertEqual(api[row["api"]]["correlation"], row["correlation"])
        self.assertEqual(self.counts["finalize_calls"], 0)
        self.assertEqual(self.counts["timestamp_callbacks"], 0)

    def test_an_older_cupti_gives_the_same(self):
        self.profile("--work", "kernel:4,graph:3,copy", "--steps", 3, libraries=FAKE_13_0)
        run = self.merged()
        self.assert_rows_are(run.rows("events/kernels"), self.truth("kernel"), self.axis_offset_ns(run))

    def test_records_that_come_late_and_in_disorder_are_all_there(self):
        self.profile("--work", "kernel:20", "--steps", 5, "--streams", 2, "--kernel-us", 1, "--linger-ms", 300,
                     FAKE_CUPTI_LATE_RECORDS=1, FAKE_CUDA_DELIVERY_US=20_000, FAKE_CUDA_DELIVERY_JITTER_US=20_000)
        run = self.merged()
        self.assert_rows_are(run.rows("events/kernels"), self.truth("kernel"), self.axis_offset_ns(run))

    def test_profiler_range_is_the_window(self):
        self.profile("--work", "kernel:3", "--steps", 6, "--profiler", "2-3", "--linger-ms", 300,
                     exec_options=("--capture-range", "cudaProfilerApi"))
        run = self.merged()
        inside = [line for line in self.truth("kernel") if 2 <= line["step"] <= 3]
        kernels = [row for row in run.rows("events/kernels") if not (row["flags"] or 0) & 8]
        self.assert_rows_are(kernels, inside, self.axis_offset_ns(run))

    def test_profiler_range_without_gpu_records(self):
        self.profile("--work", "kernel:3", "--steps", 6, "--profiler", "2-3",
                     exec_options=("--capture-range", "cudaProfilerApi", "-t", "nvtx"))
        self.assertIn("window cudaProfilerApi closed on 1 of 1 processes", self.job.err)
        run = self.merged()
        self.assertEqual(len(run.rows("segments")), 1)
        self.assertEqual(len(run.rows("events/nvtx")), 2, "a range of each step inside, and no other")
        self.assertEqual(run.rows("events/kernels"), [])

    def test_lost_times_are_marked_and_a_module_may_go(self):
        """The name of a kernel whose module is gone is whatever lies there; it takes nothing else with it."""
        self.profile("--work", "module:2,kernel:2", "--steps", 4, FAKE_CUDA_POISON_NAMES=1, FAKE_CUPTI_ZERO_EVERY=5)
        kernels = self.merged().rows("events/kernels")
        self.assertEqual(len(kernels), len(self.truth("kernel")))
        self.assertEqual(sum(1 for row in kernels if (row["flags"] or 0) & 1), len(kernels) // 5)
        self.assertEqual(sum(1 for row in kernels if row["name"] == "puppet_kernel_0"), 4 * 2)


class WrongSurroundings(CudaCase):
    STEPS = ("--work", "kernel:3", "--steps", 4)

    def assert_said(self, *words):
        """The merge says why there is nothing of the GPU, in one line."""
        run = self.merged()
        self.assertEqual(len(run.rows("events/kernels")), 0)
        lines = [line for line in self.merge.out.splitlines() + self.merge.err.splitlines() if "GPUs" in line]
        self.assertEqual(len(lines), 1, str(self.merge))
        for word in words:
            self.assertIn(word, lines[0])

    def test_another_subscriber_was_first(self):
        self.profile(*self.STEPS, "--rival", "subscribe")
        self.assert_undisturbed(4)
        self.assertEqual([line["result"] for line in self.truth("rival")], [0])
        self.assert_said("CUPTI's one place is taken")

    def test_a_debugger_has_the_process(self):
        self.profile(*self.STEPS, FAKE_CUDA_SLOT_HELD=1)
        self.assert_undisturbed(4)
        self.assert_said("cuda-gdb")

    def test_another_subscriber_comes_along(self):
        """With 13.3 both have their records; the agent loses none."""
        self.profile(*self.STEPS, "--rival", "multiple")
        self.assert_undisturbed(4)
        self.assertEqual([line["result"] for line in self.truth("rival")], [0])
        run = self.merged()
        self.assert_rows_are(run.rows("events/kernels"), self.truth("kernel"), self.axis_offset_ns(run))

    def test_buffers_are_taken_by_a_library_that_never_subscribed(self):
        self.profile(*self.STEPS, "--rival", "register", libraries=FAKE_13_0)
        self.assert_undisturbed(4)
        self.assertEqual([line["result"] for line in self.truth("rival")], [0, 0])
        self.assertLess(len(self.merged().rows("events/kernels")), len(self.truth("kernel")))

    def test_two_copies_of_cupti(self):
        self.profile(*self.STEPS, "--load", f"{FAKE}/libcupti.so.13,{FAKE_13_0}/libcupti.so.13")
        self.assert_undisturbed(4)
        self.assert_said("libcupti")

    def test_missing_privileges(self):
        self.profile(*self.STEPS, FAKE_CUPTI_ENABLE_RESULT=35)
        self.assert_undisturbed(4)
        self.assert_said("NVreg_RestrictProfilingToAdminUsers=0")

    def test_an_unknown_newer_cupti(self):
        """Larger records and a kind that nobody knows: what is known is read."""
        self.profile(*self.STEPS, FAKE_CUPTI_VERSION=140000)
        self.assert_undisturbed(4)
        run = self.merged()
        self.assert_rows_are(run.rows("events/kernels"), self.truth("kernel"), self.axis_offset_ns(run))
        self.assertIn("gpu-unknown-kind", str(self.merge))

    def test_a_flush_that_hangs(self):
        self.profile(*self.STEPS, "--exit", "exit", "--exit-code", 5, status=5, FAKE_CUPTI_FLUSH_HANG=1)
        self.assert_undisturbed(4)
        self.assertLess(self.took_s, EXIT_LIMIT_S)
        self.merged()
        self.assertIn("gpu-unflushed", str(self.merge))

    def test_a_flush_that_hangs_when_the_window_ends_the_job(self):
        """The job is ended all the same, and nobody takes that for a death: it was asked for."""
        self.profile(*self.STEPS, "--profiler", "1-2", "--linger-ms", 60_000, status=-signal.SIGTERM,
                     exec_options=("-c", "cudaProfilerApi", "--capture-range-end", "stop-shutdown"),
                     FAKE_CUPTI_FLUSH_HANG=1)
        self.assertLess(self.took_s, EXIT_LIMIT_S)
        self.assertIn("ending the job, as --capture-range-end stop-shutdown asks", self.job.err)
        self.merged()
        self.assertIn("its window was over and asked the job to end", str(self.merge))
        self.assertIn("gpu-unflushed", str(self.merge))
        self.assertNotIn("exit handlers", str(self.merge))

    def test_cupti_gives_up(self):
        """It ends itself with all that it had in its buffers: they are counted."""
        self.profile(*self.STEPS, FAKE_CUPTI_FATAL_AFTER=5)
        self.assert_undisturbed(4)
        self.assertNotIn(", 0 dropped", self.job.err)
        self.assert_said("its GPUs were not recorded: CUPTI met a fatal error and ended itself")
        self.assertRegex(str(self.merge), r"gpu-unflushed")

    def test_cupti_gives_up_after_many_kernels(self):
        """The buffers that were full before are read, and nobody says that there was nothing."""
        self.profile("--work", "kernel:4000", "--steps", 1, "--no-bodies", "--kernel-us", 0, FAKE_CUPTI_FATAL_AFTER=3900)
        self.assert_undisturbed(1)
        run = self.merged()
        self.assertGreater(len(run.rows("events/kernels")), 1000)
        self.assertLess(len(run.rows("events/kernels")), 3900)
        said = [line for line in self.merge.err.splitlines() + self.merge.out.splitlines() if "GPUs" in line]
        self.assertEqual(len(said), 1, str(self.merge))
        self.assertIn("recorded in part: CUPTI met a fatal error and ended itself", said[0])
        self.assertIn("GPUs were recorded until then", said[0])
        self.assertIn("gpu-unflushed", str(self.merge))

    def test_a_forked_child(self):
        self.profile(*self.STEPS, "--fork-at", 2, FAKE_CUPTI_FORK_HANG=1)
        self.assert_undisturbed(4)
        run = self.merged()
        self.assert_rows_are(run.rows("events/kernels"), self.truth("kernel"), self.axis_offset_ns(run))

    def test_killed(self):
        """What CUPTI had given back a second before is not lost."""
        self.profile(*self.STEPS, "--exit", "kill", "--linger-ms", 2500, status=-9)
        run = self.merged()
        self.assert_rows_are(run.rows("events/kernels"), self.truth("kernel"), self.axis_offset_ns(run))

    def test_killed_with_records_that_cupti_holds(self):
        """They are lost, and counted: so the run is partial."""
        self.profile(*self.STEPS, "--exit", "kill", status=-9)
        self.assertNotIn(", 0 dropped", self.job.err)
        self.merged()
        self.assertIn("GPU buffers that CUPTI still held when the process ended", str(self.merge))
        self.assertIn("  partial", self.merge.out)


if __name__ == "__main__":
    unittest.main()
