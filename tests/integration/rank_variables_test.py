#!/usr/bin/env python3
"""Ranks on one machine without Slurm: by the launchers that are there (mpirun, hydra), by the variables of those that are
not, by variables that a person names, and of processes that have none.
"""

import socket
import unittest
from collections import Counter
from pathlib import Path

import run_tools as tools
from launcher_case import PROGRAM, LauncherCase, Place, write_script
from run_file import RunFile

HOST = socket.gethostname()

# Launcher, variables of all ranks, variables of rank R (a list of two ranks), run id, node numbers, size. As their
# documentation and sources have them; `job` variables differ between runs.
SYSTEMS = [
    ("PALS", {"PALS_APID": "7a-3f", "PBS_JOBID": "12.server", "PMI_SIZE": 2},
     [{"PALS_RANKID": r, "PMI_RANK": r, "PALS_LOCAL_RANKID": r, "PALS_NODEID": 0} for r in (0, 1)],
     "12.server.7a-3f.0", {0: Place(HOST, 0, 0), 1: Place(HOST, 1, 0)}, 2),
    ("jsrun", {"LSB_JOBID": 77, "PMIX_NAMESPACE": 3, "JSM_NAMESPACE_SIZE": 2},
     [{"JSM_NAMESPACE_RANK": r, "JSM_NAMESPACE_LOCAL_RANK": r, "PMIX_RANK": r} for r in (0, 1)],
     "77.3.0", {0: Place(HOST, 0), 1: Place(HOST, 1)}, 2),
    ("Flux", {"FLUX_JOB_ID": "f2x9", "FLUX_JOB_SIZE": 2, "FLUX_JOB_NNODES": 1},
     [{"FLUX_TASK_RANK": r, "FLUX_TASK_LOCAL_ID": r} for r in (0, 1)],
     "f2x9.0.0", {0: Place(HOST, 0, 0), 1: Place(HOST, 1, 0)}, 2),
    ("MVAPICH", {"MPIRUN_ID": 8812, "MV2_COMM_WORLD_SIZE": 2},
     [{"MV2_COMM_WORLD_RANK": r, "MV2_COMM_WORLD_LOCAL_RANK": r, "PMI_ID": r} for r in (0, 1)],
     "local.8812.0", {0: Place(HOST, 0), 1: Place(HOST, 1)}, 2),
    ("RANK and WORLD_SIZE", {"WORLD_SIZE": 2, "MASTER_ADDR": "n1", "MASTER_PORT": 29500},
     [{"RANK": r, "NODE_RANK": r} for r in (0, 1)],
     "local.29500@n1.0", {0: Place(HOST, None, 0), 1: Place(HOST, None, 1)}, 2),
    ("Kubernetes", {"JAXPROF_WORLD_SIZE": 2, "JAXPROF_RUN": "6f0c-41"},
     [{"JOB_COMPLETION_INDEX": r} for r in (0, 1)],
     "local.6f0c-41.0", {0: Place(HOST, 0, 0), 1: Place(HOST, 0, 1)}, 2),
]


def launch(*words, **variables):
    return tools.run(*words, env=tools.environment(**variables))


class ByLauncher(LauncherCase):
    def test_mpirun(self):
        job = tools.mpirun(tools.EXEC, "-o", "prof/rank%r", "--", PROGRAM)
        self.assert_status(job, 0)
        self.assert_two_lines(job.err)
        run_id = self.assert_one_run(r"local\.[0-9]+\.0")
        self.assert_run(run_id, "Open MPI", {rank: Place(HOST, rank) for rank in range(4)})

    def test_hydra_twice_into_one_directory(self):
        for _ in range(2):
            job = tools.run("mpiexec.hydra", "-n", "2", tools.EXEC, "-o", "prof/%S.rank%r", "--", PROGRAM)
            self.assert_status(job, 0)
            self.assert_two_lines(job.err)
        first, second = self.run_ids()
        for run_id in (first, second):
            self.assertRegex(run_id, rf"^local\.[0-9]+@{HOST}\.0$")
            step = run_id.removeprefix("local.").removesuffix(".0")
            self.assert_run(run_id, "hydra", {rank: Place(HOST, rank) for rank in range(2)}, name=step + ".rank%d")


