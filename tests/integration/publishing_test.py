#!/usr/bin/env python3
"""Publishing while the job runs: the copy in the run directory is at every instant a beginning of what it will be, a
process that has ended is published at once, the tasks of a node share one rate, and nothing that the shared storage does
costs the job more than the grace. Without a launcher; the run's tasks are told by JAXPROF_RUN and JAXPROF_RANK.
"""

import json
import os
import shutil
import signal
import threading
import time
import unittest
from pathlib import Path

import run_tools as tools
import ticks
from run_file import RunFile
from run_tools import wait_until

TICKS = tools.BIN / "tick_puppet"
COLLECT = (tools.BIN / "jaxprof", "collect")
JOB_CODE = 7
UNTIL_TOLD = "while [ ! -e go ]; do sleep 0.05; done"


def rank_environment(rank, size):
    return tools.environment(JAXPROF_RUN="run", JAXPROF_RANK=rank, JAXPROF_WORLD_SIZE=size)


def has_copied(directory):
    """The name is claimed before the task has started, and empty until it has recorded something; on a busy machine the
    first copy may be the whole."""
    return any(path.stat().st_size for path in Path(directory).glob("rank0*.jxspool*"))


def end_record():
    return json.loads(next(Path("prof").glob(".run-*/task.*.end.json")).read_text())


def publishing_process(wrapper):
    for pid in Path(f"/proc/{wrapper}/task/{wrapper}/children").read_text().split():
        if Path(f"/proc/{pid}/comm").read_text() == "jaxprof-publish\n":
            return int(pid)
    return None


class Publishing(tools.OwnFolderCase):
    def setUp(self):
        super().setUp()
        os.mkdir("node")

    def start(self, *options, job=(TICKS, 100_000, ticks.PERIOD_US, "log"), env=None):
        process = tools.start(tools.EXEC, "-o", "prof/rank%r", "--spool", "node", *options, "--", *job,
                              env=env or rank_environment(0, 1))
        self.addCleanup(process.kill)
        return process

    def marks(self):
        """Of the one process, merged."""
        self.assert_status(tools.merge("prof", "-f"), tools.DONE)
        with RunFile("run.h5") as run:
            return list(ticks.marks_by_rank(run).values())[0]

    def assert_node_is_empty(self):
        self.assert_becomes_empty("node")


