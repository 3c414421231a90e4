#!/usr/bin/env python3
"""GPU times against the truth: the puppet's transfers are kernels of the tests' CUDA driver that state their own times, a
job of four ranks is profiled by way of CUPTI's double, and the run file has these times, call by call.

The puppet's stamps are CLOCK_MONOTONIC_RAW, the run file's are on the run's axis. Between the two lies a line (an
offset, and the wall clock's rate), which is fitted through the calls of a rank; what is left of the difference is what
CUPTI's clock, the agent's readings of it and the merge add.
"""

import json
import os
import shutil
import statistics
import unittest
from collections import Counter
from pathlib import Path

import run_tools as tools
from run_file import RunFile
from truth_log import DECOMPOSED, FUNCTIONS, TruthLog, read_log

tools.require("mpi", shutil.which("mpirun"), "there is no mpirun")
FAKE_CUDA = Path(os.environ.get("JAXPROF_LIB", tools.BIN.parent / "lib")) / "fake_cuda"
tools.require("cupti", (FAKE_CUDA / "libcuda.so.1").exists(), f"there is no {FAKE_CUDA}/libcuda.so.1")

N_RANKS = 4
# Wall-clock offset of the puppet's log, from stamps taken one after the other on a busy machine.
AXIS_TOLERANCE_NS = 200_000
# What is left of a time after the fit.
RESIDUAL_NS = 1_000


def fitted_residuals_ns(pairs):
    """(truth raw ns, ours ns) to what ours is off the least-squares line through all."""
    x0, y0 = pairs[0]
    xs, ys = [x - x0 for x, _ in pairs], [y - y0 for _, y in pairs]
    x_mean, y_mean = statistics.fmean(xs), statistics.fmean(ys)
    spread = sum((x - x_mean) ** 2 for x in xs)
    slope = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys)) / spread if spread else 1.0
    return [y - y_mean - slope * (x - x_mean) for x, y in zip(xs, ys)]


class GpuCase(tools.FolderCase):
    options = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.job = tools.mpirun(tools.EXEC, "-o", "prof/rank%r", "--step-marker", "step@puppet", "--",
                               tools.NCCL_PUPPET, "--log", "log.%r", *cls.options, n_ranks=N_RANKS,
                               env=tools.environment(LD_LIBRARY_PATH=FAKE_CUDA))
        cls.merged = tools.merge("prof")
        assert cls.job.status == 0 and cls.merged.status == 0, f"{cls.job}\n{cls.merged}"
        cls.truths = {truth.rank: truth for truth in map(TruthLog, (f"log.{rank}" for rank in range(N_RANKS)))}
        # The kernel of each collective, by rank, communicator, function, number of the call and replay.
        cls.kernels = {}
        for rank in cls.truths:
            for line in read_log(f"log.{rank}"):
                if line["what"] == "transfer" and line["kernel"] is not None:
                    key = rank, line["comm"], FUNCTIONS.get(line["function"], line["function"]), line["n_call"]
                    cls.kernels.setdefault(key, []).append(line)
        cls.run_file = RunFile("run.h5")
        cls.comms = cls.run_file.rows("comms")
        cls.rows = cls.run_file.rows("events/nccl")
        offsets = cls.run_file.offsets("events/nccl/process_offset")
        cls.rows_of_rank = {rank: cls.rows[begin:end]
                            for rank, begin, end in zip(cls.run_file.ranks(), offsets, offsets[1:])}

    @classmethod
    def tearDownClass(cls):
        cls.run_file.close()
        super().tearDownClass()

    def collectives(self, rank):
        """(kernels by the puppet's log, rows) of each of the rank's collectives that NCCL runs as such; several of each
        where it was replayed."""
        rows, n_captured = {}, Counter()
        for row in self.rows_of_rank[rank]:
            if row["parent"] is None and row["seq"] is not None:
                rows.setdefault((self.comms[row["comm"]]["hash"], row["coll"], row["seq"], row["capture"]), []).append(row)
        for call in self.truths[rank].calls:
            if call["function"] in DECOMPOSED + ("Send", "Recv"):
                continue
            key = call["comm"], call["function"]
            capture = None
            if call["captured"]:  # they have no number of their own
                capture = n_captured[key, call["sequence"]]
                n_captured[key, call["sequence"]] += 1
            yield self.kernels[rank, *key, call["n_call"]], rows[*key, call["sequence"], capture]

    def assert_times_agree(self, rank, pairs):
        """Of (kernel by the log, row): lengths are equal, starts lie on a line with the puppet's."""
        for kernel, row in pairs:
            self.assertEqual(row["timing"], "cupti", f"{kernel}\n{row}")
            self.assertEqual(row["gpu_dur_ns"], kernel["kernel_end_raw_ns"] - kernel["kernel_begin_raw_ns"],
                             f"{kernel}\n{row}")
            expected = self.truths[rank].realtime_ns(kernel["kernel_begin_raw_ns"]) - self.run_file.epoch_unix_ns
            self.assertLess(abs(row["gpu_start_ns"] - expected), AXIS_TOLERANCE_NS, f"{kernel}\n{row}")
        residuals = [abs(residual) for residual in
                     fitted_residuals_ns([(kernel["kernel_begin_raw_ns"], row["gpu_start_ns"]) for kernel, row in pairs])]
        print(f"rank {rank}: {len(pairs)} arrivals, off by {statistics.median(residuals):.0f} ns in the median, "
              f"{max(residuals):.0f} ns at most")
        self.assertLess(statistics.median(residuals), RESIDUAL_NS)


