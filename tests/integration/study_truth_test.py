#!/usr/bin/env python3
"""What the studies say of who was late, against the puppets' own stamps: a job of four ranks on two nodes, once with a rank
whose host is late, once with a link that holds transfers up, once with the late rank and a node whose clock is 10 ms ahead,
and once with nobody at fault. Each step has one AllReduce, so that what a study says of a step is what it says of an
instance. All times are compared within what the run file says of the nodes' clocks.
"""

import json
import os
import shutil
import statistics
import unittest
from pathlib import Path

import observed_nodes as nodes
import run_tools as tools
import skewed_nodes
from run_file import RunFile  # before numpy: it skips where h5py is missing
from skewed_nodes import Skew
from truth_log import read_log

from arrival_split import wait_and_blame
import numpy as np

FAKE_CUDA = Path(os.environ.get("JAXPROF_LIB", tools.BIN.parent / "lib")) / "fake_cuda"
tools.require("cupti", (FAKE_CUDA / "libcuda.so.1").exists(), f"there is no {FAKE_CUDA}/libcuda.so.1")
tools.require("mpi", shutil.which("mpirun"), "there is no MPI")

N_RANKS, N_STEPS = 4, 12
WORK_MS, LATE_MS, HELD_MS, HELD_EVERY = 80, 60, 100, 4
LATE_RANK = 2
# What two conversions between clocks may add to what the nodes' clocks leave open.
CONVERSION_NS = 1000
N_TRIES = 5  # for a job in which, by the puppets' own stamps, only that went wrong which was to go wrong
QUIET_TRANSFER_NS, QUIET_WAIT_NS, QUIET_SHARE = 25_000_000, 40_000_000, 0.08


class Job:
    """A job that was run, merged and studied, and what its ranks logged: `starts_ns`, `ends_ns` [step, rank] of the
    transfers, on the machine's own clock."""

    def __init__(self, folder, skews, words):
        Path(folder).mkdir()
        self.run_path = f"{folder}/run.h5"
        puppet = (tools.NCCL_PUPPET, "--ops", "allreduce", "--sizes", "64K", "--iterations", N_STEPS, "--work", WORK_MS,
                  "--log", f"{folder}/log.%r", *words)
        # Ranks outnumber the processors, and one that waits should leave its own to one that works.
        cuda = {"LD_LIBRARY_PATH": FAKE_CUDA, "OMPI_MCA_mpi_yield_when_idle": "1"}
        self.ended = tools.srun(tools.EXEC, "-o", f"{folder}/prof/rank%r", "--step-marker", "step@puppet", "--", *puppet,
                                env=skewed_nodes.environment(skews, **cuda) if skews else tools.environment(**cuda))
        assert self.ended.status == 0, self.ended
        self.merged = tools.merge(f"{folder}/prof", output=self.run_path)
        assert self.merged.status == 0, self.merged
        self.starts_ns, self.ends_ns = (np.zeros((N_STEPS, N_RANKS), dtype=np.int64) for _ in range(2))
        self.host_of_rank = {}
        for rank in range(N_RANKS):
            lines = read_log(f"{folder}/log.{rank}")
            self.host_of_rank[rank] = host = lines[0]["host"]
            offsets = nodes.on_node(host, "cat", "/proc/self/timens_offsets").out
            skew = skewed_nodes.in_namespace(skews.get(host, Skew(0, 0)), offsets)
            for line in lines:
                if line["what"] == "transfer":
                    self.starts_ns[line["n_call"], rank] = skew.true_raw_ns(line["kernel_begin_raw_ns"])
                    self.ends_ns[line["n_call"], rank] = skew.true_raw_ns(line["kernel_end_raw_ns"])
        with RunFile(self.run_path) as run:
            instances = sorted(run.rows("collectives"), key=lambda row: row["seq"])
            self.clocks = run.rows("clock/nodes")
        assert len(instances) == N_STEPS, f"{len(instances)} instances"
        self.bounds_ns = [row["clock_bound_ns"] for row in instances]

    def study(self, name, *options):
        ended = tools.study(name, self.run_path, "--format", "json", *options)
        assert ended.status in (tools.DONE, 1), ended
        return json.loads(ended.out)

    def step_impact(self, step):
        """Of each rank: its share of the step's GPU time that others waited for it."""
        blame = wait_and_blame(self.starts_ns[step])[1]
        begin = self.ends_ns[step - 1].max()
        return blame / (N_RANKS * (self.ends_ns[step].max() - begin))


