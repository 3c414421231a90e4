#!/usr/bin/env python3
"""The job comes first, and jobs do not meet: exit codes and signals pass through srun as without jaxprof, a rank that
crashes and takes the step along costs nothing that was recorded, and runs that share a directory stay apart.
"""

import os
import unittest
from collections import Counter
from pathlib import Path

import run_tools as tools
from run_file import RunFile
from truth_log import TruthLog

ONE_TASK = ("-N1", "-n1")


def run_ids(directory):
    return sorted(path.name.removeprefix(".run-") for path in Path(directory).glob(".run-*"))


class ExitStatus(tools.OwnFolderCase):
    def test_passes_through_as_without_us(self):
        for command in ("echo out; exit 0", "echo out; exit 3", "exit 255", "kill -TERM $$", "kill -SEGV $$",
                        "kill -KILL $$"):
            with self.subTest(command):
                plain = tools.srun("sh", "-c", command, options=ONE_TASK)
                ours = tools.srun(tools.EXEC, "-o", "prof/%J", "--", "sh", "-c", command, options=ONE_TASK)
                self.assertEqual((ours.status, ours.out), (plain.status, plain.out), f"{plain}\n{ours}")

    def test_of_a_command_that_cannot_run(self):
        Path("data").write_text("no program")
        for command, status in (("./nowhere", 127), ("./data", 126)):
            job = tools.srun(tools.EXEC, "-o", "prof/%J", "--", command, options=ONE_TASK)
            self.assert_status(job, status)

    def test_is_that_of_a_command_without_a_writable_directory(self):
        job = tools.srun(tools.EXEC, "-o", "/proc/none/rank", "--", "sh", "-c", "exit 7", options=ONE_TASK)
        self.assert_status(job, 7)


class Crash(tools.OwnFolderCase):
    """Rank 2 crashes after almost two seconds, and Slurm kills the rest of the step hard, wrappers included."""

    def test_loses_nothing_once_the_others_are_collected(self):
        job = tools.srun(tools.EXEC, "-o", "prof/rank%r", "--", tools.NCCL_PUPPET, "--ops", "allreduce", "--sizes", "1K",
                         "--iterations", "1000", "--late", "0:50", "--crash-after", "35:2", "--log", "log.%r")
        self.assert_status(job, 128 + 11)
        self.assert_status(tools.merge("prof"), tools.PARTIAL)
        self.assert_status(tools.merge("prof", "--allow-partial", "-f"), tools.DONE)
        collected = tools.srun(tools.BIN / "jaxprof", "collect", "prof", options=("-N2", "--ntasks-per-node=1"))
        self.assert_status(collected, tools.DONE)
        self.assert_status(tools.merge("prof", "-f"), tools.DONE)
        truths = [TruthLog(f"log.{rank}") for rank in range(4)]
        with RunFile("run.h5") as run:
            self.assertEqual(run.ranks(), [0, 1, 2, 3])
            self.assertEqual([row["is_complete"] for row in run.rows("job/processes")], [1] * 4)
            tasks = {task["rank"]: task for task in run.rows("job/tasks")}
            for rank, rows in enumerate(run.rows_by_process("events/nccl")):
                self.assert_calls_are_there(rows, truths[rank])
        self.assertEqual((tasks[2]["state"], tasks[2]["signal"]), ("profiled", 11))
        self.assertEqual({tasks[rank]["exit_code"] for rank in (0, 1, 3)}, {None})

    def assert_calls_are_there(self, rows, truth):
        """All that the puppet wrote down, and perhaps one more that it was about to."""
        calls = sorted(truth.calls, key=lambda call: call["n_call"])
        self.assertGreater(len(calls), 10)
        self.assertGreaterEqual(len(rows), len(calls))
        self.assertEqual([(row["seq"], row["bytes"]) for row in rows[:len(calls)]],
                         [(call["sequence"], call["bytes"]) for call in calls[:len(rows)]])


class SharedDirectory(tools.OwnFolderCase):
    """Same directory, same names."""

    def assert_holds(self, run_id, log_prefix):
        """The run file of `run_id` has exactly the calls of the puppets that wrote LOG_PREFIX.RANK."""
        output = f"{run_id}.h5"
        self.assert_status(tools.merge("prof", "--run", run_id, output=output), tools.DONE)
        with RunFile(output) as run:
            self.assertEqual(run.file.attrs["run_id"], run_id)
            self.assertEqual(run.ranks(), [0, 1, 2, 3])
            hashes = [comm["hash"] for comm in run.rows("comms")]
            for rank, rows in enumerate(run.rows_by_process("events/nccl")):
                expected = Counter((call["comm"], call["function"], call["bytes"])
                                   for call in TruthLog(f"{log_prefix}.{rank}").calls)
                self.assertEqual(Counter((hashes[row["comm"]], row["coll"], row["bytes"]) for row in rows), expected)
            self.assertEqual({row["n_seen"] for row in run.rows("collectives")}, {4})

    def assert_merge_asks(self, runs):
        merged = tools.merge("prof")
        self.assert_status(merged, tools.USAGE)
        self.assertIn("--run", merged.err)
        for run in runs:
            self.assertIn(run, merged.err)
        self.assertFalse(Path("run.h5").exists())
        unknown = tools.merge("prof", "--run", "no.such.run")
        self.assert_status(unknown, tools.USAGE)
        self.assertIn("no.such.run", unknown.err)

    def test_two_jobs_at_once(self):
        jobs = [tools.start("srun", "--mpi=pmix", "-N2", "--ntasks-per-node=2", tools.EXEC, "-o", "prof/rank%r", "--",
                            tools.NCCL_PUPPET, "--ops", operations, "--log", f"{name}.%r")
                for name, operations in (("first", "allreduce"), ("second", "broadcast,sendrecv"))]
        for job in jobs:
            self.assert_status(tools.finish(job), 0)
        ids = run_ids("prof")
        self.assertEqual(len(ids), 2)
        self.assertEqual(len(list(Path("prof").glob("*.jxspool"))), 8)
        self.assert_merge_asks(ids)
        by_log = {"AllReduce": "first", "Broadcast": "second"}
        for run_id in ids:
            tools.merge("prof", "--run", run_id, output="look.h5")
            with RunFile("look.h5") as run:
                name = by_log[run.rows("collectives")[0]["coll"]]
            os.unlink("look.h5")
            self.assert_holds(run_id, name)

    def test_second_step_of_a_job(self):
        step = f"srun --mpi=pmix {tools.EXEC} -o prof/rank%r -- {tools.NCCL_PUPPET} --ops allreduce,sendrecv"
        Path("job.sh").write_text(f"#!/bin/sh\nset -e\n{step} --iterations 3 --log first.%r\n"
                                  f"{step} --iterations 5 --log second.%r\n")
        job = tools.run("sbatch", "--wait", "-N2", "--ntasks-per-node=2", "-o", "job.out", "job.sh")
        self.assert_status(job, 0)
        ids = run_ids("prof")
        self.assertEqual([run_id.split(".")[1:] for run_id in ids], [["0", "0"], ["1", "0"]])
        self.assert_merge_asks(ids)
        self.assert_holds(ids[0], "first")
        self.assert_holds(ids[1], "second")


if __name__ == "__main__":
    unittest.main()
