#!/usr/bin/env python3
"""SIGKILL at random instants in steps of four ranks on two nodes: of one rank's process, of one wrapper, of the whole
step, of srun itself, and of a node. Ranks that were not killed complete; what the run directory and the nodes have is
what the README promises, and the merge names who was cut, where and when.
"""

import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import run_tools as tools
import ticks
from run_file import RunFile

N_KILLS = int(os.environ.get("JAXPROF_KILLS", "60")) // 2  # of the step, and of srun
N_KILLS_OF_ONE = N_KILLS // 3  # of one rank's process, and of its wrapper
SIDE_BY_SIDE = 3
N_RANKS = 4
IN_RUN_DIRECTORY_NS = 3_000_000_000
CLUSTER = Path(__file__).parents[2] / "slurm/cluster.sh"
CUT = re.compile(r"rank (\d) on (n\d)\b.* (?:is|was) cut.*\d\d:\d\d:\d\d\.\d{3}")


def on_node(node, *words):
    return tools.run("bash", CLUSTER, "exec", node, *words)


class Step:
    """A step of ticking ranks that has begun on all of them."""

    def __init__(self, folder, count=100_000):
        folder.mkdir()
        self.folder = folder
        self.process = tools.start("srun", "--mpi=none", "-N2", "--ntasks-per-node=2", tools.EXEC, "-o",
                                   folder / "prof/rank%r", "--", tools.BIN / "tick_puppet", count, ticks.PERIOD_US,
                                   folder / "log.%r")
        for rank in range(N_RANKS):
            ticks.wait_for_log(folder / f"log.{rank}", tools.LIMIT_SECONDS)

    def log(self, rank):
        return ticks.TickLog(self.folder / f"log.{rank}")

    def logs(self):
        return [self.log(rank) for rank in range(N_RANKS)]

    def finish(self):
        """Until srun has ended and no rank ticks any more."""
        ended = tools.finish(self.process)
        before = None
        while (now := [len(log.ticks) for log in self.logs()]) != before:
            before = now
            time.sleep(0.5)
        return ended


class StepKills(tools.FolderCase):
    def merged_marks(self, step, statuses):
        """Marks of each rank with a spool, and what the merge said."""
        merged = tools.merge(step.folder / "prof", "-f", output=step.folder / "run.h5")
        self.assertIn(merged.status, statuses, str(merged))
        with RunFile(step.folder / "run.h5") as run:
            marks = ticks.marks_by_rank(run)
        for found in marks.values():
            self.assertEqual(found, list(range(len(found))), "the marks are a beginning")
        return marks, merged

    def assert_whole(self, marks, log):
        # one mark may have been made and not yet written down
        self.assertIn(len(marks) - len(log.ticks), (0, 1))

    def kill_many(self, name, n_kills, kill, check, **step_options):
        def one(folder, life_s):
            step = Step(folder, **step_options)
            time.sleep(life_s)
            kill(step)
            check(step, step.finish())

        ticks.try_lives(self, name, n_kills, SIDE_BY_SIDE, one)

    def check_step(self, step, _):
        """All were killed with their wrappers, but Slurm takes one process after the other, with a SIGTERM before where it
        has the time: a wrapper may outlive its rank for long enough to publish all of it. Then it is not named as cut."""
        logs = step.logs()
        marks, merged = self.merged_marks(step, (tools.PARTIAL, tools.DONE))
        cut = {int(rank) for rank, _ in CUT.findall(merged.out)}
        self.assertLessEqual(cut, set(marks), str(merged))
        self.assertFalse(cut and merged.status == tools.DONE, str(merged))
        self.n_cut += len(cut)
        for rank, log in enumerate(logs):
            self.assertGreaterEqual(len(marks.get(rank, [])), log.due(IN_RUN_DIRECTORY_NS), f"rank {rank}\n{merged}")
            if rank in marks and rank not in cut:
                self.assert_whole(marks[rank], log)
        for node in ("n1", "n2"):
            collected = on_node(node, tools.BIN / "jaxprof", "collect", step.folder / "prof")
            self.assert_status(collected, tools.DONE)
        marks, merged = self.merged_marks(step, (tools.DONE,))
        for rank, log in enumerate(logs):
            self.assert_whole(marks.get(rank, []), log)

    def kill_all_of_steps(self, name, kill):
        self.n_cut = 0
        self.kill_many(name, N_KILLS, kill, self.check_step)
        self.assertGreater(self.n_cut, 0, "no rank was cut in any of them: it was not the wrappers that were killed")

    def test_of_the_step(self):
        self.kill_all_of_steps("step", lambda step: tools.run("scancel", "-s", "KILL", step.log(0).step))

    def test_of_srun(self):
        self.kill_all_of_steps("srun", lambda step: step.process.kill())

    def kill_of_rank_2(self, name, pid_of, check):
        """While the other ranks go on to their end."""
        def kill(step):
            log = step.log(2)
            self.assert_status(on_node(log.host, "kill", "-9", pid_of(log)), 0)

        self.kill_many(name, N_KILLS_OF_ONE, kill, check, count=int(1.3e6 * ticks.LONGEST_LIFE_S / ticks.PERIOD_US))

    def test_of_one_process(self):
        def check(step, ended):
            self.assert_status(ended, 128 + 9)
            marks, _ = self.merged_marks(step, (tools.DONE,))
            for rank, log in enumerate(step.logs()):
                self.assertEqual(log.has_ended, rank != 2)
                self.assert_whole(marks[rank], log)

        self.kill_of_rank_2("process", lambda log: log.pid, check)

    def test_of_one_wrapper(self):
        """Slurm reports the task as killed; its job is not taken along, and `collect` finds all that it recorded."""
        def check(step, ended):
            self.assert_status(ended, 128 + 9)
            logs = step.logs()
            collected = on_node(logs[2].host, tools.BIN / "jaxprof", "collect", step.folder / "prof")
            self.assert_status(collected, tools.DONE)
            marks, _ = self.merged_marks(step, (tools.DONE,))
            for rank, log in enumerate(logs):
                self.assert_whole(marks[rank], log)
                self.assertTrue(log.has_ended or rank == 2)

        self.kill_of_rank_2("wrapper", lambda log: log.wrapper, check)


