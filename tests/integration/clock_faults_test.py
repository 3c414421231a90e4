#!/usr/bin/env python3
"""What may go wrong with clocks in mid-run, against the truth: observers that are killed at any instant, and a raw clock
that jumps. The run file is right about every event all the same, or says that it is not. JAXPROF_FULL=1, as tests/run.sh --full sets it, takes a minute
each.
"""

import os
import signal
import time
import unittest
from dataclasses import replace
from pathlib import Path

import network_nodes
import run_tools as tools
from skewed_job import IS_LONG, MOST_WRONG_NS, SECOND, SkewedJobCase


def observer_of(node):
    """The process of the node's observer; None where there is none."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"--boot-id={node.boot_id}".encode() in words and f"--run-state={os.getcwd()}".encode() in b"\0".join(words):
            return int(folder.name)
    return None


class Kills(SkewedJobCase):
    """Observers that are killed at random instants, and the ones that take over."""

    SECONDS = 60 if IS_LONG else 14
    N_KILLS = 8

    @classmethod
    def disturb(cls):
        cls.n_killed = {node.name: 0 for node in cls.nodes}
        end_s = time.monotonic() + cls.SECONDS - 2
        while sum(cls.n_killed.values()) < cls.N_KILLS and time.monotonic() < end_s:
            time.sleep(cls.random.uniform(0, 2 * (cls.SECONDS - 4) / cls.N_KILLS))
            node = cls.random.choice(cls.nodes)
            pid = observer_of(node)
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                cls.n_killed[node.name] += 1

    def test_nothing_is_wrong_or_beyond_its_bound(self):
        print(self.n_killed, self.summary(), sep="\n")
        self.assertGreater(sum(self.n_killed.values()), 1)
        self.assert_all_recorded()
        clocks = self.run_file.rows("clock/nodes")
        unknown = {node.name for node, row in zip(self.nodes, clocks) if row["method"] == "wall_clock_unknown"}
        told = self.run_file.diagnostics("clock.unknown")
        self.assertEqual({self.nodes[row["node"]].name for row in told}, unknown)
        for node, row in zip(self.nodes, clocks):
            self.assertEqual(row["bound_ns"] is None, node.name in unknown)
        known = [mark for mark in self.all_marks() if mark.host not in unknown]
        self.assert_bounds_hold(known)
        # Where no observer was, a clock is known by what was before and behind.
        self.assert_right(known, 5 * MOST_WRONG_NS)

    def test_observers_that_were_killed_have_successors_or_are_missed(self):
        observers = self.run_file.rows("job/observers")
        for number, node in enumerate(self.nodes):
            own = [row for row in observers if row["node"] == number]
            killed = [row for row in own if row["is_complete"] == 0]
            self.assertLessEqual(len(killed), self.n_killed[node.name])
            self.assertLessEqual(len(own), self.n_killed[node.name] + 1)


class Jump(SkewedJobCase):
    """One node's raw clock jumps in mid-run, as no clock should: that is found and told, and stays there."""

    SECONDS = 60 if IS_LONG else 22
    JUMP_NS = 400_000
    JUMPING = "n4"

    @classmethod
    def prepare(cls):
        skew = cls.skews[cls.JUMPING]
        cls.jump_at_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) + 10 * SECOND
        cls.skews[cls.JUMPING] = replace(skew, jump_ns=cls.JUMP_NS, jump_at_ns=cls.jump_at_ns + skew.namespace_ns)

    def test_the_other_nodes_are_as_right_as_ever(self):
        print(self.summary())
        self.assert_all_recorded()
        others = [mark for mark in self.all_marks() if mark.host != self.JUMPING]
        self.assert_right(others, MOST_WRONG_NS)
        self.assert_bounds_hold(others)

    def test_it_is_told(self):
        steps = self.run_file.rows("clock/steps")
        number = [node.name for node in self.nodes].index(self.JUMPING)
        self.assertEqual([(row["node"], row["kind"]) for row in steps], [(number, "raw_jump")])
        self.assertAlmostEqual(steps[0]["size_ns"], self.JUMP_NS, delta=MOST_WRONG_NS)
        self.assertLess(abs(steps[0]["time_ns"] - self.truth.axis_ns(self.jump_at_ns)), 15 * SECOND)
        self.assertEqual([row["node"] for row in self.run_file.diagnostics("clock.jump")], [number])
        study = tools.study("clock", "run.h5")
        self.assertIn(f"{self.JUMPING} at", study.out)
        self.assertIn("its raw clock jumped by", study.out)

    def test_the_bound_holds_on_the_node_itself(self):
        own = self.truth.marks[self.JUMPING]
        self.assert_bounds_hold(own)
        # Far from it, where bursts are on both sides, times are right again.
        far = [mark for mark in own if max(-mark.stated.lo, mark.stated.hi) < abs(self.JUMP_NS) / 4]
        self.assertGreater(len(far), len(own) / 4)
        self.assert_right(far, MOST_WRONG_NS)


if __name__ == "__main__":
    network_nodes.require()
    unittest.main()
