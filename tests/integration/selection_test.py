#!/usr/bin/env python3
"""A task with no selected rank must be the command itself: same process, same environment, no file, no rank missing.

Each task first writes down its environment without jaxprof, then becomes jaxprof-exec and through it a shell that does
the same. Both have the same parent environment, so the two must agree byte for byte where a rank is not selected.
"""

import unittest
from pathlib import Path

import run_tools as tools
from run_file import RunFile

# Arguments: jaxprof-exec and its options. `cp` reads the environment that it was itself started with.
TASK = r"""
rank=$SLURM_PROCID
cp /proc/self/environ "plain.$rank"
exec "$@" -o prof/rank%r -- sh -c 'cp "/proc/$$/environ" "$0.'$rank'"; echo "$$ $SLURM_TASK_PID" >"pids.'$rank'"' inside
"""
HOOKS = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "NCCL_PROFILER_PLUGIN", "JAXPROF_SESSION"}


def files_of(directory):
    """Ranks that files below the directory are named after."""
    names = [path.name for path in Path(directory).rglob("*") if path.is_file()]
    return {rank for rank in range(4) for name in names if f"rank{rank}." in name}


class UnselectedTask(tools.FolderCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.job = tools.srun("sh", "-c", TASK, "sh", tools.EXEC, "--ranks", "0,2")

    def test_has_the_pid_that_slurm_started(self):
        self.assert_status(self.job, 0)
        for rank in (1, 3):
            pid, task_pid = Path(f"pids.{rank}").read_text().split()
            self.assertEqual(pid, task_pid, f"rank {rank}")

    def test_has_a_byte_identical_environment(self):
        for rank in (1, 3):
            self.assertEqual(Path(f"inside.{rank}").read_bytes(), Path(f"plain.{rank}").read_bytes(), f"rank {rank}")

    def test_selected_tasks_have_the_hooks_more_and_nothing_less(self):
        for rank in (0, 2):
            plain, inside = (set(Path(f"{when}.{rank}").read_bytes().split(b"\0")) for when in ("plain", "inside"))
            self.assertEqual(plain - inside, set())
            self.assertEqual({entry.partition(b"=")[0].decode() for entry in inside - plain}, HOOKS)
            pid, task_pid = Path(f"pids.{rank}").read_text().split()
            self.assertNotEqual(pid, task_pid, f"rank {rank}")

    def test_leaves_no_file(self):
        self.assertEqual(files_of("prof"), {0, 2})


class Selections(tools.FolderCase):
    """Which ranks are in the run file, and that the others are not missed."""

    def assert_traced(self, ranks, *options):
        name = options[0].strip("-")
        job = tools.srun(tools.EXEC, "-o", f"{name}/rank%r", *options, "--", tools.NCCL_PUPPET, "--ops", "allreduce",
                         "--iterations", "1", "--sizes", "1K")
        self.assert_status(job, 0)
        merged = tools.merge(name, output=f"{name}.h5")
        self.assert_status(merged, tools.DONE)
        self.assertNotIn("missing", merged.out)
        self.assertEqual(files_of(name), set(ranks))
        with RunFile(f"{name}.h5") as run:
            self.assertEqual(run.ranks(), ranks)
            self.assertEqual([(task["rank"], task["state"]) for task in run.rows("job/tasks")],
                             [(rank, "profiled") for rank in ranks])
            self.assertEqual([(row["n_ranks"], row["n_seen"]) for row in run.rows("collectives")], [(4, len(ranks))])

    def test_by_rank(self):
        self.assert_traced([0, 2], "--ranks", "0,2")

    def test_evenly_spread(self):
        self.assert_traced([0, 2], "--sample-ranks", "2")

    def test_by_local_rank_and_node_together(self):
        self.assert_traced([3], "--local-ranks", "1", "--nodes", "1")

    def test_by_condition(self):
        self.assert_traced([1], "--if", "SLURM_LOCALID==1 && SLURM_NODEID%4==0")


if __name__ == "__main__":
    unittest.main()