class TruthCase(tools.FolderCase):
    skews = {}
    words = ()
    culprit = None  # the rank that is late on purpose
    held = ()       # the steps whose transfers are held up on purpose

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.job = cls.make_job()
        cls.whole = cls.job.study("stragglers")
        cls.by_step = {row["step"]: row for row in cls.job.study("stragglers", "--by", "step", "--all-steps")["rows"]}

    @classmethod
    def make_job(cls):
        """The first of a few jobs that is quiet, or the last: verdicts cannot be foretold of one that is not."""
        for number in range(N_TRIES):
            job = Job(f"job{number}", cls.skews, cls.words)
            job.is_quiet = cls.is_quiet(job)
            if job.is_quiet:
                break
        return job

    @classmethod
    def is_quiet(cls, job):
        transfer_ns = job.ends_ns.max(axis=1) - job.starts_ns.max(axis=1)
        excess_ns = transfer_ns - np.median(transfer_ns)
        if np.delete(excess_ns, cls.held).max() > QUIET_TRANSFER_NS or np.any(excess_ns[list(cls.held)] < HELD_MS * 0.8e6):
            return False
        blame_ns = np.array([wait_and_blame(starts_ns)[1] for starts_ns in job.starts_ns[1:]])
        if cls.culprit is None:
            return blame_ns.sum(axis=1).max() < QUIET_WAIT_NS
        return np.delete(blame_ns, cls.culprit, axis=1).sum() < QUIET_SHARE * blame_ns.sum()

    def require_quiet(self):
        if not self.job.is_quiet:
            self.skipTest(f"in {N_TRIES} jobs others were late or held up, by their own logs: the machine is too busy")


class SameAsLogged:
    """Of each step and member: what the studies say is what the puppet's stamps say."""

    def tolerance_ns(self, step):
        return CONVERSION_NS + self.job.bounds_ns[step]

    def test_the_clocks_are_known(self):
        self.assertEqual({row["method"] for row in self.job.clocks}, {"reference", "udp_kernel_stamps"}, self.job.clocks)
        # A bound wider than what is to be found would make all that follows true.
        self.assertLess(max(self.job.bounds_ns), LATE_MS * 1e6 / 4)

    def test_lateness_of_every_member_is_the_one_logged(self):
        for step in range(N_STEPS):
            rows = {row["rank"]: row for row in self.job.study("lateness", "--steps", step)["rows"]}
            starts_ns = self.job.starts_ns[step]
            for rank in range(N_RANKS):
                expected = starts_ns[rank] - starts_ns.min()
                self.assertEqual(rows[rank]["instances"], 1)
                self.assertAlmostEqual(rows[rank]["late_p50_ns"], expected, delta=self.tolerance_ns(step),
                                       msg=f"step {step}, rank {rank}")

    def test_times_of_every_member_are_those_logged(self):
        for step in range(N_STEPS):
            rows = {row["rank"]: row for row in self.job.study("spread", "--by", "rank", "--steps", step)["rows"]}
            starts_ns, ends_ns = self.job.starts_ns[step], self.job.ends_ns[step]
            for rank in range(N_RANKS):
                row, what = rows[rank], f"step {step}, rank {rank}"
                self.assertEqual(row["n"], 1, what)
                # Truth went through two roundings where clocks have rates, CUPTI's double through none.
                self.assertAlmostEqual(row["p50_ns"], ends_ns[rank] - starts_ns[rank], delta=4, msg=what)
                self.assertAlmostEqual(row["wait_p50_ns"], starts_ns.max() - starts_ns[rank],
                                       delta=self.tolerance_ns(step), msg=what)
                self.assertAlmostEqual(row["net_p50_ns"], max(0, ends_ns[rank] - starts_ns.max()),
                                       delta=self.tolerance_ns(step), msg=what)

    def test_waits_and_blame_are_those_logged(self):
        n_resolved = 0
        for step in range(N_STEPS):
            table = self.job.study("stragglers", "--steps", step)
            wait_ns, blame_ns = wait_and_blame(self.job.starts_ns[step])
            if table["parameters"]["instances"] == 0:  # the clocks cannot tell who came last, and nobody is blamed
                self.assertLess(wait_ns.max(), 2 * self.tolerance_ns(step))
                continue
            n_resolved += 1
            rows = {row["rank"]: row for row in table["rows"]}
            for rank in range(N_RANKS):
                what = f"step {step}, rank {rank}"
                self.assertAlmostEqual(rows[rank]["wait_ns"], wait_ns[rank], delta=self.tolerance_ns(step), msg=what)
                # One rank may carry the waiting of all others.
                self.assertAlmostEqual(rows[rank]["blame_ns"], blame_ns[rank],
                                       delta=(N_RANKS - 1) * self.tolerance_ns(step), msg=what)
            self.assertEqual(sum(row["blame_ns"] for row in rows.values()), sum(row["wait_ns"] for row in rows.values()))
        self.assertGreaterEqual(n_resolved, self.least_resolved)


