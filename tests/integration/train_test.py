#!/usr/bin/env python3
"""Real JAX training under every launcher at hand: srun, mpirun, a batch script's mpirun and hydra, --multi-prog, a job
array of which one task is requeued. The example says of each process what rank it is (as JAX sees it), where it runs and
how long its loop took; names, ranks, nodes and steps of the profile must say the same.
"""

import os
import re
import time
import unittest
from pathlib import Path

import run_tools as tools
from real_programs import EXAMPLES, python_with_jax
from run_file import RunFile

TRAIN = (python_with_jax(), "-B", EXAMPLES / "train.py", "--platform", "cpu")
PROFILED = (tools.EXEC, "-o", "prof/rank%r", "--", *TRAIN)
# Training of four processes takes seven seconds here, most of it for starting JAX; more on a busy machine.
BATCH_LIMIT_SECONDS = 200
LOOP = re.compile(r"loop ([0-9.]+) s, (\d+) steps, rank (\d+) of (\d+), on (\S+), process (\d+)")


def loops(out):
    """What each process says about itself at its end, by (host, pid): (seconds, steps, rank, size)."""
    return {(host, int(pid)): (float(seconds), int(n_steps), int(rank), int(size))
            for seconds, n_steps, rank, size, host, pid in LOOP.findall(out)}


def losses(out):
    return [line for line in out.splitlines() if line.startswith("step ")]


def words(command):
    return " ".join(map(str, command))


