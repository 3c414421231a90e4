#!/usr/bin/env python3
"""merge/python/jaxprof_file.py on the run file of a job: types and missing values, and that a rank, a step or a span of
time gives exactly its events, by the log of the puppets and by reading everything.

Whether values are right, each of every table, is reader_agreement_test.py's; which files are opened, and how much of a
large one is read, jaxprof_open_test.py's.
"""

import contextlib
import functools
import io
import os
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import run_tools as tools

tools.require_module("h5py")
tools.require_module("pandas")
tools.require("mpi", shutil.which("mpirun"), "there is no mpirun")
FAKE_CUDA = Path(os.environ.get("JAXPROF_LIB", tools.BIN.parent / "lib")) / "fake_cuda"
tools.require("cupti", (FAKE_CUDA / "libcuda.so.1").exists(), f"there is no {FAKE_CUDA}/libcuda.so.1")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from run_file import RunFile  # noqa: E402
from truth_log import TruthLog  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
MODULE_FOLDER = ROOT / "merge" / "python"
sys.path.insert(0, str(MODULE_FOLDER))
import jaxprof_file  # noqa: E402

N_RANKS = 3
N_STEPS = 6
# From the clock that the puppet read to the one of the agent, on a busy machine.
CLOCK_TOLERANCE_NS = 200_000


@functools.lru_cache(maxsize=None)  # of all classes
def profile():
    """A folder with the run file of a job of puppets, and the truth about it by rank."""
    folder = Path(tempfile.mkdtemp(prefix="job.", dir=os.getcwd()))
    unittest.addModuleCleanup(tools.remove_tree, folder)
    os.chdir(folder)
    job = tools.mpirun(tools.EXEC, "-o", "prof/rank%r", "--step-marker", "step@puppet", "--", tools.NCCL_PUPPET, "--ops",
                       "allreduce,allgather", "--sizes", "1K,64K", "--iterations", N_STEPS, "--log", "log.%r",
                       n_ranks=N_RANKS, env=tools.environment(LD_LIBRARY_PATH=FAKE_CUDA))
    merged = tools.merge("prof")
    assert job.status == 0 and merged.status == 0, f"{job}\n{merged}"
    return folder, {rank: TruthLog(f"log.{rank}") for rank in range(N_RANKS)}


class WithRun(unittest.TestCase):
    """In a folder with run.h5: `run_file` is what is tested, `plain` what a reader of tests says of the same file."""

    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(os.chdir, os.getcwd())
        folder, cls.truths = profile()
        os.chdir(folder)
        cls.run_file = jaxprof_file.open("run.h5")
        cls.addClassCleanup(cls.run_file.close)
        cls.plain = RunFile("run.h5")
        cls.addClassCleanup(cls.plain.close)


