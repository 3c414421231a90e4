#!/usr/bin/env python3
"""`jaxprof collect` on the nodes of a Slurm job: after a step was killed, from the batch script's end and from an epilog;
while ranks still run; two at once; and 64 ranks that end together on one node, for which there must be nothing to do.
"""

import os
import re
import time
import unittest
from pathlib import Path

import run_tools as tools
import ticks
from run_file import RunFile

TICKS = tools.BIN / "tick_puppet"
JAXPROF = tools.BIN / "jaxprof"
CLUSTER = Path(__file__).parents[2] / "slurm/cluster.sh"
STEP_OPTIONS = "--overlap --mem=0 --gres=none -N$SLURM_JOB_NUM_NODES -n$SLURM_JOB_NUM_NODES"  # as in the README
NODES = ("n1", "n2")


def on_node(node, *words):
    return tools.start("bash", CLUSTER, "exec", node, *words)


def left_on(node):
    """What this user's runs have in the node's /tmp, seen from outside."""
    folder = Path(os.environ["JAXPROF_CLUSTER_DIR"], "nodes", node, "tmp")
    return {path.name for path in folder.glob("jaxprof.*")}


class Collect(tools.OwnFolderCase):
    def left_of_run(self):
        """What the run has on the nodes: (node, name)."""
        beginning = f"jaxprof.{os.getuid()}.{self.run_id()}."
        return {(node, name) for node in NODES for name in left_on(node) if name.startswith(beginning)}

    def left(self):
        """Of each task; the folder that a node's tasks share is taken away by whoever is the last, the observer or
        `collect`."""
        return {(node, name) for node, name in self.left_of_run() if not name.endswith(".node")}

    def assert_nothing_is_left(self):
        self.assertEqual(self.left(), set())
        tools.wait_until(lambda: not self.left_of_run(), "the removal of the nodes' folders")

    def run_id(self):
        return next(Path("prof").glob(".run-*")).name.removeprefix(".run-")

    def collect(self, node, *options):
        return tools.finish(on_node(node, JAXPROF, "collect", Path.cwd() / "prof", *options))

    def start_step(self, count=100_000, options=("-N2", "--ntasks-per-node=2")):
        step = tools.start("srun", "--mpi=none", *options, tools.EXEC, "-o", "prof/rank%r", "--", TICKS, count,
                           ticks.PERIOD_US, "log.%r")
        self.addCleanup(step.kill)
        self.logs = [ticks.wait_for_log(f"log.{rank}", tools.LIMIT_SECONDS) for rank in range(4)]
        return step

    def kill_step(self, step):
        """Wrappers first: one that sees its job die has published it before it is killed itself."""
        time.sleep(2)
        for node, logs in (("n1", self.logs[:2]), ("n2", self.logs[2:])):
            pids = [log.wrapper for log in logs] + [log.pid for log in logs]
            self.assert_status(tools.finish(on_node(node, "kill", "-9", *pids)), 0)
        self.assert_status(tools.finish(step), 128 + 9)

    def assert_all_marks_are_there(self, n_ranks=4):
        self.assert_status(tools.merge("prof", "-f"), tools.DONE)
        with RunFile("run.h5") as run:
            marks = ticks.marks_by_rank(run)
        for rank in range(n_ranks):
            self.assertEqual(marks[rank], list(range(len(marks[rank]))))
            self.assertIn(len(marks[rank]) - len(ticks.TickLog(f"log.{rank}").ticks), (0, 1))

    def test_of_a_step_that_was_killed(self):
        self.kill_step(self.start_step())
        self.assertEqual(len(self.left()), 4, "a folder a task")
        listed = self.collect("n1", "--dry-run")
        self.assert_status(listed, tools.DONE)
        self.assertEqual(len(re.findall(r"^left +rank [01] on n1: 1 spool, .* in /tmp/jaxprof\.", listed.out, re.M)), 2)
        self.assertEqual(len(self.left()), 4)
        for node, ranks in (("n1", "01"), ("n2", "23")):
            ended = self.collect(node)
            self.assert_status(ended, tools.DONE)
            line = rf"^collected  rank [{ranks}] on {node}: 1 spool, [0-9.]+ kB, 1 saved from memory$"
            self.assertEqual(len(re.findall(line, ended.out, re.M)), 2, str(ended))
            self.assertIn(f"2 tasks on {node}: 2 spools", ended.out)
        self.assert_nothing_is_left()
        again = self.collect("n1")
        self.assertEqual((again.status, again.out), (0, "nothing to collect on n1\n"), str(again))
        self.assert_all_marks_are_there()

    def test_several_at_once(self):
        self.kill_step(self.start_step())
        several = [on_node("n1", JAXPROF, "collect", Path.cwd() / "prof") for _ in range(6)]
        for one in several:
            self.assert_status(tools.finish(one), tools.DONE)
        self.assert_status(self.collect("n2"), tools.DONE)
        self.assert_nothing_is_left()
        self.assert_all_marks_are_there()

    def test_leaves_living_tasks_alone(self):
        step = self.start_step(count=2500)
        for _ in range(4):
            ended = self.collect("n1")
            self.assert_status(ended, tools.DONE)
            self.assertEqual(len(re.findall(r"^running    rank [01] on n1", ended.out, re.M)), 2, str(ended))
        self.assert_status(tools.finish(step), 0)
        self.assert_nothing_is_left()
        self.assert_all_marks_are_there()

    def test_at_the_end_of_a_batch_script(self):
        """The line of the README: as a step of the same job, after one whose srun was killed."""
        Path("job.sh").write_text(
            f"#!/bin/sh\nsrun --mpi=none --ntasks-per-node=2 {tools.EXEC} -o prof/rank%r -- {TICKS} 100000 "
            f"{ticks.PERIOD_US} log.%r &\nsleep 3\nkill -9 $!\nsleep 1\nsrun {STEP_OPTIONS} {JAXPROF} collect prof >collected\n")
        job = tools.run("sbatch", "--wait", "-N2", "--ntasks-per-node=2", "--gres=gpu:2", "-o", "job.out", "job.sh")
        self.assert_status(job, 0)
        collected = Path("collected").read_text()
        self.assertRegex(collected, r"(?m)^collected  rank \d on n\d: 1 spool")
        sums = [line for line in collected.splitlines() if not line.startswith("collected")]
        self.assertEqual(len(sums), 2, "one for each node\n" + collected)
        self.assert_nothing_is_left()
        self.assert_all_marks_are_there()

    def test_beside_a_step_that_holds_all_resources(self):
        Path("job.sh").write_text(
            f"#!/bin/sh\nsrun --mpi=none --ntasks-per-node=2 {tools.EXEC} -o prof/rank%r -- {TICKS} 2500 "
            f"{ticks.PERIOD_US} log.%r &\nsleep 2\nsrun {STEP_OPTIONS} {JAXPROF} collect prof >collected\nwait $!\n")
        job = tools.run("sbatch", "--wait", "-N2", "--ntasks-per-node=2", "--gres=gpu:2", "-o", "job.out", "job.sh")
        self.assert_status(job, 0)
        collected = Path("collected").read_text()
        self.assertEqual(len(re.findall(r"^running    rank \d on n\d", collected, re.M)), 4, collected)
        self.assert_all_marks_are_there()

    def test_as_a_task_epilog(self):
        """Runs after each task of the node, also a killed one; the script takes no arguments."""
        epilog = Path.cwd() / "epilog.sh"
        epilog.write_text(f"#!/bin/sh\nexec {JAXPROF} collect --quiet {Path.cwd() / 'prof'}\n")
        epilog.chmod(0o755)
        step = self.start_step(options=("-N2", "--ntasks-per-node=2", f"--task-epilog={epilog}"))
        time.sleep(2)
        tools.run("scancel", "-s", "KILL", self.logs[0].step)
        tools.finish(step)
        end = time.monotonic() + tools.LIMIT_SECONDS
        while self.left():
            self.assertLess(time.monotonic(), end, "the epilogs did not collect it")
            time.sleep(0.1)
        self.assert_all_marks_are_there()

    def test_finds_nothing_after_64_ranks_that_end_at_once(self):
        """They share one node, and end when all have come to the same instant."""
        wait = f"{TICKS} 50 1000 log.%r; touch ready.$SLURM_PROCID; until [ -e go ]; do sleep 0.1; done; exec {TICKS} 50 1000 /dev/null"
        step = tools.start("srun", "--mpi=none", "-N1", "-n64", "--overcommit", "-w", "n1", tools.EXEC, "-o", "prof/rank%r",
                           "--", "sh", "-c", wait)
        self.addCleanup(step.kill)
        end = time.monotonic() + tools.LIMIT_SECONDS
        while len(list(Path().glob("ready.*"))) < 64:
            self.assertLess(time.monotonic(), end, "not all ranks started")
            time.sleep(0.1)
        Path("go").touch()
        ended = tools.finish(step)
        self.assert_status(ended, 0)
        self.assertEqual(len(ended.lines_of_jaxprof()), 2, str(ended))
        self.assertRegex(ended.lines_of_jaxprof()[1], "64 of 64 ranks written, 6 400 events, 0 dropped")
        self.assert_nothing_is_left()
        self.assertEqual(list(Path("prof").glob("*.part")), [])
        self.assertEqual(len(list(Path("prof").glob("*.jxspool"))), 128, "two processes a rank")
        self.assertEqual(self.collect("n1").out, "nothing to collect on n1\n")
        self.assert_status(tools.merge("prof"), tools.DONE)


if __name__ == "__main__":
    unittest.main()
