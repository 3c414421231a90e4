"""Stragglers of known place and cause: what the merge made of them, and what the studies say, against the truth.

The first half is about the runs themselves: arrivals, waits and blame in the run file are those of the job as far as its
clocks can tell, and the records show the cause as a real job's would. It shares no code with the studies, so that a run
that shows nothing is not taken for a study that finds nothing.
"""

import multiprocessing
import os
import shutil
import unittest

import straggler_scenarios
from run_tools import FolderCase
from arrival_split import COMPUTE, COPY, HOST, OTHER, ArrivalSplit, port_gains, sm_clocks  # before numpy
from straggler_scenarios import INCOMPLETE, N_NODES, N_RANKS, N_STEPS, SCENARIOS, WITH_COUNTERS

import numpy as np

N_SEEDS = int(os.environ.get("JAXPROF_STRAGGLER_SEEDS", "2"))
# What ranks differ by for no reason, of a step.
NOISE_SHARE = 0.01
ROUNDING_NS = 100
SHARE = 0.8  # of the excess, for a cause to be named


def look_at(job):
    """Makes a run and takes it apart; what is wrong with it, as text."""
    name, seed = job
    run = straggler_scenarios.make(name, seed)
    try:
        return [f"{name} {seed}: {fault}" for fault in Look(run).faults()]
    finally:
        shutil.rmtree(run.directory)
        run.run_file.unlink()


class Look:
    def __init__(self, run):
        self.run = run
        self.split = ArrivalSplit(run.run_file, N_RANKS, N_STEPS)
        self.truth = run.training

    def faults(self):
        yield from self.waits()
        yield from self.causes()
        yield from self.transfers()
        if self.run.name in WITH_COUNTERS:
            yield from self.ports()
            yield from self.clocks()

    def waits(self):
        split = self.split
        if self.run.name in INCOMPLETE:
            if split.n_instances:
                yield f"{split.n_instances} instances are complete"
            return
        wait = np.array([step["wait_ns"] for step in self.truth["steps"]])
        blame = np.array([step["blame_ns"] for step in self.truth["steps"]])
        # A wait is between two arrivals, and a share of blame is at most the waiting of all others.
        bound = split.bound_ns + ROUNDING_NS * split.n_instances / N_STEPS
        if (np.abs(split.wait_ns - wait) > bound[:, None]).any():
            yield f"waits are off by {np.abs(split.wait_ns - wait).max():.0f} ns, and clocks by {bound.max():.0f}"
        if (np.abs(split.blame_ns - blame) > (N_RANKS - 1) * bound[:, None]).any():
            yield f"blame is off by {np.abs(split.blame_ns - blame).max():.0f} ns"
        if abs(split.wait_ns.sum() - split.blame_ns.sum()) > 1:
            yield "blame is not as much as waiting"
        if abs(wait.sum() - blame.sum()) > 1:
            yield "the truth's blame is not as much as its waiting"

    def incomplete_steps(self):
        """Before its first call a rank has no begin of a segment; what a lost call did is in the next one's segment."""
        return (0, N_STEPS // 2, N_STEPS // 2 + 1) if self.run.name == "lost-call" else (0,)

    def causes(self):
        """In each step the rank that was slowed has the excess, and what slowed it has the most of it."""
        noise_ns = NOISE_SHARE * self.truth["step_ns"]
        causes = {cause: self.split.excess_ns(cause) for cause in (HOST, COMPUTE, COPY, OTHER)}
        total = sum(causes.values())
        n_judged = n_right = 0
        for number, step in enumerate(self.truth["steps"]):
            expected = np.array(step["excess_ns"], dtype=float)
            judged = [rank for rank in range(N_RANKS) if not np.isnan(total[number, rank])]
            if len(judged) < N_RANKS - 1 or number in self.incomplete_steps():
                continue  # a median of few says nothing
            n_judged += 1
            is_right = all(abs(total[number, rank] - expected[rank]) < noise_ns + 0.02 * expected[rank] for rank in judged)
            for cause in step["injected"]:
                kind = {"host": HOST, "compute": COMPUTE, "copy": COPY, "none": OTHER}.get(cause["cause"])
                slow = [rank for rank in cause["ranks"] if rank in judged]
                is_large = expected[slow] > 2 * noise_ns
                shares = causes[kind][number, slow] / total[number, slow] if slow and is_large.all() else np.array([])
                is_right = is_right and bool((shares > SHARE).all())
            n_right += is_right
        if n_right < 0.8 * n_judged:  # now and then a host has a stall of its own
            yield f"the excess is where it was made in {n_right} of {n_judged} steps"

    def transfers(self):
        """Where the network is slow in some steps, transfers between nodes take longer in those and in no others."""
        slow = [bool(step["transfer_excess_ns"]) for step in self.truth["steps"]]
        if not any(slow) or all(slow):
            return
        of_a_unit = self.split.transfer_ns().values()
        sound = [np.median(ns[~np.array(slow)]) for ns in of_a_unit]
        for number in range(N_STEPS):
            is_slow = np.mean([ns[number] > 1.25 * usual for ns, usual in zip(of_a_unit, sound)]) > 0.5
            if is_slow != slow[number]:
                yield f"transfers of step {number} are {'' if is_slow else 'not '}slow"

    def ports(self):
        """Bytes are those of the collectives, less over a slow port, and errors are on that port alone."""
        gains = port_gains(self.run.run_file)
        slow = {(cause["node"], cause["port"]) for step in self.truth["steps"] for cause in step["injected"] if "port" in cause}
        moved = {port: counters["port_xmit_data"] for port, counters in gains.items()}
        usual = np.median(list(moved.values()))
        for port, words in moved.items():
            if (words < 0.8 * usual) != (port in slow):
                yield f"port {port} moved {words / usual:.2f} of what others did"
            if bool(gains[port]["out_of_sequence"]) != (port in slow):
                yield f"port {port} has {gains[port]['out_of_sequence']} packets out of sequence"
        by_node = [sum(words for (node, _), words in moved.items() if node == n) for n in range(N_NODES)]
        n = N_RANKS
        of_units = sum(unit["bytes"] for unit in self.truth["units"]) * 2 * (n - 1) / n * N_STEPS / 4
        if np.abs(np.array(by_node) / of_units - 1).max() > 0.001:
            yield f"nodes sent {np.array(by_node) / of_units} of what their calls say"

    def clocks(self):
        slow = {rank for step in self.truth["steps"] for cause in step["injected"] if cause["cause"] == "compute"
                for rank in cause["ranks"]}
        for rank, (mhz, reasons) in sm_clocks(self.run.run_file).items():
            if (mhz.min() < 1700) != (rank in slow) or bool((reasons & 0x8).any()) != (rank in slow):
                yield f"the GPU of rank {rank} ran at {mhz.min()} MHz, for reasons {set(reasons.tolist())}"


def in_parallel(function, jobs):
    """Results of several processes at once, as many as there are processors."""
    with multiprocessing.Pool(os.cpu_count()) as pool:
        return pool.map(function, jobs, chunksize=1)


class RunTest(FolderCase):
    def test_the_runs_hold_what_was_injected(self):
        jobs = [(name, seed) for name in SCENARIOS for seed in range(1, N_SEEDS + 1)]
        faults = [fault for found in in_parallel(look_at, jobs) for fault in found]
        self.assertEqual(faults, [])


if __name__ == "__main__":
    unittest.main()