class Events(WithRun):
    def assert_same(self, frame, rows):
        """Of events("nccl"): these rows of the file, as dictionaries of run_file.py."""
        self.assertEqual(len(frame), len(rows))
        for name in ("start_ns", "gpu_start_ns", "coll", "size_bytes", "seq"):
            ours = frame[name].astype(object).where(frame[name].notna(), None).tolist()
            self.assertEqual(ours, [row[name] for row in rows], name)

    def test_ranks_and_processes(self):
        by_process = self.plain.rows_by_process("events/nccl")
        for process, rank in enumerate(self.plain.ranks()):
            for frame in (self.run_file.events("nccl", rank=rank), self.run_file.events("nccl", process=process)):
                self.assert_same(frame, by_process[process])
                self.assertEqual(set(frame["rank"]), {rank})
                self.assertEqual(set(frame["process"]), {process})
        self.assert_same(self.run_file.events("nccl", process=[0, 2]), by_process[0] + by_process[2])
        self.assert_same(self.run_file.events("nccl"), [row for rows in by_process for row in rows])
        self.assertEqual(len(self.run_file.events("nccl", process=0, rank=self.plain.ranks()[1])), 0)

    def test_a_step_has_the_calls_that_the_program_made_in_it(self):
        for rank, truth in self.truths.items():
            for step in range(N_STEPS):
                calls = [call for call in truth.calls if call["iteration"] == step]
                self.assertGreater(len(calls), 0)
                frame = self.run_file.events("nccl", rank=rank, step=step)
                self.assertEqual(sorted(zip(frame["coll"].astype(str), frame["seq"])),
                                 sorted((call["function"], call["sequence"]) for call in calls))

    def test_steps_of_several_ranks(self):
        frame = self.run_file.events("nccl", step=range(2, 4))
        self.assertEqual(sorted(set(frame["rank"])), list(range(N_RANKS)))
        self.assertEqual(len(frame), sum(call["iteration"] in (2, 3) for truth in self.truths.values() for call in truth.calls))
        self.assertEqual(len(self.run_file.events("nccl", step=[0, 5], rank=[0, 2])),
                         sum(call["iteration"] in (0, 5) for rank in (0, 2) for call in self.truths[rank].calls))

    def test_between_two_times(self):
        by_process = self.plain.rows_by_process("events/nccl")
        starts = sorted(row["start_ns"] for rows in by_process for row in rows)
        for t0, t1 in ((starts[7], starts[-9]), (starts[7] + 1, starts[8]), (-5, starts[0]), (starts[-1], 2**62), (9, 3)):
            expected = [row for rows in by_process for row in rows if t0 <= row["start_ns"] < t1]
            self.assert_same(self.run_file.events("nccl", between=(t0, t1)), expected)
        step, = [row for row in self.plain.steps_by_process()[1] if row["step"] == 3]
        middle = step["start_ns"] + step["dur_ns"] // 2
        expected = [row for row in by_process[1] if step["start_ns"] <= row["start_ns"] < middle]
        self.assert_same(self.run_file.events("nccl", process=1, step=3, between=(0, middle)), expected)

    def test_the_index_is_the_row_of_the_file(self):
        columns = ["start_ns", "dur_ns", "api"]
        kernels, apis = self.run_file.events("kernels", columns, rank=1), self.run_file.table("/events/api")
        self.assertGreater(len(kernels), 0)
        self.assertTrue((apis.loc[kernels["api"], "start_ns"].to_numpy() <= kernels["start_ns"].to_numpy()).all())
        everything = self.run_file.table("/events/kernels", columns)
        pd.testing.assert_frame_equal(kernels, everything.loc[kernels.index], check_index_type=False)

    def test_columns_come_as_asked(self):
        frame = self.run_file.events("nccl", columns=["start_ns", "rank"])
        self.assertEqual(list(frame), ["start_ns", "rank"])
        self.assertEqual(list(self.run_file.table("/job/tasks", columns=["state", "task"])), ["state", "task"])
        self.assertEqual(list(self.run_file.events("nccl"))[:3], ["process", "rank", "start_ns"])

    def test_what_is_not_there_is_said(self):
        for ask, words in ((lambda run: run.events("nccl", rank=7), "has no process of rank 7"),
                           (lambda run: run.events("nccl", process=[0, 8, 9]), "has no process of process 8, 9"),
                           (lambda run: run.events("nccl", step=99), f"has step 99; steps recorded: 0 to {N_STEPS - 1}"),
                           (lambda run: run.events("kernel"), "has no table /events/kernel: there are .*/events/kernels"),
                           (lambda run: run.events("/comms"), "/comms is no table of events by process"),
                           (lambda run: run.table("/events"), "has no table /events: there are"),
                           (lambda run: run.table("/job/tasks", "color"), "no column color in /job/tasks: there are task"),
                           (lambda run: run.counters("nic", "mlx9"), "(of the drivers .*: name one|no counters of nic)"),
                           (lambda run: run.members(10**6), "has no instance 1000000: there are"),
                           (lambda run: run.raw_clock(5, 0), "has no node 5: there are 1")):
            with self.assertRaisesRegex(LookupError, words):
                ask(self.run_file)


