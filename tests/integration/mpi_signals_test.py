#!/usr/bin/env python3
"""Signals to mpirun (Open MPI) and mpiexec.hydra (MPICH) reach the ranks as if jaxprof-exec were not there."""

import shutil
import signal
import time
import unittest

import run_tools as tools
from signal_case import SignalCase, thrice

MPIRUN = ("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2")
HYDRA = ("mpiexec.hydra", "-n", "2")


def send(number):
    return lambda job: job.send(number)


class OpenMpi(SignalCase):
    def test_asked_to_end(self):
        """SIGCONT, SIGTERM a second later, SIGKILL another second later."""
        self.assert_same_signals(MPIRUN, send(signal.SIGTERM), times={"SIGTERM": 1})

    def test_passes_signals_on(self):
        def act(job):
            thrice(send(signal.SIGUSR1))(job)
            job.send(signal.SIGUSR2)
        self.assert_same_signals(MPIRUN, act, "--end-on", "SIGUSR2", times={"SIGUSR1": 3, "SIGUSR2": 1})

    def test_of_a_group_of_its_own(self):
        def act(job):
            thrice(send(signal.SIGUSR1))(job)
            job.send(signal.SIGTERM)
        self.assert_same_signals(MPIRUN, act, "--own-group", "--end-on", "SIGTERM",
                                 times={"SIGUSR1": 3, "SIGTERM": 1})

    def test_rank_that_fails(self):
        plain, wrapped = self.run_both(MPIRUN, lambda job: job.leave(), "--leave", "1:5")
        self.assertEqual(wrapped["0"].count("SIGTERM"), plain["0"].count("SIGTERM"), (plain, wrapped))


class OpenMpiWithTimeout(SignalCase):
    WITHIN = ("timeout", "200")
    N_RANKS = 1

    def test_asked_to_end(self):
        plain, wrapped = self.run_both((*MPIRUN[:-1], "1"), send(signal.SIGTERM), "--end-on", "SIGTERM")
        self.assertIn("SIGTERM", plain["0"])
        self.assertIn("SIGTERM", wrapped["0"])


class Hydra(SignalCase):
    IS_STATUS_LUCK = True  # 0 or 15 after SIGTERM: whether it hears of the ranks' end before it ends itself

    def test_asked_to_end(self):
        self.assert_same_signals(HYDRA, send(signal.SIGTERM), "--end-on", "SIGTERM", times={"SIGTERM": 1})

    def test_passes_signals_on(self):
        def act(job):
            thrice(send(signal.SIGUSR1))(job)
            time.sleep(0.3)
            job.send(signal.SIGTERM)
        self.assert_same_signals(HYDRA, act, "--end-on", "SIGTERM", times={"SIGUSR1": 3})


if __name__ == "__main__":
    tools.require("mpi", shutil.which("mpirun"), "there is no mpirun")
    tools.require("hydra", shutil.which("mpiexec.hydra"), "there is no mpiexec.hydra (Debian package mpich)")
    unittest.main()