class Eager(GpuCase):
    options = ("--api", "plugin,nvtx", "--ops", "allreduce,allgather,reducescatter,broadcast,alltoall,group", "--sizes",
               "1K,256K", "--comms", "2", "--iterations", "6")

    def test_every_call_has_its_kernels_times(self):
        for rank in self.truths:
            pairs = []
            for (kernel,), (row,) in self.collectives(rank):
                self.assertEqual(row["path"], "external", str(row))
                pairs.append((kernel, row))
            self.assertGreater(len(pairs), 20)
            self.assert_times_agree(rank, pairs)

    def test_a_decomposed_call_has_the_times_of_its_parts(self):
        parents = [row for row in self.rows if row["coll"] == "AllToAll"]
        self.assertGreater(len(parents), 0)
        for row in parents:
            parts = [part for part in self.rows if part["parent"] is not None and self.rows[part["parent"]] is row]
            self.assertEqual({part["timing"] for part in parts}, {"cupti"}, str(row))
            self.assertEqual(row["gpu_start_ns"], min(part["gpu_start_ns"] for part in parts))
            self.assertEqual(row["gpu_start_ns"] + row["gpu_dur_ns"],
                             max(part["gpu_start_ns"] + part["gpu_dur_ns"] for part in parts))

    def test_arrivals_of_an_instance_are_its_members(self):
        for index, instance in enumerate(self.run_file.rows("collectives")):
            members = [self.rows[row] for row in self.run_file.members(index)]
            starts = [row["gpu_start_ns"] for row in members]
            self.assertEqual((instance["first_start_ns"], instance["last_start_ns"]), (min(starts), max(starts)))
            self.assertEqual(members[instance["last_arrival"]]["gpu_start_ns"], max(starts))

    def test_devices_and_kernels_are_there(self):
        # A member is on a device that the driver has, whatever its rank.
        self.assertEqual({row["name"][:9] if row["name"] else None for row in self.run_file.rows("job/devices")}, {"Fake GPU "})
        kernels = self.run_file.rows("events/kernels")
        self.assertTrue(all("nccl" in kernel["name"] for kernel in kernels))
        self.assertTrue(all(kernel["api"] is not None for kernel in kernels))
        self.assertEqual([row for row in self.run_file.findings_about_tasks() if row["severity"] != "info"], [])
        for row in self.run_file.rows("job/processes"):
            self.assertIn(row["gpu_mode"], ("alone", "shared"), str(row))

    def test_spread_shows_gpu_times_and_bus_bandwidth(self):
        spread = json.loads(tools.study("spread", "run.h5", "--format", "json").out)["rows"]
        factors = {"AllReduce": lambda n: 2 * (n - 1) / n, "AllGather": lambda n: (n - 1) / n,
                   "ReduceScatter": lambda n: (n - 1) / n, "AllToAll": lambda n: (n - 1) / n, "Broadcast": lambda n: 1}
        seen = set()
        for row in spread:
            self.assertEqual((row["time"], row["source"]), ("gpu", "cupti"), str(row))
            if row["algbw_gb_per_s"] is None:
                continue
            seen.add(row["op"])
            self.assertAlmostEqual(row["busbw_gb_per_s"], row["algbw_gb_per_s"] * factors[row["op"]](row["ranks"]))
        self.assertEqual(seen, set(factors))

    def test_the_summary_checks_calls_against_kernels(self):
        rows = {(row["section"], row["item"]): row["value"]
                for row in json.loads(tools.study("summary", "run.h5", "--format", "json").out)["rows"]}
        self.assertEqual(rows["calls", "without kernel"], 0)
        self.assertEqual(rows["calls", "with kernel, external"], rows["calls", "with kernel"])
        self.assertEqual(rows["gpus", "without time"], 0)


class Replayed(GpuCase):
    """Captured into a CUDA graph in the first iteration and launched in all."""

    options = ("--api", "5", "--ops", "allreduce,allgather", "--sizes", "1K,64K", "--graph", "3")

    def test_each_replay_is_a_call_with_the_times_of_its_kernel(self):
        n_replays = 0
        for rank in self.truths:
            pairs = []
            for kernels, rows in self.collectives(rank):
                capture = [row for row in rows if row["replay"] is None]
                self.assertEqual([(row["graph"], row["timing"]) for row in capture], [(1, "enqueue")], str(rows))
                replays = sorted((row for row in rows if row["replay"] is not None), key=lambda row: row["replay"])
                self.assertEqual([row["replay"] for row in replays], list(range(len(kernels))), f"{kernels}\n{rows}")
                self.assertEqual({row["path"] for row in replays}, {"graph"})
                pairs += zip(sorted(kernels, key=lambda kernel: kernel["kernel_begin_raw_ns"]), replays)
            self.assert_times_agree(rank, pairs)
            n_replays += len(pairs)
        self.assertGreater(n_replays, 0)

    def test_replays_are_matched_over_the_ranks(self):
        replays = [instance for instance in self.run_file.rows("collectives") if instance["replay"] is not None]
        self.assertGreater(len(replays), 0)
        self.assertEqual({(instance["n_seen"], instance["n_ranks"]) for instance in replays}, {(N_RANKS, N_RANKS)})
        self.assertTrue(all(instance["last_start_ns"] is not None for instance in replays))


if __name__ == "__main__":
    unittest.main()
