"""Windows of a job: ranks that start apart open theirs at the same step; those of the clock open together; and what is
said and written of a window that repeats, never opens, is open at a SIGKILL, or is to end the job.

The truth is window_puppet's own log: what it did, with its realtime stamps.
"""

import json
import os
import signal
import statistics
import sys
import time
import unittest
from pathlib import Path

import run_tools as tools
from run_file import RunFile

PUPPET = str(tools.BIN / "window_puppet")
N_RANKS = 4
OPENINGS = 20


def rank_environment(rank, n_ranks=N_RANKS, run="windows"):
    return tools.environment(JAXPROF_RANK=rank, JAXPROF_WORLD_SIZE=n_ranks, JAXPROF_LOCAL_RANK=rank, JAXPROF_RUN=run)


def start_rank(rank, options, words, n_ranks=N_RANKS, run="windows"):
    return tools.start(tools.EXEC, "-o", "prof/rank%r", *options, "--", PUPPET, f"rank{rank}.log", *words,
                       env=rank_environment(rank, n_ranks, run))


def log_of(rank):
    """(what, name, number, realtime_ns) of each line."""
    lines = [line.split() for line in Path(f"rank{rank}.log").read_text().splitlines()]
    return [(what, name, int(number), int(stamp)) for what, name, number, stamp in lines]


def begin_of_step(rank, wanted):
    return next(stamp for what, name, number, stamp in log_of(rank) if (what, number) == ("begin", wanted))


def end_records():
    return [json.loads(path.read_text()) for path in sorted(Path("prof").glob(".run-*/task.*.end.json"))]


