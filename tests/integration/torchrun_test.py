#!/usr/bin/env python3
"""Real PyTorch under the real torchrun: srun starts one jaxprof-exec a node, that one torchrun, and that one two ranks.
The wrapper knows a node's number, the ranks know their own: names, ranks, nodes and steps of the profile must be what
the ranks say of themselves, and no process may be taken for another.
"""

import re
import unittest
from pathlib import Path

import run_tools as tools
from real_programs import EXAMPLES, python_with_torch
from run_file import RunFile

PYTHON = python_with_torch()
N_STEPS = 5
# Debian's torch 1.13 with Python 3.11 cannot start ranks without --redirects and --tee: its default for both, 0, is a
# flag without bits, over which enumerations do not iterate any more.
TORCHRUN = (PYTHON, "-B", "-m", "torch.distributed.run", "--redirects", "1", "--tee", "1", "--log_dir", "logs",
            "--nnodes", "2", "--nproc_per_node", "2", "--rdzv_backend", "c10d", "--rdzv_endpoint", "n1:29500",
            EXAMPLES / "train_torch.py", "--steps", N_STEPS)
LOOP = re.compile(r"loop ([0-9.]+) s, (\d+) steps, rank (\d+) of (\d+), local rank (\d+), on (\S+), process (\d+)")


class Torchrun(tools.FolderCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.job = tools.run("srun", "-N2", "--ntasks-per-node=1", tools.EXEC, "-o", "prof/rank%r", "--", *TORCHRUN,
                            limit_s=200)
        cls.merged = tools.merge("prof")
        assert cls.job.status == 0 and cls.merged.status == 0, f"{cls.job}\n{cls.merged}"
        # what each rank says about itself
        cls.truth, cls.seconds = {}, {}
        for seconds, _, rank, size, local_rank, host, pid in LOOP.findall(cls.job.out):
            cls.truth[int(rank)] = {"size": int(size), "local_rank": int(local_rank), "host": host, "pid": int(pid)}
            cls.seconds[int(rank)] = float(seconds)
        cls.run_file = RunFile("run.h5")
        cls.hosts = [node["host"] for node in cls.run_file.rows("job/nodes")]
        cls.processes = cls.run_file.rows("job/processes")

    @classmethod
    def tearDownClass(cls):
        cls.run_file.close()
        super().tearDownClass()

    def test_it_was_a_job_of_four_ranks_on_two_nodes(self):
        self.assertEqual(sorted(self.truth), [0, 1, 2, 3], str(self.job))
        self.assertEqual({(rank["host"], rank["local_rank"]) for rank in self.truth.values()},
                         {("n1", 0), ("n1", 1), ("n2", 0), ("n2", 1)})
        self.assertEqual(self.job.out.count("]:step "), N_STEPS, str(self.job))

    def test_each_rank_has_its_own_name(self):
        self.assertEqual({path.name for path in Path("prof").glob("*.jxspool*")}, {f"rank{rank}.jxspool" for rank in range(4)})
        self.assertEqual({process["rank"]: process["spool"] for process in self.processes},
                         {rank: f"rank{rank}.jxspool" for rank in range(4)})

    def test_processes_are_who_they_say_they_are(self):
        found = {process["rank"]: {"size": process["world_size"], "local_rank": process["local_rank"],
                                   "host": self.hosts[process["node"]], "pid": process["pid"]} for process in self.processes}
        self.assertEqual(found, self.truth)
        self.assertEqual({process["rank_source"] for process in self.processes}, {"RANK"})

    def test_torchrun_itself_is_a_task_and_no_rank(self):
        tasks = self.run_file.rows("job/tasks")
        self.assertEqual([(task["state"], task["exit_code"]) for task in tasks], [("profiled", 0)] * 2)
        self.assertEqual(sorted(task["host"] for task in tasks), ["n1", "n2"])
        workers = {(rank["host"], rank["pid"]) for rank in self.truth.values()}
        self.assertEqual({(task["host"], task["pid"]) for task in tasks} & workers, set())
        for process in self.processes:  # each rank belongs to its node's torchrun
            self.assertEqual(tasks[process["task"]]["host"], self.hosts[process["node"]])

    def test_steps_are_numbered_on_every_rank(self):
        for process, steps in zip(self.processes, self.run_file.steps_by_process()):
            seconds = self.seconds[process["rank"]]
            self.assertEqual([(row["step"], row["source"]) for row in steps],
                             [(number, "payload") for number in range(N_STEPS)], str(process))
            covered = sum(row["dur_ns"] for row in steps) / 1e9
            # the loop takes a twentieth of a second: by what share it is covered, train_test.py says
            self.assertTrue(0 < covered <= 1.001 * seconds, f"{covered} s in steps, {seconds} s in the loop: {process}")

    def test_nothing_was_lost(self):
        self.assertEqual(self.run_file.file.attrs["n_dropped"], 0)
        self.assertEqual([row for row in self.run_file.findings_about_tasks() if row["severity"] != "info"], [])
        self.assertEqual(len(self.job.lines_of_jaxprof()), 2, str(self.job))


if __name__ == "__main__":
    unittest.main()
