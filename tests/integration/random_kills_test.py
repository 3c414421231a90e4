#!/usr/bin/env python3
"""SIGKILL at random instants, of the process and of its wrapper, a hundred times side by side. Nothing becomes
unreadable, and the loss is what the README promises: of a process nothing, because its wrapper saves it; of both at most
three seconds in the run directory, and nothing once `jaxprof collect` was there.
"""

import os
import signal
import time
import unittest
from pathlib import Path

import run_tools as tools
import ticks
from run_file import RunFile

N_KILLS = int(os.environ.get("JAXPROF_KILLS", "60"))  # of each kind
SIDE_BY_SIDE = 10
IN_RUN_DIRECTORY_NS = 3_000_000_000


def is_puppet(pid):
    """A dead process that nobody has waited for has no command line."""
    try:
        return b"tick" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


class RandomKills(tools.FolderCase):
    def kill_one(self, folder, life_s, is_wrapper):
        """A profiled puppet in `folder` that is killed at a random instant; its log."""
        folder.mkdir()
        (folder / "node").mkdir()
        job = tools.start(tools.EXEC, "-o", folder / "prof/rank", "--spool", folder / "node", "--", tools.BIN / "tick_puppet",
                          100_000, ticks.PERIOD_US, folder / "log")
        log = ticks.wait_for_log(folder / "log", tools.LIMIT_SECONDS)
        time.sleep(life_s)
        os.kill(job.pid if is_wrapper else log.pid, signal.SIGKILL)
        ended = tools.finish(job)
        self.assertEqual(ended.status, -signal.SIGKILL, str(ended))
        end = time.monotonic() + tools.LIMIT_SECONDS
        while is_puppet(log.pid):
            self.assertLess(time.monotonic(), end, "the job outlived its wrapper")
            time.sleep(0.01)
        return ticks.TickLog(folder / "log")

    def kill_many(self, name, is_wrapper, check):
        def one(folder, life_s):
            check(folder, self.kill_one(folder, life_s, is_wrapper))

        ticks.try_lives(self, name, N_KILLS, SIDE_BY_SIDE, one)

    def merged_marks(self, folder, statuses):
        """Marks of the one process in the merged run file; none if it left no spool."""
        merged = tools.merge(folder / "prof", "-f", output=folder / "run.h5")
        self.assertIn(merged.status, statuses, str(merged))
        with RunFile(folder / "run.h5") as run:
            marks = list(ticks.marks_by_rank(run).values())
        self.assertLessEqual(len(marks), 1, str(merged))
        found = marks[0] if marks else []
        self.assertEqual(found, list(range(len(found))), "the marks are a beginning")
        return found

    def assert_all_there(self, found, log):
        # one mark may have been made and not yet written down
        self.assertIn(len(found) - len(log.ticks), (0, 1))

    def test_of_the_process(self):
        def check(folder, log):
            self.assert_all_there(self.merged_marks(folder, (tools.DONE,)), log)
            self.assert_becomes_empty(folder / "node")

        self.kill_many("process", False, check)

    def test_of_the_wrapper(self):
        def check(folder, log):
            found = self.merged_marks(folder, (tools.PARTIAL,))
            self.assertGreaterEqual(len(found), log.due(IN_RUN_DIRECTORY_NS))
            collected = tools.run(tools.BIN / "jaxprof", "collect", folder / "prof")
            self.assert_status(collected, tools.DONE)
            self.assert_all_there(self.merged_marks(folder, (tools.DONE,)), log)
            self.assert_becomes_empty(folder / "node")
            again = tools.run(tools.BIN / "jaxprof", "collect", folder / "prof")
            self.assert_status(again, tools.DONE)

        self.kill_many("wrapper", True, check)


if __name__ == "__main__":
    unittest.main()