class WhileItRuns(Publishing):
    def test_the_copy_is_always_a_beginning(self):
        job = self.start(job=(TICKS, 2000, ticks.PERIOD_US, "log"))
        part, snapshots = Path("prof/rank0.jxspool.part"), []
        while job.poll() is None:
            if part.exists():
                try:
                    snapshots.append(part.read_bytes())
                except FileNotFoundError:
                    pass
            time.sleep(0.01)
        self.assert_status(tools.finish(job), 0)
        whole = Path("prof/rank0.jxspool").read_bytes()
        for snapshot in snapshots:
            self.assertTrue(whole.startswith(snapshot))
        self.assertGreater(len({len(snapshot) for snapshot in snapshots}), 2, "it grew while the job ran")
        self.assertEqual(self.marks(), list(range(2000)))
        self.assert_node_is_empty()

    def test_a_process_that_has_ended_is_there_at_once(self):
        job = self.start(job=("sh", "-c", f"{TICKS} 10 1000 log; {UNTIL_TOLD}; exit {JOB_CODE}"))
        wait_until(Path("prof/rank0.jxspool").exists, "the spool")
        self.assertIsNone(job.poll())
        wait_until(lambda: not list(Path("node").glob("*/slot*")), "the removal of its files on the node")
        Path("go").touch()
        self.assert_status(tools.finish(job), JOB_CODE)
        self.assertEqual([process["state"] for process in end_record()["processes"]], ["ended"])
        self.assert_node_is_empty()

    def test_a_process_that_was_killed_is_saved_at_once(self):
        job = self.start(job=("sh", "-c", f"{TICKS} 100000 {ticks.PERIOD_US} log; {UNTIL_TOLD}; exit {JOB_CODE}"))
        log = ticks.wait_for_log("log", tools.LIMIT_SECONDS)
        time.sleep(0.7)
        os.kill(log.pid, signal.SIGKILL)
        wait_until(Path("prof/rank0.jxspool").exists, "the spool")
        self.assertIsNone(job.poll())
        Path("go").touch()
        self.assert_status(tools.finish(job), JOB_CODE)
        self.assertEqual([process["state"] for process in end_record()["processes"]], ["saved"])
        self.assertIn(len(self.marks()) - len(ticks.TickLog("log").ticks), (0, 1))
        self.assert_node_is_empty()

    def test_rate_0_copies_nothing_before_the_end(self):
        job = self.start("--publish-rate", "0", job=(TICKS, 2000, ticks.PERIOD_US, "log"))
        sizes = set()
        while job.poll() is None:
            sizes |= {path.stat().st_size for path in Path("prof").glob("rank0*.part")}
            time.sleep(0.01)
            if ticks.TickLog("log").has_ended:
                break
        self.assert_status(tools.finish(job), 0)
        self.assertEqual(sizes, {0})
        self.assertEqual(self.marks(), list(range(2000)))

    def test_the_publishing_process_may_be_killed(self):
        job = self.start(job=(TICKS, 1500, ticks.PERIOD_US, "log"))
        wait_until(lambda: list(Path("prof").glob("rank0*.part")), "the copy")
        os.kill(wait_until(lambda: publishing_process(job.pid), "the process"), signal.SIGKILL)
        self.assert_status(tools.finish(job), 0)
        self.assertEqual(self.marks(), list(range(1500)))
        self.assert_node_is_empty()

    def test_after_a_term_the_rate_holds_no_more(self):
        """At 64 KiB a second this would take minutes. The job goes on all the same."""
        burst = (f"trap 'touch termed' TERM; {tools.NVTX_PUPPET} --scenarios burst --burst 150000 --threads 8 --out truth.json; "
                 f"{UNTIL_TOLD}; exit {JOB_CODE}")
        job = self.start("--publish-rate", "64K", job=("sh", "-c", burst))
        wait_until(lambda: Path("truth.json").exists() and list(Path("prof").glob("rank0*.part")), "the copy")
        time.sleep(1)
        self.assertFalse(Path("prof/rank0.jxspool").exists())
        job.terminate()
        wait_until(Path("prof/rank0.jxspool").exists, "the spool")
        wait_until(Path("termed").exists, "the job's TERM")
        self.assertIsNone(job.poll())
        Path("go").touch()
        self.assert_status(tools.finish(job), JOB_CODE)
        self.assert_status(tools.merge("prof"), tools.DONE)
        self.assert_node_is_empty()

    def test_the_tasks_of_a_node_share_the_rate(self):
        rate, n_tasks, window_s = 1 << 20, 3, 4.0
        burst = f"{tools.NVTX_PUPPET} --scenarios burst --burst 300000 --threads 8 --out $JAXPROF_RANK.json; {UNTIL_TOLD}"
        jobs = [self.start("--publish-rate", "1M", job=("sh", "-c", burst), env=rank_environment(rank, n_tasks))
                for rank in range(n_tasks)]
        spools = lambda: sum(path.stat().st_size for path in Path("node").glob("*/slot*.jxspool"))
        copies = lambda: sum(path.stat().st_size for path in Path("prof").glob("rank*.jxspool*"))
        wait_until(lambda: spools() > 12 * rate and copies() > 0, "enough to copy")
        begin, bytes_before = time.monotonic(), copies()
        time.sleep(window_s)
        copied, window_s = copies() - bytes_before, time.monotonic() - begin
        # a piece of 1 MiB may begin just before the window, another just before its end
        self.assertLessEqual(copied, rate * window_s + 2 * (1 << 20))
        self.assertGreater(copied, 0)
        Path("go").touch()
        for job in jobs:
            self.assert_status(tools.finish(job), 0)
        self.assert_status(tools.merge("prof"), tools.DONE)
        self.assert_node_is_empty()


