#!/usr/bin/env python3
"""Ranks on two nodes, under every launcher that Slurm and Debian have: each process's rank, node and local rank, the name
of its file, and which run it belongs to; that nothing collides, also where several runs share a directory.
"""

import unittest
from pathlib import Path

import run_tools as tools
from launcher_case import N_TICKS, PROGRAM, LauncherCase, Place, write_script
from run_file import RunFile

WRAPPER = f"{tools.EXEC} -o prof/rank%r"
MPIRUN = "mpirun --allow-run-as-root --oversubscribe"
# Two nodes of two ranks, as srun and the MPI launchers fill them.
SRUN_PLACES = {0: Place("n1", 0, 0), 1: Place("n1", 1, 0), 2: Place("n2", 0, 1), 3: Place("n2", 1, 1)}
MPI_PLACES = {rank: Place(place.host, place.local_rank) for rank, place in SRUN_PLACES.items()}
# The requeued job may start again two minutes later only, unless somebody says otherwise; not within the second in which
# its credential was revoked.
REQUEUE = """
id=$(sbatch --parsable --array=0-1 -N1 -n2 --requeue --open-mode=append -o job.%a.out job.sh)
until [ -e again ]; do sleep 0.1; done
scontrol requeue "${id}_1"
until squeue -h -o %t -j "${id}_1" | grep -q PD; do sleep 0.1; done
scontrol update "jobid=${id}_1" starttime=now+2
while squeue -h -j "$id" 2>/dev/null | grep -q .; do sleep 0.2; done
"""
REQUEUED_JOB = f"""#!/bin/sh
srun {tools.EXEC} -o "prof/%J.%q{{SLURM_RESTART_COUNT:-0}}.rank%r" -- {PROGRAM}
[ "$SLURM_ARRAY_TASK_ID" = 0 ] || [ -n "$SLURM_RESTART_COUNT" ] || {{ touch again; sleep 60; }}
"""


def start_batch(name, script, *options):
    write_script(name, f"#!/bin/sh\n{script}\n")
    return tools.start("sbatch", "--parsable", "--wait", *options, "-o", f"{name}.out", name)