class Windows(tools.OwnFolderCase):
    def run_one(self, options, *words, status=0):
        ended = tools.run(tools.EXEC, "-o", "prof/rank%r", *options, "--", PUPPET, "rank0.log", *words,
                          env=rank_environment(0, 1))
        self.assert_status(ended, status)
        return ended

    def merged(self, status=tools.DONE):
        self.assert_status(tools.merge("prof", "--allow-partial"), status)
        run = RunFile("run.h5")
        self.addCleanup(run.close)
        return run

    def test_steps_open_at_the_same_step_on_ranks_that_start_apart(self):
        words = ("push:epoch", "steps:0:300:5000", "pop")
        ranks = []
        for rank in range(N_RANKS):
            ranks.append(start_rank(rank, ("-c", "steps:200-240"), words))
            time.sleep(2 / (N_RANKS - 1))
        ended = [tools.finish(rank) for rank in ranks]
        for one in ended:
            self.assert_status(one, 0)
        self.assertIn("4 of 4 ranks traced, output prof/, window opens at step 200", ended[0].err)
        self.assertIn("window 200-240 closed on 4 of 4 ranks", "".join(one.err for one in ended))
        run = self.merged()
        for rank, steps in enumerate(run.steps_by_process()):
            self.assertEqual([step["step"] for step in steps], list(range(200, 241)), f"rank {rank}")
        # Nothing beside the window: a range inside each step and none of the epoch around them.
        for rows in run.rows_by_process("events/nvtx"):
            self.assertEqual(len(rows), 2 * 41)
            self.assertTrue(all(row["dur_ns"] is not None for row in rows))
        self.assertGreater(begin_of_step(3, 0) - begin_of_step(0, 0), 1_000_000_000, "they started apart")

    def test_windows_of_the_clock_open_together(self):
        differences_ms = []
        for opening in range(OPENINGS):
            folder = Path(f"opening{opening}")
            folder.mkdir()
            options = ("-o", "prof/rank%r", "--quiet", "-y", "0.4", "-d", "0.05", "-t", "nvtx")
            words = ("push:warm", "pop", "sleep:600", "marks:1:1")
            ranks = [tools.start(tools.EXEC, *options, "--", PUPPET, f"rank{rank}.log", *words,
                                 env=rank_environment(rank, 2, f"clock{opening}"), cwd=folder) for rank in range(2)]
            for rank in ranks:
                self.assert_status(tools.finish(rank), 0)
            self.assert_status(tools.merge(str(folder / "prof"), output=str(folder / "run.h5")), tools.DONE)
            with RunFile(str(folder / "run.h5")) as run:
                opened = [row["open_ns"] for row in run.rows("segments")]
            self.assertEqual(len(opened), 2)
            differences_ms.append(abs(opened[0] - opened[1]) / 1e6)
        print("openings apart, ms:", sorted(round(one, 3) for one in differences_ms), file=sys.stderr)
        self.assertLess(statistics.median(differences_ms), 5)

    def test_repeat_gives_a_segment_each(self):
        ended = self.run_one(("-c", "nvtx", "-p", "hot", "--capture-range-end=repeat:3"),
                             *("push:hot", "marks:2:1000", "pop", "marks:1:1000") * 5)
        self.assertIn("window nvtx:hot closed on 1 of 1 ranks", ended.err)
        run = self.merged()
        self.assertEqual(len(run.rows("segments")), 3)
        kinds = [row["kind"] for row in run.rows("events/nvtx")]
        self.assertEqual((kinds.count("push_pop"), kinds.count("mark")), (3, 6))
        self.assertEqual([process["segments"] for end in end_records() for process in end["processes"]], [3])

    def test_a_window_that_never_opens_leaves_a_marked_file(self):
        ended = self.run_one(("-c", "steps:100-200"), "steps:0:5:100")
        self.assertIn("window 100-200 never opened on any of 1 ranks", ended.err)
        run = self.merged()
        self.assertEqual(run.rows("events/nvtx"), [])
        self.assertIn("window.never-opened", [row["code"] for row in run.rows("diagnostics")])

    def test_stop_shutdown_ends_the_job_with_its_own_status(self):
        started = time.monotonic()
        ended = self.run_one(("-c", "steps:3-5", "--capture-range-end", "stop-shutdown"), "steps:0:8:1000", "wait",
                             status=-signal.SIGTERM)
        self.assertLess(time.monotonic() - started, tools.LIMIT_SECONDS / 2)
        self.assertIn("window 3-5 closed on 1 of 1 ranks", ended.err)
        self.assertIn("window 3-5 closed: ending the job, as --capture-range-end stop-shutdown asks", ended.err)
        self.assertEqual([step["step"] for step in self.merged().rows("steps")], [3, 4, 5])
        (end,) = end_records()
        self.assertEqual((end["signal"], end["processes"][0]["state"]), (signal.SIGTERM, "ended"))

    def test_a_job_that_ends_by_itself_keeps_its_status(self):
        self.run_one(("-c", "steps:3-5", "--capture-range-end", "stop-shutdown"), "steps:0:5:100", "exit:7", status=7)

    def test_a_kill_while_it_is_open_loses_nothing(self):
        job = start_rank(0, ("-c", "nvtx:hot"), ("push:hot", "marks:50:1000", "wait"), 1)
        deadline = time.monotonic() + tools.LIMIT_SECONDS
        while not (Path("rank0.log").exists() and log_of(0)[-1][0] == "wait"):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        (puppet,) = [int(child) for child in Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
                     if os.readlink(f"/proc/{child}/exe") == os.path.realpath(PUPPET)]
        os.kill(puppet, signal.SIGKILL)
        ended = tools.finish(job)
        self.assert_status(ended, -signal.SIGKILL)
        self.assertIn("closed on 0 of 1 ranks, still open at the end on 1", ended.err)
        run = self.merged()
        kinds = [row["kind"] for row in run.rows("events/nvtx")]
        self.assertEqual((kinds.count("push_pop"), kinds.count("mark")), (1, 50))

    def test_nothing_is_hooked_that_is_not_traced(self):
        ended = tools.run(tools.EXEC, "-o", "prof/rank%r", "-t", "nvtx,osrt", "--quiet", "--", "env",
                          env=rank_environment(0, 1))
        self.assert_status(ended, 0)
        hooks = [line.split("=")[0] for line in ended.out.splitlines() if "libjaxprof-agent" in line]
        self.assertEqual(hooks, ["NVTX_INJECTION64_PATH"])


if __name__ == "__main__":
    unittest.main()