class NodeLoss(tools.FolderCase):
    """On a cluster of its own, since the node does not come back."""

    def test_leaves_what_was_published(self):
        environment = tools.environment(JAXPROF_CLUSTER_DIR=f"{os.environ['JAXPROF_CLUSTER_DIR']}.loss")
        cluster = ["bash", CLUSTER]
        shared = Path(environment["JAXPROF_CLUSTER_DIR"], "shared")
        self.addCleanup(subprocess.run, [*cluster, "down"], env=environment, stdout=subprocess.DEVNULL)
        self.assert_status(tools.run(*cluster, "up", "2", env=environment), 0)
        folder = Path(tempfile.mkdtemp(dir=shared))
        self.addCleanup(shutil.rmtree, folder)
        job = tools.start(*cluster, "run", "srun", "--mpi=none", "-N2", "--ntasks-per-node=1", "-W", "5", tools.EXEC, "-o",
                          folder / "prof/rank%r", "--", tools.BIN / "tick_puppet", 3000, ticks.PERIOD_US,
                          folder / "log.%r", env=environment)
        for rank in range(2):
            ticks.wait_for_log(folder / f"log.{rank}", tools.LIMIT_SECONDS)
        time.sleep(5)
        self.assert_status(tools.run(*cluster, "kill-node", "n2", env=environment), 0)
        lost = ticks.TickLog(folder / "log.1")
        while not ticks.TickLog(folder / "log.0").has_ended:
            time.sleep(0.2)
        time.sleep(2)
        tools.run(*cluster, "run", "scancel", "--me", "--signal=KILL", env=environment)
        job.kill()
        tools.finish(job)
        output = self.folder / "run.h5"
        merged = tools.merge(folder / "prof", output=output)
        self.assert_status(merged, tools.PARTIAL)
        with RunFile(output) as run:
            marks = ticks.marks_by_rank(run)
        self.assertEqual(len(marks[0]), 3000)
        self.assertGreaterEqual(len(marks[1]), max(lost.due(IN_RUN_DIRECTORY_NS), 1))
        self.assertEqual(CUT.findall(merged.out), [("1", "n2")], str(merged))


if __name__ == "__main__":
    unittest.main()