class SharedStorage(Publishing):
    """A run directory that fails while the job runs, or at its end."""

    def test_may_be_away_for_a_while(self):
        job = self.start(job=(TICKS, 3000, ticks.PERIOD_US, "log"))
        wait_until(lambda: has_copied("prof"), "the copy")
        os.rename("prof", "away")
        time.sleep(2)
        os.rename("away", "prof")
        ended = tools.finish(job)
        self.assert_status(ended, 0)
        self.assertEqual(len(ended.lines_of_jaxprof()), 2, str(ended))
        self.assertEqual(self.marks(), list(range(3000)))
        self.assert_node_is_empty()

    def test_that_is_gone_at_the_end_leaves_all_on_the_node(self):
        job = self.start(job=("sh", "-c", f"{TICKS} 100 {ticks.PERIOD_US} log; {UNTIL_TOLD}; exit {JOB_CODE}"))
        wait_until(lambda: list(Path("prof").glob(".run-*/*.start.json")), "the start record")
        os.rename("prof", "away")
        Path("prof").write_text("no folder")
        wait_until(lambda: ticks.TickLog("log").has_ended, "the end of the marks")
        Path("go").touch()
        ended = tools.finish(job)
        self.assert_status(ended, JOB_CODE)
        lines = ended.lines_of_jaxprof()
        self.assertEqual(len(lines), 2, str(ended))
        self.assertRegex(lines[1], r":.*/node/jaxprof\.\S+ keeps a spool: .*Not a directory.*jaxprof collect prof")
        os.unlink("prof")
        os.rename("away", "prof")
        self.assert_status(tools.run(*COLLECT, "prof"), tools.DONE)
        self.assertEqual(self.marks(), list(range(100)))
        self.assert_node_is_empty()

    def test_that_is_full_leaves_all_on_the_node(self):
        tools.require("root", os.geteuid() == 0, "a file system of its own needs root")
        os.mkdir("prof")
        script = ('mount -t tmpfs -o size=256k none prof && mkdir prof/.run-run && "$@"; code=$?; '
                  'cp -r prof saved; exit $code')
        burst = f"{tools.NVTX_PUPPET} --scenarios burst --burst 100000 --out truth.json; exit {JOB_CODE}"
        job = tools.run("unshare", "-m", "sh", "-c", script, "sh", tools.EXEC, "-o", "prof/rank%r", "--spool", "node", "--",
                        "sh", "-c", burst, env=rank_environment(0, 1))
        self.assert_status(job, JOB_CODE)
        self.assertRegex(job.lines_of_jaxprof()[1], "keeps a spool: .*No space left on device")
        os.rmdir("prof")
        os.rename("saved", "prof")
        self.assert_status(tools.run(*COLLECT, "prof"), tools.DONE)
        self.assert_status(tools.merge("prof"), tools.DONE)
        self.assert_node_is_empty()

    def test_that_hangs_does_not_hold_the_job(self):
        """Writers to a frozen ext4 cannot be killed."""
        can_freeze = os.geteuid() == 0 and shutil.which("fsfreeze") and shutil.which("mkfs.ext4")
        tools.require("freeze", can_freeze, "a file system can be frozen only by root with e2fsprogs and util-linux")
        os.mkdir("disk")
        with open("image", "wb") as image:
            image.truncate(64 << 20)
        self.assert_status(tools.run("mkfs.ext4", "-q", "image"), 0)
        mounted = tools.run("mount", "-o", "loop", "image", "disk")
        tools.require("freeze", mounted.status == 0, f"no loop device: {mounted.err}")
        self.addCleanup(wait_until, lambda: tools.run("umount", "disk").status == 0, "the end of its users")
        folder = os.getcwd()
        job = tools.start(tools.EXEC, "-o", "disk/prof/rank%r", "--spool", "node", "--grace", "2", "--", "sh", "-c",
                          f"{TICKS} 500 {ticks.PERIOD_US} log; {UNTIL_TOLD}; exit {JOB_CODE}", env=rank_environment(0, 1))
        self.addCleanup(job.kill)
        wait_until(lambda: has_copied("disk/prof"), "the copy")
        frozen = tools.run("fsfreeze", "-f", "disk")
        tools.require("freeze", frozen.status == 0, f"no file system can be frozen here: {frozen.err}")
        # whatever happens to this test, nothing hangs for longer than this
        guard = threading.Timer(50, tools.run, ("fsfreeze", "-u", f"{folder}/disk"))
        guard.start()
        try:
            wait_until(lambda: ticks.TickLog("log").has_ended, "the end of the marks")
            Path("go").touch()
            ended = tools.finish(job, limit_s=30)
        finally:
            guard.cancel()
            tools.run("fsfreeze", "-u", "disk")
        self.assert_status(ended, JOB_CODE)
        lines = ended.lines_of_jaxprof()
        self.assertEqual(len(lines), 2, str(ended))
        self.assertRegex(lines[1], r"disk/prof did not take the profile in time: .* stays in \S+:\S+/node/jaxprof\.")
        self.assert_status(wait_until(lambda: self.collected("disk/prof"), "the end of the one that hung"), tools.DONE)
        shutil.copytree("disk/prof", "prof")
        self.assertEqual(self.marks(), list(range(500)))
        self.assert_node_is_empty()

    def collected(self, directory):
        ended = tools.run(*COLLECT, directory)
        return None if "still running" in ended.out else ended


if __name__ == "__main__":
    unittest.main()