class ByVariables(LauncherCase):
    def test_of_systems_that_are_not_here(self):
        for launcher, common, ranks, run_id, places, size in SYSTEMS:
            with self.subTest(launcher):
                directory = launcher.replace(" ", "_")
                for own in ranks:
                    job = launch(tools.EXEC, "-o", f"{directory}/rank%r", "--", PROGRAM, **common, **own)
                    self.assert_status(job, 0)
                self.assertEqual(self.run_ids(directory), [run_id])
                self.assert_run(run_id, launcher, places, directory=directory, world_size=size)

    def test_of_a_jobset(self):
        for job_index in (0, 1):
            for index in (0, 1):
                job = launch(tools.EXEC, "--quiet", "-o", "prof/rank%r", "--", PROGRAM, JOB_COMPLETION_INDEX=index,
                             JAXPROF_JOB_INDEX=job_index, JAXPROF_PODS_PER_JOB=2, JAXPROF_WORLD_SIZE=4, JAXPROF_RUN="x")
                self.assert_status(job, 0)
        self.assertEqual(self.spools(), [f"rank{rank}.jxspool" for rank in range(4)])
        self.assertEqual({start["rank"]: start["node_index"] for start in self.starts("local.x.0")},
                         {0: 0, 1: 1, 2: 2, 3: 3})

    def test_that_a_person_names_hold_in_each_process(self):
        """The wrapper is rank 4; of the two processes that it starts, one has a rank of its own."""
        write_script("two.sh", f"#!/bin/sh\n{PROGRAM}; MY_RANK=5 MY_LOCAL=1 {PROGRAM}\n")
        job = launch(tools.EXEC, "--rank-from", "MY_RANK,MY_LOCAL,MY_SIZE", "-o", "prof/rank%r", "--", "./two.sh",
                     MY_RANK=4, MY_LOCAL=0, MY_SIZE=6, RANK=0, WORLD_SIZE=2, JAXPROF_RANK=1)
        self.assert_status(job, 0)
        self.assertEqual(self.spools(), ["rank4.jxspool", "rank5.jxspool"])
        self.assertNotEqual(tools.merge("prof", "--allow-partial").status, tools.UNREADABLE)
        with RunFile("run.h5") as run:
            self.assertEqual([(row["rank"], row["local_rank"], row["world_size"], row["rank_source"])
                              for row in run.rows("job/processes")], [(4, 0, 6, "MY_RANK"), (5, 1, 6, "MY_RANK")])

    def test_that_a_program_drops_have_told_its_rank(self):
        """Three ranks of an mpirun in a step of one task: without mpirun's variables each would be that task, rank 0."""
        write_script("drop.sh", f"#!/bin/sh\nunset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE\nexec {PROGRAM}\n")
        for rank in range(3):
            job = launch(tools.EXEC, "--quiet", "-o", "prof/rank%r", "--", "./drop.sh", SLURM_STEP_ID=0, SLURM_PROCID=0,
                         SLURM_STEP_NUM_TASKS=1, OMPI_COMM_WORLD_RANK=rank, OMPI_COMM_WORLD_SIZE=3)
            self.assert_status(job, 0)
        self.assertEqual(self.spools(), [f"rank{rank}.jxspool" for rank in range(3)])

    def test_that_an_mpi_program_sets_itself_are_no_rank(self):
        """MPI_Init of a program that mpirun has not started makes it rank 0 of its own world, in its environment too."""
        program = (tools.BIN / "members_puppet", 1, 1, "threads", "log")
        for directory, variables in (("pod", {"JOB_COMPLETION_INDEX": 3}), ("alone", {})):
            job = launch(tools.EXEC, "-o", f"{directory}/rank%r", "--", *program, **variables)
            self.assert_status(job, 0)
        self.assertEqual(self.spools("pod"), ["rank3.jxspool"])
        self.assertEqual(len(self.spools("alone")), 1)
        self.assertRegex(self.spools("alone")[0], rf"^rank{HOST}\.[0-9]+\.jxspool$")

    def test_that_are_named_wrongly_are_refused(self):
        for words, why in ((("--rank-from", "3"), "'3' is no name of a variable"),
                           (("--rank-from", "A,B,C,D"), "4 names, at most 3"),
                           (("--rank-from", "MY_RANK", "-o", "prof.%q{MY_RANK}/x"), "must be the same on all")):
            job = launch(tools.EXEC, *words, "--", "touch", "ran", MY_RANK=0)
            self.assert_status(job, tools.REFUSED)
            self.assertEqual(len(job.err.splitlines()), 1, str(job))
            self.assertRegex(job.err, "^jaxprof: --")
            self.assertIn(why, job.err)
        self.assertFalse(Path("ran").exists())


