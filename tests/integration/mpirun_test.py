#!/usr/bin/env python3
"""Without Slurm: jaxprof-exec behind mpirun, one a rank, and before mpirun, one for all ranks, which then decide for
themselves. Either way the run file holds what the puppet's log says.
"""

import unittest
from collections import Counter
from pathlib import Path

import run_tools as tools
from run_file import RunFile
from truth_log import TruthLog

PUPPET = (tools.NCCL_PUPPET, "--ops", "allreduce,sendrecv", "--sizes", "1K", "--iterations", "3", "--log", "log.%r")


class Mpirun(tools.OwnFolderCase):
    def assert_holds(self, ranks, n_tasks):
        self.assert_status(tools.merge("prof"), tools.DONE)
        with RunFile("run.h5") as run:
            self.assertEqual(run.ranks(), ranks)
            self.assertEqual([task["state"] for task in run.rows("job/tasks")], ["profiled"] * n_tasks)
            self.assertEqual(run.file.attrs["world_size"], 4)
            hashes = [comm["hash"] for comm in run.rows("comms")]
            for rank, rows in zip(ranks, run.rows_by_process("events/nccl")):
                expected = Counter((call["comm"], call["function"], call["bytes"])
                                   for call in TruthLog(f"log.{rank}").calls)
                self.assertEqual(Counter((hashes[row["comm"]], row["coll"], row["bytes"]) for row in rows), expected)
            self.assertEqual([(row["n_ranks"], row["n_seen"]) for row in run.rows("collectives")],
                             [(4, len(ranks))] * 3)
        self.assertEqual(len(list(Path("prof").glob("*.jxspool"))), len(ranks))

    def test_one_wrapper_a_rank(self):
        job = tools.mpirun(tools.EXEC, "-o", "prof/rank%r", "--", *PUPPET)
        self.assert_status(job, 0)
        self.assertEqual(len(job.lines_of_jaxprof()), 2, str(job))
        self.assert_holds([0, 1, 2, 3], n_tasks=4)

    def test_one_wrapper_a_rank_with_a_selection(self):
        job = tools.mpirun(tools.EXEC, "-o", "prof/rank%r", "--ranks", "0,2", "--", *PUPPET)
        self.assert_status(job, 0)
        self.assert_holds([0, 2], n_tasks=2)

    def test_one_wrapper_before_mpirun(self):
        job = tools.run(tools.EXEC, "-o", "prof/rank%r", "--ranks", "1-2", "--", "mpirun", "--allow-run-as-root",
                        "--oversubscribe", "-n", "4", *PUPPET)
        self.assert_status(job, 0)
        self.assert_holds([1, 2], n_tasks=1)
        self.assertEqual({path.name for path in Path("prof").glob("*.jxspool")}, {"rank1.jxspool", "rank2.jxspool"})

    def test_quiet_is_silent(self):
        plain = tools.mpirun(*PUPPET)
        job = tools.mpirun(tools.EXEC, "--quiet", "-o", "prof/rank%r", "--", *PUPPET)
        self.assertEqual((job.status, job.out, job.err), (plain.status, plain.out, plain.err))


if __name__ == "__main__":
    unittest.main()