class Tables(WithRun):
    def test_all_tables_are_listed_with_their_rows(self):
        tables = self.run_file.tables()
        for path in ("/job/tasks", "/job/processes", "/events/nccl", "/events/kernels", "/steps", "/collectives",
                     "/comms/members", "/collectives/members", "/clock/model", "/diagnostics"):
            self.assertEqual(len(self.run_file.table(path)), tables[path], path)
        self.assertEqual(tables["/job/processes"], N_RANKS)
        self.assertEqual(self.run_file.attributes["world_size"], N_RANKS)
        self.assertIn(f"{N_RANKS} processes on 1 nodes", repr(self.run_file))

    def test_types(self):
        nccl, processes = self.run_file.table("/events/nccl"), self.run_file.table("/job/processes")
        self.assertEqual(nccl["start_ns"].dtype, np.int64)
        self.assertEqual(nccl["size_bytes"].dtype, np.uint64)
        self.assertEqual(str(nccl["peer"].dtype), "Int32")  # a collective has none
        self.assertTrue(nccl["peer"].isna().all())
        self.assertEqual(processes["is_complete"].dtype, bool)
        self.assertEqual(processes["gpu_clock_residual_ns"].dtype, np.float64)
        self.assertEqual(nccl["coll"].dtype.name, "category")
        self.assertEqual(sorted(nccl["coll"].dropna().unique()), ["AllGather", "AllReduce"])
        self.assertNotIn("missing_value", nccl["coll"].cat.categories)
        self.assertEqual(set(nccl["api"].cat.categories), {"ncclAllReduce", "ncclAllGather"})
        domain = self.run_file.table("/events/nvtx", columns=["domain"])["domain"]
        self.assertIn("puppet", domain.cat.categories)
        self.assertNotIn("", domain.cat.categories)
        self.assertTrue(self.run_file.table("/job/nodes")["boot_id"].notna().all())

    def test_missing_values(self):
        tools.run(tools.BIN / "write_sample", "sample.h5")
        with jaxprof_file.open("sample.h5") as run:
            calls = run.events("nccl")
            self.assertEqual(str(calls["gpu_start_ns"].dtype), "Int64")
            self.assertEqual(calls["gpu_start_ns"].isna().tolist(), [False, True, True, True, True])
            self.assertEqual(calls.at[0, "gpu_start_ns"], 1_005_000)
            first = run.events("nccl", between=(0, 1_000_001))
            self.assertEqual(first["gpu_start_ns"].dtype, np.int64)  # none is missing here
            self.assertEqual(calls["flags"].tolist(), [0] * 5)  # bits are never missing
            self.assertTrue(calls["timing"].isna()[1:].all())
            model = run.table("/clock/nodes")
            self.assertEqual(str(model["is_contradicted"].dtype), "boolean")
            self.assertEqual(run.table("/job/tasks")["reason"].isna().tolist(), [True, True, True, False])
            self.assertEqual(run.counters("nic")["rx_drops"].isna().tolist(), [False, True, False])
            self.assertEqual(run.table("/steps")["dur_ns"].isna().tolist(), [False, False, True])
            self.assertEqual(run.events("nvtx", step=0)["name"].tolist(), ["step 2"])  # never ended: to the end

    def test_what_columns_mean(self):
        meanings = self.run_file.describe("/events/kernels")
        self.assertEqual(meanings.loc["dur_ns"].tolist(), ["int64", "ns", "length"])
        self.assertEqual(self.run_file.describe("/job/tasks").at["state", "dtype"], "word")

    def test_collectives_and_their_members(self):
        instances = self.run_file.collectives()
        self.assertEqual(len(instances), len(self.run_file.file["collectives/seq"]))
        self.assertFalse(instances["is_partial"].any())
        self.assertEqual(instances["is_unresolved"].tolist(), [flags & 8 != 0 for flags in instances["flags"]])
        for instance in (0, len(instances) - 1):
            members = self.run_file.members(instance)
            self.assertEqual(members.index.tolist(), self.plain.members(instance))
            self.assertEqual(members["comm_rank"].tolist(), list(range(N_RANKS)))
            self.assertEqual(set(members["instance"]), {instance})
        self.assertEqual(list(self.run_file.members(0, columns=["rank"])["rank"]), list(range(N_RANKS)))

    def test_counters(self):
        path, = (path for path in self.run_file.tables() if path.startswith("/counters/nic/"))
        frame = self.run_file.counters("nic")
        pd.testing.assert_frame_equal(frame, self.run_file.counters("nic", path.rpartition("/")[2]))
        pd.testing.assert_frame_equal(frame, self.run_file.table(path))
        offsets = self.plain.offsets(f"{path}/nic_offset")
        self.assertEqual(np.bincount(frame["nic"], minlength=len(offsets) - 1).tolist(), np.diff(offsets).tolist())
        self.assertEqual(frame["time_ns"].tolist(), [row["time_ns"] for row in self.plain.rows(path)])
        self.assertIn("kind", self.run_file.describe(path))


class Clocks(WithRun):
    def test_wall_clock_time_is_exact(self):
        epoch = self.run_file.attributes["epoch_unix_ns"]
        starts = self.run_file.events("nccl", columns=["start_ns"])["start_ns"]
        times = self.run_file.to_datetime(starts)
        self.assertEqual(times.index.tolist(), starts.index.tolist())
        self.assertEqual([time.value for time in times], [epoch + start for start in starts])
        self.assertEqual(str(times.dt.tz), "UTC")
        self.assertEqual(self.run_file.to_datetime(starts.iloc[0]).value, epoch + starts.iloc[0])
        self.assertEqual(self.run_file.to_datetime([5, 7]).asi8.tolist(), [epoch + 5, epoch + 7])
        some = pd.Series([3, None], dtype="Int64")
        self.assertEqual(self.run_file.to_datetime(some).isna().tolist(), [False, True])
        self.assertEqual(self.run_file.to_datetime(some)[0].value, epoch + 3)
        self.assertIs(self.run_file.to_datetime(pd.NA), pd.NaT)

    def test_raw_clock_is_what_the_program_read(self):
        calls = self.run_file.events("nccl", rank=0)  # one after the other
        raw = self.run_file.raw_clock(0, calls["start_ns"])
        truth = sorted(self.truths[0].calls, key=lambda call: call["before_raw_ns"])
        self.assertEqual(len(raw), len(truth))
        for ours, call in zip(raw, truth):
            self.assertLess(call["before_raw_ns"] - CLOCK_TOLERANCE_NS, ours, str(call))
            self.assertLess(ours, call["after_raw_ns"] + CLOCK_TOLERANCE_NS, str(call))
        back = self.run_file.from_raw_clock(0, raw)
        self.assertLessEqual(np.abs(back - calls["start_ns"].to_numpy()).max(), 1)
        self.assertEqual(self.run_file.raw_clock(0, int(calls["start_ns"].iloc[0])), raw[0])


class Readme(WithRun):
    def test_its_example_runs(self):
        text = (ROOT / "README.md").read_text()
        program, = (block for block in re.findall(r"```python\n(.*?)```", text, re.S) if "jaxprof_file" in block)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program, "README.md", "exec"), {})
        self.assertIn("AllReduce", printed.getvalue())


if __name__ == "__main__":
    unittest.main()
