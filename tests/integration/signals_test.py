#!/usr/bin/env python3
"""Signals under Slurm reach the job as if jaxprof-exec were not there, however the cluster tracks processes.

Run once a proctrack plugin (linuxproc, pgid, cgroup), on a cluster of that kind: they differ in whom a signal reaches.
$JAXPROF_FULL=1 adds the time limit, which takes more than a minute.
"""

import os
import signal
import time
import unittest

import run_tools as tools
from signal_case import SignalCase, thrice

SRUN = ("srun", "-N2", "--ntasks-per-node=1")


def scancel(*options):
    return lambda job: tools.run("scancel", *options, job.job_id())


def send(number):
    return lambda job: job.send(number)


class Delivered(SignalCase):
    def test_scancel(self):
        self.assert_same_signals(SRUN, scancel(), "--end-on", "SIGTERM", times={"SIGTERM": 1, "SIGCONT": 1})

    def test_scancel_of_a_job_that_goes_on(self):
        """The second half of it is SIGKILL, KillWait seconds later."""
        self.assert_same_signals(SRUN, scancel(), times={"SIGTERM": 1})

    def test_scancel_with_a_signal_three_times(self):
        def act(job):
            thrice(scancel("-s", "USR1"))(job)
            scancel()(job)
        self.assert_same_signals(SRUN, act, "--end-on", "SIGTERM", times={"SIGUSR1": 3, "SIGTERM": 1})

    def test_scancel_with_a_stop_that_can_be_caught(self):
        def act(job):
            scancel("-s", "TSTP")(job)
            time.sleep(0.3)
            scancel()(job)
        self.assert_same_signals(SRUN, act, "--end-on", "SIGTERM", times={"SIGTSTP": 1, "SIGTERM": 1})

    def test_signals_to_srun(self):
        def act(job):
            thrice(send(signal.SIGUSR1))(job)
            job.send(signal.SIGUSR2)
            time.sleep(0.3)
        self.assert_same_signals(SRUN, act, "--end-on", "SIGUSR2", times={"SIGUSR1": 3, "SIGUSR2": 1})

    def test_rank_that_fails_with_kill_on_bad_exit(self):
        plain, wrapped = self.run_both((*SRUN, "-K1"), lambda job: job.leave(), "--leave", "1:5", "--end-on", "SIGTERM")
        self.assertEqual(wrapped, plain)
        self.assertEqual(wrapped["0"].count("SIGTERM"), 1, wrapped)
        self.assertEqual(wrapped["1"], [])


class OwnGroup(SignalCase):
    """A command that makes a process group of its own. Without the wrapper it leads one already and stays in it."""

    def test_scancel(self):
        self.assert_same_signals(SRUN, scancel(), "--own-group", "--end-on", "SIGTERM", times={"SIGTERM": 1, "SIGCONT": 1})

    def test_scancel_with_a_signal_three_times(self):
        def act(job):
            thrice(scancel("-s", "USR1"))(job)
            scancel()(job)
        self.assert_same_signals(SRUN, act, "--own-group", "--end-on", "SIGTERM", times={"SIGUSR1": 3, "SIGTERM": 1})


class UnderTimeout(SignalCase):
    """GNU timeout passes on what it gets, so that its command gets some signals twice, without us as well."""
    WITHIN = ("timeout", "200")

    def test_scancel(self):
        plain, wrapped = self.run_both(SRUN, scancel(), "--end-on", "SIGTERM")
        for rank in map(str, range(self.N_RANKS)):
            self.assertIn("SIGTERM", plain[rank])
            self.assertIn("SIGTERM", wrapped[rank])


class Killed(SignalCase):
    """Slurm ends the step hard: there is little to deliver, and nothing may be left."""

    def test_srun_asked_to_end(self):
        self.assert_at_most_once(SRUN, send(signal.SIGTERM), names=())

    def test_srun_killed(self):
        self.assert_at_most_once(SRUN, send(signal.SIGKILL), names=("SIGCONT", "SIGTERM"))

    def test_srun_interrupted_twice(self):
        """SIGKILL follows SIGINT within milliseconds, mostly sooner than we pass it on."""
        def act(job):
            job.send(signal.SIGINT)
            time.sleep(0.3)
            job.send(signal.SIGINT)
        self.assert_at_most_once(SRUN, act, names=("SIGINT",))

    def test_rank_that_ends_with_a_wait_limit(self):
        self.assert_at_most_once((*SRUN, "-W1"), lambda job: job.leave(), "--leave", "1:0", names=())


@unittest.skipUnless(os.environ.get("JAXPROF_FULL"), "takes more than a minute: JAXPROF_FULL=1")
class TimeLimit(SignalCase):
    def test_sends_what_it_sends_without_us(self):
        """CONT and TERM twice, some milliseconds apart, of which the second may be lost in the first."""
        plain, wrapped = self.run_both((*SRUN, "--time=1"), lambda job: None, "--end-on", "SIGTERM")
        for rank in range(self.N_RANKS):
            got = wrapped[str(rank)].count("SIGTERM")
            self.assertIn(got, (1, 2), wrapped)
            self.assertGreaterEqual(plain[str(rank)].count("SIGTERM"), 1, plain)


if __name__ == "__main__":
    unittest.main()
