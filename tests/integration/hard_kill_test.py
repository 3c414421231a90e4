#!/usr/bin/env python3
"""SIGKILL at any moment: of the process it costs nothing, because the wrapper saves what was still in memory; of the
wrapper, and with it the process, no more than the last three seconds in the run directory and one on the node, the merge
says that something is cut, and `jaxprof collect` brings the rest. No launcher: one puppet that calls every 20 ms.
"""

import os
import signal
import time
import unittest
from pathlib import Path

import run_tools as tools
from run_file import RunFile
from truth_log import TruthLog, read_log

LIVES_S = 4.6
PUBLISHED_AFTER_NS = 3_000_000_000
FLUSHED_AFTER_NS = 1_000_000_000


def is_alive(pid):
    """A dead process that nobody has waited for is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except FileNotFoundError:
        return False


class HardKill(tools.OwnFolderCase):
    def start(self):
        """jaxprof-exec and the pid of the puppet under it, which has run for LIVES_S."""
        os.mkdir("node")
        wrapper = tools.start(tools.EXEC, "-o", "prof/rank", "--spool", "node", "--", tools.NCCL_PUPPET, "--ops",
                              "allreduce", "--sizes", "1K", "--iterations", "100000", "--late", "0:20", "--log", "log")
        deadline = time.monotonic() + tools.LIMIT_SECONDS
        while not (Path("log").exists() and "what=call" in Path("log").read_text()):
            self.assertLess(time.monotonic(), deadline, "the puppet never called")
            time.sleep(0.02)
        time.sleep(LIVES_S)
        return wrapper, read_log("log")[0]["pid"]

    def assert_calls_are_there(self, run, flushed_after_ns):
        """Those that had ended so long before the last one that the puppet wrote down."""
        calls = TruthLog("log").calls
        self.assertFalse(TruthLog("log").has_footer)
        expected = [call for call in calls if call["after_raw_ns"] <= calls[-1]["after_raw_ns"] - flushed_after_ns]
        rows = run.rows("events/nccl")
        self.assertGreater(len(expected), 10)
        self.assertGreaterEqual(len(rows), len(expected))
        # one call may have been made and not yet written down
        self.assertLessEqual(len(rows), len(calls) + 1)
        self.assertEqual([row["bytes"] for row in rows[:len(calls)]], [call["bytes"] for call in calls[:len(rows)]])

    def test_of_the_process(self):
        wrapper, pid = self.start()
        os.kill(pid, signal.SIGKILL)
        self.assert_status(tools.finish(wrapper), -signal.SIGKILL)
        self.assert_status(tools.merge("prof"), tools.DONE)
        with RunFile("run.h5") as run:
            self.assertEqual([(task["state"], task["signal"]) for task in run.rows("job/tasks")], [("profiled", 9)])
            self.assert_calls_are_there(run, 0)
        self.assert_becomes_empty("node")

    def test_of_the_wrapper(self):
        wrapper, pid = self.start()
        wrapper.kill()
        self.assert_status(tools.finish(wrapper), -signal.SIGKILL)
        deadline = time.monotonic() + 5
        while is_alive(pid):
            self.assertLess(time.monotonic(), deadline, "the job outlived its wrapper")
            time.sleep(0.02)
        self.assert_status(tools.merge("prof"), tools.PARTIAL)
        with RunFile("run.h5") as run:
            self.assert_calls_are_there(run, PUBLISHED_AFTER_NS)
        folder = next(path.parent for path in Path("node").glob("*/session"))
        self.assert_status(tools.merge(folder, "-f"), tools.PARTIAL)
        with RunFile("run.h5") as run:
            self.assertEqual(len(run.diagnostics("spool.cut")), 1)
            self.assert_calls_are_there(run, FLUSHED_AFTER_NS)
        self.assert_status(tools.run(tools.BIN / "jaxprof", "collect", "prof"), tools.DONE)
        self.assert_status(tools.merge("prof", "-f"), tools.DONE)
        with RunFile("run.h5") as run:
            self.assert_calls_are_there(run, 0)
        self.assert_becomes_empty("node")


if __name__ == "__main__":
    unittest.main()
