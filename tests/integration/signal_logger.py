#!/usr/bin/env python3
"""A job's process that writes down every signal it gets, and ends as told: the witness of the signal tests.

    signal_logger.py FOLDER [--own-group] [--end-on SIGNAL] [--leave RANK:CODE]

FOLDER/RANK gets a line "ready PID JOB" and then one "NAME REALTIME" a signal, FOLDER/RANK.child the same of a child
that does nothing but that. With --end-on it dies of SIGNAL, half a second after it got it, so that a second delivery
would still be seen. With --leave the rank exits with CODE once FOLDER/leave exists. Without either it waits to be
killed; after some minutes both exit with 99. With --own-group it first makes a process group, as GNU timeout and
interactive shells do, unless its launcher has made it one already.
"""

import argparse
import os
import pathlib
import signal
import time

LIVES_S = 240
LINGERS_S = 0.5
RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
WATCHED = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}


class Log:
    def __init__(self, path):
        self.fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write(self, *words):
        os.write(self.fd, (" ".join(map(str, words)) + "\n").encode())

    def wait(self, seconds):
        """The number of the next signal, which is logged, or None."""
        got = signal.sigtimedwait(WATCHED, seconds)
        if got is not None:
            self.write(signal.Signals(got.si_signo).name, time.time())
        return got and got.si_signo


def rank():
    return next(os.environ[name] for name in RANK_VARIABLES if name in os.environ)


def be_child(path, deadline):
    log = Log(path)
    log.write("ready", os.getpid(), "-")
    while time.monotonic() < deadline:
        log.wait(0.5)
    os._exit(99)


def end(child, log, died_of):
    """Dies of what it got. Slurm's plain process tracking loses orphans: none is left."""
    deadline = time.monotonic() + LINGERS_S
    while (left := deadline - time.monotonic()) > 0:
        log.wait(left)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    signal.signal(died_of, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {died_of})
    os.kill(os.getpid(), died_of)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--own-group", action="store_true")
    parser.add_argument("--end-on", type=lambda name: signal.Signals[name])
    parser.add_argument("--leave", type=lambda text: text.split(":"), default=("", "0"))
    arguments = parser.parse_args()
    deadline = time.monotonic() + LIVES_S
    if arguments.own_group:
        os.setpgrp()
    signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
    child = os.fork()
    path = arguments.folder / rank()
    if child == 0:
        be_child(f"{path}.child", deadline)
    log = Log(path)
    log.write("ready", os.getpid(), os.environ.get("SLURM_JOB_ID", "-"))
    while time.monotonic() < deadline:
        got = log.wait(0.05)
        if got is not None and got == arguments.end_on:
            end(child, log, got)
        if rank() == arguments.leave[0] and (arguments.folder / "leave").exists():
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os._exit(int(arguments.leave[1]))
    os._exit(99)


main()