class Launchers(LauncherCase):
    def batch(self, script, options=("-N2", "--ntasks-per-node=2")):
        """The job id of a batch job, and what it printed."""
        job = tools.finish(start_batch("job.sh", script, *options))
        text = Path("job.sh.out").read_text()
        self.assert_status(job, 0)
        return job.out.strip(), text

    def assert_two_runs(self, text, launcher, step):
        """Two runs of four ranks in one directory, with the names %S.rank%r."""
        self.assert_two_lines(text, n_runs=2)
        runs = self.run_ids()
        self.assertEqual(len(runs), 2, text)
        for run_id in runs:
            self.assertRegex(run_id, rf"^[0-9]+\.{step}\.0$")
            name = run_id.split(".")[1] + ".rank%d"
            self.assert_run(run_id, launcher, MPI_PLACES, name=name)
        self.assertEqual(len(self.spools()), 8)

    def test_srun(self):
        job = tools.srun(tools.EXEC, "-o", "prof/rank%r", "--", PROGRAM)
        self.assert_status(job, 0)
        self.assert_two_lines(job.err)
        self.assert_run(self.assert_one_run(r"[0-9]+\.0\.0"), "Slurm", SRUN_PLACES)

    def test_mpirun_twice_in_a_batch_script_into_one_directory(self):
        command = f"{MPIRUN} -n 4 {tools.EXEC} -o prof/%S.rank%r -- {PROGRAM}"
        _, text = self.batch(f"{command}\n{command}")
        self.assert_two_runs(text, "Open MPI", "[0-9]+")

    def test_hydra_twice_in_a_batch_script_into_one_directory(self):
        command = f"mpiexec.hydra -n 4 -ppn 2 {tools.EXEC} -o prof/%S.rank%r -- {PROGRAM}"
        _, text = self.batch(f"{command}\n{command}")
        self.assert_two_runs(text, "hydra", "[0-9]+@n1")

    def test_two_programs_in_one_step(self):
        """In the file of --multi-prog a percent sign is srun's own, and \\% is ours."""
        wrapper = WRAPPER.replace("%", r"\%")
        Path("programs").write_text(f"0,3 {wrapper} -- {PROGRAM}\n1-2 {wrapper} -- {PROGRAM} {N_TICKS + 2}\n")
        job = tools.srun("--multi-prog", "programs", options=("-N2", "--ntasks-per-node=2"))
        self.assert_status(job, 0)
        self.assert_two_lines(job.err)
        self.assert_run(self.assert_one_run(r"[0-9]+\.0\.0"), "Slurm", SRUN_PLACES,
                        n_ticks=lambda rank: N_TICKS + (2 if rank in (1, 2) else 0))

    def test_heterogeneous_step(self):
        command = (*WRAPPER.split(), "--", PROGRAM)
        job = tools.run("srun", "-n1", "-w", "n1", *command, ":", "-n2", "-w", "n2", *command, str(N_TICKS + 2))
        self.assert_status(job, 0)
        self.assert_run(self.assert_one_run(r"[0-9]+\.0\.0"), "Slurm",
                        {0: Place("n1", 0, 0), 1: Place("n2", 0, 1), 2: Place("n2", 1, 1)},
                        n_ticks=lambda rank: N_TICKS + (2 if rank > 0 else 0))

    def test_heterogeneous_batch_job_with_two_steps(self):
        """A step over both components, and one in the second alone, which counts from 0 again."""
        command = f"{tools.EXEC} -o prof/%S.rank%r -- {PROGRAM}"
        job_id, text = self.batch(f"#SBATCH -N1 -n1 -w n1\n#SBATCH hetjob\n#SBATCH -N1 -n2 -w n2\nsrun {command} : {command}\n"
                                  f"srun --het-group=1 {command}", options=())
        self.assert_two_lines(text, n_runs=2)
        self.assertEqual(self.run_ids(), [f"{job_id}.0.0", f"{job_id}.1.0"])
        self.assert_run(f"{job_id}.0.0", "Slurm",
                        {0: Place("n1", 0, 0), 1: Place("n2", 0, 1), 2: Place("n2", 1, 1)}, name="0.rank%d")
        self.assert_run(f"{job_id}.1.0", "Slurm", {0: Place("n2", 0, 0), 1: Place("n2", 1, 0)}, name="1.rank%d")

    def test_job_array_with_a_requeued_element_into_one_directory(self):
        write_script("job.sh", REQUEUED_JOB)
        job = tools.run("sh", "-c", REQUEUE)
        self.assert_status(job, 0)
        runs = self.run_ids()
        self.assertEqual(len(runs), 3, str(job))
        self.assertEqual(sorted(run_id.split(".")[1:] for run_id in runs), [["0", "0"], ["0", "0"], ["0", "1"]])
        self.assertEqual(len({run_id.split(".")[0] for run_id in runs}), 2, runs)
        for run_id in runs:
            job_id, _, restart = run_id.split(".")
            host = self.starts(run_id)[0]["host"]
            self.assert_run(run_id, "Slurm", {rank: Place(host, rank, 0) for rank in range(2)},
                            name=f"{job_id}.{restart}.rank%d")
            with RunFile(f"{run_id}.h5") as run:
                self.assertEqual({row["restart"] for row in run.rows("job/processes")}, {int(restart)})
        self.assertEqual(len(self.spools()), 6)

    def test_two_jobs_at_once_into_one_directory(self):
        command = f"srun {tools.EXEC} -o prof/%J.rank%r -- {PROGRAM} 2000"
        jobs = [start_batch(f"job{i}.sh", command, "-N2", "--ntasks-per-node=1") for i in range(2)]
        ends = [tools.finish(job) for job in jobs]
        for i, end in enumerate(ends):
            self.assert_status(end, 0)
            self.assert_two_lines(Path(f"job{i}.sh.out").read_text())
        ids = [end.out.strip() for end in ends]
        self.assertEqual(self.run_ids(), sorted(f"{job_id}.0.0" for job_id in ids))
        for job_id in ids:
            self.assert_run(f"{job_id}.0.0", "Slurm", {0: Place("n1", 0, 0), 1: Place("n2", 0, 1)},
                            name=f"{job_id}.rank%d", n_ticks=lambda _: 2000)

    def test_batch_script_without_a_step(self):
        job_id, text = self.batch(f"{WRAPPER} -- {PROGRAM}")
        self.assertEqual([line for line in text.splitlines() if "the rank is not known" in line],
                         [f"jaxprof: the rank is not known: the process was started inside Slurm job {job_id} and not by "
                          "srun (no SLURM_STEP_ID is set); start ranks by srun or mpirun, or name the variable that "
                          "numbers them by --rank-from"])
        self.assertEqual(len([line for line in text.splitlines() if line.startswith("jaxprof")]), 3, text)
        run_id = self.assert_one_run(rf"{job_id}\.n1-[0-9]+-[0-9]+\.0")
        self.assertEqual([start["rank"] for start in self.starts(run_id)], [-1])
        self.assertRegex(" ".join(self.spools()), r"^rankn1\.[0-9]+\.jxspool$")

    def test_batch_script_of_one_task_lacks_nothing(self):
        _, text = self.batch(f"{WRAPPER} -- {PROGRAM}", options=("-N1", "-n1"))
        self.assert_two_lines(text)

    def test_named_variables(self):
        """Ranks in the opposite order; the node number is told by nobody then."""
        job = tools.srun("sh", "-c", 'MY_RANK=$((3 - SLURM_PROCID)) MY_LOCAL=$((1 - SLURM_LOCALID)) MY_SIZE=4 exec "$@"',
                         "sh", tools.EXEC, "--rank-from", "MY_RANK,MY_LOCAL,MY_SIZE", "-o", "prof/rank%r", "--", PROGRAM)
        self.assert_status(job, 0)
        self.assert_two_lines(job.err)
        self.assert_run(self.assert_one_run(r"[0-9]+\.0\.0"), "--rank-from",
                        {3 - rank: Place(place.host, 1 - place.local_rank) for rank, place in SRUN_PLACES.items()})

    def test_named_variables_that_some_ranks_do_not_have(self):
        """The table then decides for these, which is said once and on record for each."""
        job = tools.srun("sh", "-c", '[ $SLURM_PROCID -gt 1 ] || export MY_RANK=$((SLURM_PROCID + 4)); exec "$@"', "sh",
                         tools.EXEC, "--rank-from", "MY_RANK", "-o", "prof/rank%r", "--", PROGRAM)
        self.assert_status(job, 0)
        said = "--rank-from names MY_RANK, which is not set: no rank, a whole number below the size; it is ignored, the " \
               "rank is that of Slurm"
        self.assertEqual(job.err.count(said), 1, str(job))
        self.assertEqual(self.spools(), [f"rank{rank}.jxspool" for rank in (2, 3, 4, 5)])
        notes = {start["rank"]: start["notes"] for start in self.starts(self.assert_one_run(r"[0-9]+\.0\.0"))}
        self.assertEqual(notes, {2: [said], 3: [said], 4: [], 5: []})

    def test_torchrun_in_each_task(self):
        """The wrapper has the node's rank, the workers have theirs."""
        write_script("torchrun", "#!/bin/sh\nfor worker in 0 1; do\n"
                     "TORCHELASTIC_RUN_ID=none RANK=$((2 * SLURM_PROCID + worker)) WORLD_SIZE=4 LOCAL_RANK=$worker "
                     f"GROUP_RANK=$SLURM_PROCID GROUP_WORLD_SIZE=2 MASTER_ADDR=n1 MASTER_PORT=29500 {PROGRAM} &\n"
                     "done\nwait\n")
        job = tools.srun(*WRAPPER.split(), "--", "./torchrun", options=("-N2", "--ntasks-per-node=1"))
        self.assert_status(job, 0)
        self.assert_two_lines(job.err)
        run_id = self.assert_one_run(r"[0-9]+\.0\.0")
        self.assertEqual({start["rank"]: start["host"] for start in self.starts(run_id)}, {0: "n1", 1: "n2"})
        self.assertEqual(self.spools(), [f"rank{rank}.jxspool" for rank in range(4)])
        self.assert_status(tools.merge("prof"), tools.DONE)
        with RunFile("run.h5") as run:
            hosts = [node["host"] for node in run.rows("job/nodes")]
            self.assertEqual([(row["rank"], row["local_rank"], row["world_size"], hosts[row["node"]])
                              for row in run.rows("job/processes")],
                             [(0, 0, 4, "n1"), (1, 1, 4, "n1"), (2, 0, 4, "n2"), (3, 1, 4, "n2")])


if __name__ == "__main__":
    unittest.main()