class LateRank:
    """Rank 2 sleeps on its host before each call."""

    words = ("--late", f"{LATE_RANK}:{LATE_MS}")
    culprit = LATE_RANK
    least_resolved = N_STEPS

    def test_the_late_rank_is_named_with_its_node_and_cause(self):
        self.require_quiet()
        host = self.job.host_of_rank[LATE_RANK]
        self.assertTrue(self.whole["verdict"].startswith(f"rank {LATE_RANK} (node {host}"), self.whole["verdict"])
        self.assertIn("holds the job back", self.whole["verdict"])
        parameters, worst = self.whole["parameters"], self.whole["rows"][0]
        self.assertEqual((parameters["verdict_level"], parameters["verdict_cause"]), ("rank", "host"), self.whole)
        self.assertEqual((worst["rank"], worst["node"], worst["level"], worst["cause"]),
                         (LATE_RANK, host, "rank", "host"), worst)
        self.assertGreater(worst["share"], 0.9)

    def test_it_is_named_in_every_step(self):
        self.require_quiet()
        steps = range(1, N_STEPS)  # in the first a rank's own time has no begin
        found = {step: (self.by_step[step]["rank"], self.by_step[step]["level"], self.by_step[step]["cause"])
                 for step in steps}
        self.assertEqual(found, {step: (LATE_RANK, "rank", "host") for step in steps})

    def test_the_impact_is_the_one_logged(self):
        steps = range(1, N_STEPS)
        expected = statistics.fmean(self.job.step_impact(step)[LATE_RANK] for step in steps)
        self.assertGreater(expected, 0.2)
        self.assertAlmostEqual(self.whole["parameters"]["verdict_impact"], expected, delta=0.1 * expected)


class Late(LateRank, SameAsLogged, TruthCase):
    pass


class LateOnOffsetClocks(LateRank, SameAsLogged, TruthCase):
    """The clock of the other node is ahead by a quarter of what the rank is late by: nothing may change but within the
    clocks' bound."""

    skews = {"n1": Skew(0, 0), "n2": Skew(10_000_000, 0)}

    def test_the_clocks_are_apart(self):
        # Without the alignment the lateness of the second node would be off by the offset.
        self.assertGreater(abs(self.skews["n2"].offset_ns - self.skews["n1"].offset_ns),
                           3 * max(self.job.bounds_ns))


class HeldUp(SameAsLogged, TruthCase):
    """The link of rank 1 holds every fourth transfer; nobody comes late."""

    words = ("--slow", f"1:{HELD_MS}:{HELD_EVERY}")
    held = tuple(range(HELD_EVERY - 1, N_STEPS, HELD_EVERY))
    least_resolved = 0

    def test_the_network_is_named_for_these_steps_alone(self):
        self.require_quiet()
        self.assertTrue(self.whole["verdict"].startswith("the network held back"), self.whole["verdict"])
        self.assertIn("steps " + ", ".join(map(str, self.held)), self.whole["verdict"])
        parameters = self.whole["parameters"]
        self.assertEqual((parameters["verdict_level"], parameters["verdict_cause"]), ("network", "network"), self.whole)
        by_network = [step for step, row in self.by_step.items() if row["level"] == "network"]
        self.assertEqual(by_network, list(self.held))

    def test_what_it_cost_is_what_was_logged(self):
        transfer_ns = self.job.ends_ns.max(axis=1) - self.job.starts_ns.max(axis=1)
        usual_ns = np.median(transfer_ns)
        self.require_quiet()
        for step in self.held:
            expected = N_RANKS * (transfer_ns[step] - usual_ns)
            self.assertGreater(expected, N_RANKS * HELD_MS * 0.8e6)
            self.assertAlmostEqual(self.by_step[step]["transfer_excess_ns"], expected,
                                   delta=2 * N_RANKS * self.tolerance_ns(step))


class Clean(SameAsLogged, TruthCase):
    """All ranks do the same."""

    least_resolved = 0
    SOUND = 0.015  # under what the study takes for worth a word

    @classmethod
    def is_quiet(cls, job):
        return np.mean([job.step_impact(step) for step in range(1, N_STEPS)], axis=0).max() < cls.SOUND

    def test_no_rank_is_named(self):
        # Real transfers among more ranks than processors take 5 to 50 ms, by the logs, which a network's do not.
        self.require_quiet()
        self.assertRegex(self.whole["verdict"], "^(no straggler|unresolved|lateness moves|the network held back)")
        self.assertIn(self.whole["parameters"]["verdict_level"], (None, "network"))
        self.assertLessEqual({row["level"] for row in self.whole["rows"]}, {None, "network"}, self.whole)


if __name__ == "__main__":
    unittest.main()