class Unknown(LauncherCase):
    def test_is_no_matter_where_a_person_started_one_process(self):
        job = launch(tools.EXEC, "-o", "prof/rank%r", "--", PROGRAM)
        self.assert_status(job, 0)
        self.assert_two_lines(job.err)
        self.assert_named_after_host_and_pid()

    def assert_named_after_host_and_pid(self):
        names = self.spools()
        self.assertEqual(len(names), 1, names)
        self.assertRegex(names[0], rf"^rank{HOST}\.[0-9]+\.jxspool$")
        self.assert_status(tools.merge("prof"), tools.DONE)
        with RunFile("run.h5") as run:
            self.assertEqual(run.ranks(), [None])

    def test_is_explained_in_a_job_of_pbs(self):
        job = launch(tools.EXEC, "-o", "prof/rank%r", "--", PROGRAM, PBS_JOBID="12.server")
        self.assert_status(job, 0)
        self.assertEqual(len(job.lines_of_jaxprof()), 3, str(job))
        self.assertIn("the rank is not known: PBS job 12.server has started the process, and no launcher that numbers "
                      "ranks; start ranks by srun or mpirun, or name the variable that numbers them by --rank-from",
                      job.err)
        self.assert_one_run(rf"12\.server\.{HOST}-[0-9]+-[0-9]+\.0")
        self.assert_named_after_host_and_pid()

    def test_is_explained_by_numbers_that_do_not_fit(self):
        job = launch(tools.EXEC, "-o", "prof/rank%r", "--", PROGRAM, RANK=2, WORLD_SIZE=2)
        self.assert_status(job, 0)
        self.assertIn("the rank is not known: RANK=2 is no number below WORLD_SIZE=2; ", job.err)
        self.assert_named_after_host_and_pid()


class Workers(LauncherCase):
    """Four processes at once in one task."""

    def start_workers(self, script, *options, is_foreseen=True):
        write_script("four.sh", f"#!/bin/sh\nfor worker in 0 1 2 3; do\n{script} {PROGRAM} &\ndone\nwait\n")
        job = launch(tools.EXEC, "-o", "prof/rank%r", *options, "--", "./four.sh", SLURM_JOB_ID=5, SLURM_STEP_ID=0,
                     SLURM_PROCID=0, SLURM_LOCALID=0, SLURM_NODEID=0, SLURM_STEP_NUM_TASKS=1, SLURM_TASK_PID=1)
        self.assert_status(job, 0)
        if is_foreseen:
            self.assert_two_lines(job.err)
        else:
            self.assert_told_of_ranks(job)
        self.assertEqual(self.run_ids(), ["5.0.0"])
        self.assert_status(tools.merge("prof"), tools.DONE)
        with RunFile("run.h5") as run:
            self.assertEqual([task["state"] for task in run.rows("job/tasks")], ["profiled"])
            return run.rows("job/processes")

    def assert_told_of_ranks(self, job):
        first, told, last = job.lines_of_jaxprof()
        self.assertIn("1 of 1 ranks traced", first)
        self.assertRegex(told, r"four\.sh has started ranks of its own \(rank \d of 4 behind rank 0 of 1\), .*--inner-ranks")
        self.assertRegex(last, r"\b2 ranks written")

    def test_without_ranks_of_their_own_share_the_tasks(self):
        processes = self.start_workers("")
        self.assertEqual(Counter((row["rank"], row["local_rank"]) for row in processes), {(0, 0): 4})
        self.assertEqual(len({row["pid"] for row in processes}), 4)
        suffixed = {f"rank0.{HOST}.{row['pid']}.jxspool" for row in processes}
        self.assertEqual(len(suffixed & set(self.spools())), 3)
        self.assertEqual(set(self.spools()) - suffixed, {"rank0.jxspool"})

    def test_of_a_torchrun_have_their_own(self):
        processes = self.start_workers("TORCHELASTIC_RUN_ID=none RANK=$worker WORLD_SIZE=4 LOCAL_RANK=$worker "
                                       "GROUP_RANK=0 GROUP_WORLD_SIZE=1 MASTER_ADDR=n1 MASTER_PORT=29500",
                                       "--inner-ranks")
        self.assertEqual(sorted((row["rank"], row["local_rank"], row["world_size"]) for row in processes),
                         [(rank, rank, 4) for rank in range(4)])
        self.assertEqual(self.spools(), [f"rank{rank}.jxspool" for rank in range(4)])

    def test_of_a_torchrun_in_a_script_are_selected_by_their_own_ranks(self):
        processes = self.start_workers("TORCHELASTIC_RUN_ID=none RANK=$worker WORLD_SIZE=4 LOCAL_RANK=$worker "
                                       "GROUP_RANK=0 GROUP_WORLD_SIZE=1 MASTER_ADDR=n1 MASTER_PORT=29500",
                                       "--ranks", "0,2", is_foreseen=False)
        self.assertEqual(sorted((row["rank"], row["world_size"]) for row in processes), [(0, 4), (2, 4)])
        self.assertEqual(self.spools(), ["rank0.jxspool", "rank2.jxspool"])

    def test_with_plain_variables_have_their_own_if_the_command_is_said_to_start_ranks(self):
        processes = self.start_workers("RANK=$worker WORLD_SIZE=4 LOCAL_RANK=$worker", "--inner-ranks")
        self.assertEqual(sorted((row["rank"], row["local_rank"], row["world_size"]) for row in processes),
                         [(rank, rank, 4) for rank in range(4)])


if __name__ == "__main__":
    unittest.main()