class Train(tools.OwnFolderCase):
    four_rank_losses = []  # of each launcher that started four ranks

    def setUp(self):
        super().setUp()
        self.covered_shares = []  # of each rank, the part of its loop that its steps cover

    def assert_learned(self, out, n_steps):
        """Four ranks learn the same under every launcher."""
        self.four_rank_losses.append(losses(out))
        self.assertEqual(len(self.four_rank_losses[-1]), n_steps, out)
        self.assertEqual(self.four_rank_losses[-1][:3], self.four_rank_losses[0][:3])

    def batch(self, script, *options):
        """The output of a batch job that runs `script` in this folder; waited for by the file that it leaves."""
        Path("job.sh").write_text(f"#!/bin/sh\n{script}\ntouch done\n")
        self.assert_status(tools.run("sbatch", *options, "-o", "job.out", "job.sh"), 0)
        self.wait_until(Path("done").exists)
        return Path("job.out").read_text()

    def wait_until(self, is_so):
        limit = time.monotonic() + BATCH_LIMIT_SECONDS
        while not is_so():
            self.assertLess(time.monotonic(), limit, "\n".join(path.read_text() for path in Path().glob("*.out")))
            time.sleep(0.1)

    def assert_profile(self, directory, out, n_ranks, names=None, options=()):
        """The profile in `directory` is of the processes that `out` tells of, and of nothing else."""
        truth = loops(out)
        self.assertEqual(sorted(rank for _, _, rank, _ in truth.values()), list(range(n_ranks)), out)
        self.assertEqual({path.name for path in Path(directory).glob("*.jxspool*")},
                         names or {f"rank{rank}.jxspool" for rank in range(n_ranks)})
        self.assert_status(tools.merge(directory, "-f", *options), tools.DONE)
        with RunFile("run.h5") as run:
            self.assertEqual(run.file.attrs["n_dropped"], 0)
            self.assertEqual([task["state"] for task in run.rows("job/tasks")], ["profiled"] * n_ranks)
            hosts = [node["host"] for node in run.rows("job/nodes")]
            self.assertEqual(sorted(hosts), sorted({host for host, _ in truth}))
            processes = run.rows("job/processes")
            found = {(hosts[process["node"]], process["pid"]): process for process in processes}
            self.assertEqual(found.keys(), truth.keys())
            local_ranks = {(process["node"], process["local_rank"]) for process in processes}
            self.assertEqual(len(local_ranks), n_ranks)
            for key, (_, _, rank, size) in truth.items():
                self.assertEqual((found[key]["rank"], found[key]["world_size"]), (rank, size), f"{key}: {found[key]}")
            for process, steps, ranges in zip(processes, run.steps_by_process(), run.rows_by_process("events/nvtx")):
                self.assert_steps(steps, ranges, truth[hosts[process["node"]], process["pid"]])
        return truth

    def assert_steps(self, steps, ranges, truth):
        seconds, n_steps, rank, _ = truth
        self.assertEqual([(row["step"], row["source"]) for row in steps],
                         [(number, "payload") for number in range(n_steps)], f"rank {rank}")
        covered = sum(row["dur_ns"] for row in steps) / 1e9
        # two clocks, of which the agent's is calibrated by stamps around the job
        self.assertTrue(0 < covered <= 1.001 * seconds, f"rank {rank}: {covered} s in steps, {seconds} s in the loop")
        self.covered_shares.append(covered / seconds)
        for name in ("load", "train"):
            self.assertEqual(sum(row["name"] == name for row in ranges), n_steps, f"rank {rank}: {name}")

    def test_srun(self):
        # Between two steps a process does nothing, but on a busy machine it may be put aside there, for longer than the
        # hundredth of the loop that its steps may leave open: hence several attempts.
        for attempt in range(3):
            self.covered_shares = []
            job = tools.srun(tools.EXEC, "-o", f"prof{attempt}/rank%r", "--", *TRAIN, "--steps", "8", "--cuda-profiler", "2-3")
            self.assert_status(job, 0)
            truth = self.assert_profile(f"prof{attempt}", job.out, 4)
            if min(self.covered_shares) >= 0.99:
                break
        self.assertGreaterEqual(min(self.covered_shares), 0.99)
        self.assertEqual({host for host, _ in truth}, {"n1", "n2"})
        self.assert_learned(job.out, 8)
        if not os.path.exists("/dev/nvidia0"):  # the profiler says once that it cannot, and the training went on
            lines = [line for line in job.err.splitlines() if line.startswith("cuda profiler: ")]
            self.assertEqual(len(lines), 1, str(job))

    def test_mpirun(self):
        job = tools.mpirun(*PROFILED, "--steps", "3")
        self.assert_status(job, 0)
        self.assert_profile("prof", job.out, 4)
        self.assert_learned(job.out, 3)

    def test_mpirun_in_a_batch_script(self):
        out = self.batch(f"mpirun --allow-run-as-root --oversubscribe -np 4 {words(PROFILED)} --steps 3",
                         "-N2", "--ntasks-per-node=2")
        truth = self.assert_profile("prof", out, 4)
        self.assertEqual({host for host, _ in truth}, {"n1", "n2"})
        self.assert_learned(out, 3)

    def test_hydra_in_a_batch_script(self):
        tools.require("hydra", tools.run("which", "mpiexec.hydra").status == 0, "there is no mpiexec.hydra")
        out = self.batch(f"mpiexec.hydra -n 2 -ppn 1 {words(PROFILED)} --steps 3 --coordinator $(hostname):29511",
                         "-N2", "--ntasks-per-node=1")
        truth = self.assert_profile("prof", out, 2)
        self.assertEqual({host for host, _ in truth}, {"n1", "n2"})

    def test_multi_prog(self):
        """Two programs in one step, each with its wrapper. The name is not written in the list of programs, of which
        srun takes every % for its own."""
        Path("programs").write_text("".join(f"{task} {tools.EXEC} -- {words(TRAIN)} --steps 3\n" for task in range(2)))
        job = tools.run("srun", "-N2", "-n2", "--multi-prog", "programs",
                        env=tools.environment(JAXPROF_OPTIONS="-o prof/rank%r"))
        self.assert_status(job, 0)
        self.assert_profile("prof", job.out, 2)

    def test_a_job_array_with_a_requeued_task(self):
        """Each task of the array is a job with a rank 0; the second one is requeued after its training and trains again,
        into the same directory. Nothing meets anything."""
        script = f"""#!/bin/sh
srun -n1 {tools.EXEC} -o prof/task%q{{SLURM_ARRAY_TASK_ID}}/rank%r -- {words(TRAIN)} --steps 2
if [ $SLURM_ARRAY_TASK_ID = 1 ] && [ -z "$SLURM_RESTART_COUNT" ]; then
    touch trained.once
    sleep {BATCH_LIMIT_SECONDS}
fi
touch done.$SLURM_ARRAY_TASK_ID
"""
        Path("job.sh").write_text(script)
        submitted = tools.run("sbatch", "--parsable", "--requeue", "--array=0-1", "-n1", "--open-mode=append",
                              "-o", "job.%a.out", "job.sh")
        self.assert_status(submitted, 0)
        job = submitted.out.strip()
        self.wait_until(Path("trained.once").exists)
        self.assert_status(tools.run("scontrol", "requeue", f"{job}_1"), 0)
        # A requeued job waits for two minutes unless told otherwise. Within the second in which its first start was ended
        # the node refuses it ("credential revoked"), and Slurm gives it up.
        self.wait_until(lambda: "JobState=PENDING" in tools.run("scontrol", "show", "job", f"{job}_1").out)
        self.assert_status(tools.run("scontrol", "update", f"JobId={job}_1", "StartTime=now+3"), 0)
        self.wait_until(lambda: Path("done.0").exists() and Path("done.1").exists())

        self.assert_profile("prof/task0", Path("job.0.out").read_text(), 1)
        first, second = (part for part in Path("job.1.out").read_text().split("JOB REQUEUE"))
        (host, pid), = loops(second)
        names = {"rank0.jxspool", f"rank0.{host}.{pid}.jxspool"}
        self.assert_status(tools.merge("prof/task1", output="all.h5"), tools.USAGE)  # two runs: which one?
        runs = sorted(path.name.removeprefix(".run-") for path in Path("prof/task1").glob(".run-*"))
        self.assertEqual([run.rsplit(".", 1)[1] for run in runs], ["0", "1"])
        for run, out in zip(runs, (first, second)):
            self.assert_profile("prof/task1", out, 1, names, ("--run", run))


if __name__ == "__main__":
    unittest.main()
