#!/usr/bin/env python3
"""Recording stops before the job does: at the job's time limit, at --spool-limit, and not at all on shared storage. The
job runs on to its own end, what was recorded is complete and published, and what was not is counted.

The time limit is told by the environment, by a program in scontrol's place, or by the cluster's own scontrol.
"""

import os
import re
import time
import unittest
from collections import Counter
from pathlib import Path

import run_tools as tools
import ticks
from nvtx_case import NvtxCase, account
from run_file import RunFile

TICK_PUPPET = str(tools.BIN / "tick_puppet")
EXIT_CODE = 7
RANKS = [0, 1, 2, 3]
STOP_LINE = r"jaxprof: recording stopped \d+ s before the job's time limit at \d\d:\d\d:\d\d; the job goes on"

FAKE_SCONTROL = """#!/bin/sh
echo "$SLURM_TIME_FORMAT $*" >>asked.$(hostname)
echo "JobId=$4 JobName=x StartTime=1 EndTime=$(cat end_time) Deadline=N/A"
"""


def stop_lines(job):
    return [line for line in job.lines_of_jaxprof() if re.fullmatch(STOP_LINE, line)]


class Deadline(tools.OwnFolderCase):
    """Four ranks tick for twenty seconds; their time is up after eight, and recording stops some before."""

    N_TICKS = 10000

    def start_job(self, tell, **changes):
        """`tell` is of the shell, in each task, with the end of its time as $end_s: however long srun waits for nodes."""
        script = f'{TICK_PUPPET} {self.N_TICKS} {ticks.PERIOD_US} log.%r; exit {EXIT_CODE}'
        start = f'end_s=$(($(date +%s) + 8)); {tell}; exec "$@"'
        return tools.start("srun", "-N2", "--ntasks-per-node=2", "sh", "-c", start, "sh", tools.EXEC, "-o",
                           "prof/rank%r", "--margin", "4", "--", "sh", "-c", script, env=tools.environment(**changes))

    def assert_published_while_it_runs(self, job):
        wanted = {f"rank{rank}.jxspool" for rank in RANKS}
        deadline = time.monotonic() + tools.LIMIT_SECONDS
        while not wanted <= {path.name for path in Path("prof").glob("rank*")}:
            self.assertIsNone(job.poll(), "the job ended before its spools were published")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)
        self.assertIsNone(job.poll(), "the job ended before its spools were published")

    def assert_recorded_up_to_the_stop(self):
        merged = tools.merge("prof")
        self.assert_status(merged, tools.DONE)
        self.assertIn("time limit was near (--margin); the process went on", merged.out)
        with RunFile("run.h5") as run:
            processes = run.rows("job/processes")
            self.assertEqual([row["rank"] for row in processes], RANKS)
            self.assertEqual([row["is_complete"] for row in processes], [1] * 4)
            self.assertEqual([row["process"] for row in run.diagnostics("recording.stopped")], RANKS)
            self.assertEqual({task["exit_code"] for task in run.rows("job/tasks")}, {EXIT_CODE})
            for rank, marks in ticks.marks_by_rank(run).items():
                self.assertEqual(marks, list(range(len(marks))))
                self.assertGreater(len(marks), 0)
                self.assertEqual(len(marks) + processes[rank]["n_dropped"], self.N_TICKS)

    def test_that_the_environment_tells(self):
        job = self.start_job("export SLURM_JOB_END_TIME=$end_s")
        self.assert_published_while_it_runs(job)
        ended = tools.finish(job)
        self.assert_status(ended, EXIT_CODE)
        self.assertEqual(len(stop_lines(ended)), 1, str(ended))
        self.assert_recorded_up_to_the_stop()

    def test_that_scontrol_tells(self):
        Path("scontrol").write_text(FAKE_SCONTROL)
        Path("scontrol").chmod(0o755)
        first_tells = 'echo $end_s >end_time.$SLURM_PROCID; ln end_time.$SLURM_PROCID end_time 2>/dev/null'
        job = self.start_job(first_tells, PATH=f"{os.getcwd()}:{os.environ['PATH']}")
        self.assert_published_while_it_runs(job)
        ended = tools.finish(job)
        self.assert_status(ended, EXIT_CODE)
        self.assertEqual(len(stop_lines(ended)), 1, str(ended))
        self.assert_recorded_up_to_the_stop()
        for host in ("n1", "n2"):  # asked a second time if there was time before the stop
            calls = Path(f"asked.{host}").read_text().splitlines()
            self.assertIn(len(calls), (1, 2), calls)
            self.assertRegex(calls[0], r"^%s show job -o \d+$")


class FarDeadline(tools.OwnFolderCase):
    def run_until(self, condition, changes, *options):
        """A job whose tasks wait until `condition` of the shell holds on their node."""
        script = f'for i in $(seq 600); do {condition} && exec true; sleep 0.1; done; exit 1'
        job = tools.srun(tools.EXEC, "-o", "prof/rank%r", "--", "sh", "-c", script,
                         options=("-N2", "--ntasks-per-node=2", *options), env=tools.environment(**changes))
        self.assert_status(job, 0)
        self.assertEqual(stop_lines(job), [])
        return job

    def test_is_asked_for_once_a_node(self):
        Path("scontrol").write_text(FAKE_SCONTROL)
        Path("scontrol").chmod(0o755)
        Path("end_time").write_text(str(int(time.time()) + 36000))
        # the first answer is there, and time for further questions has gone by
        self.run_until("grep -q '^1 ' /tmp/jaxprof.*.$SLURM_JOB_ID.*.node/deadline && sleep 3",
                       {"PATH": f"{os.getcwd()}:{os.environ['PATH']}"})
        calls = {host: Path(f"asked.{host}").read_text().splitlines() for host in ("n1", "n2")}
        self.assertEqual({host: len(lines) for host, lines in calls.items()}, {"n1": 1, "n2": 1}, calls)

    def test_is_what_the_clusters_own_scontrol_says(self):
        told = 'SLURM_TIME_FORMAT=%s scontrol show job -o $SLURM_JOB_ID | sed "s/.* EndTime=\\([0-9]*\\) .*/1 \\1/"'
        job = self.run_until(f'[ "$(cat /tmp/jaxprof.*.$SLURM_JOB_ID.*.node/deadline)" = "$({told})" ]', {}, "-t", "10")
        self.assertEqual(job.out, "")


class SpoolLimit(NvtxCase):
    def test_stops_the_recording_and_counts_the_rest(self):
        self.job = tools.run(tools.EXEC, "-o", "prof/rank", "--spool-limit", "1M", "--", tools.NVTX_PUPPET, "--out",
                             "truth.json", "--scenarios", "burst", "--burst", "400000")
        self.assert_status(self.job, 0)
        lines = [line for line in self.job.lines_of_jaxprof() if "--spool-limit is 1.0 MB; the job goes on" in line]
        self.assertEqual(len(lines), 1, str(self.job))
        self.merged = tools.merge("prof")
        self.assert_status(self.merged, tools.DONE)
        emitted = sum(entry["count"] for entry in account()[0]["counts"] if entry["kind"] in ("push", "pop"))
        with RunFile("run.h5") as run:
            process, = run.rows("job/processes")
            self.assertEqual(process["n_events"] + process["n_dropped"], emitted)
            self.assertGreaterEqual(process["spool_bytes"], 1 << 20)
            self.assertLess(process["spool_bytes"], 16 << 20)  # and what the rings held
            self.assertEqual([row["process"] for row in run.diagnostics("recording.stopped")], [0])

    def test_of_zero_is_none(self):
        run = self.profile("--scenarios", "marks")
        self.assertEqual(run.diagnostics("recording.stopped"), [])
        self.assertEqual(Counter(row["code"] for row in run.rows("diagnostics"))["drop.untold"], 0)


class SharedStorage(tools.OwnFolderCase):
    """A folder that the kernel's mount table calls NFS: the table is replaced for the wrapper alone."""

    JOB = [tools.NVTX_PUPPET, "--scenarios", "marks", "--out", "truth.json"]

    def run_job(self, *options, tmpdir=None):
        tools.require("root", os.geteuid() == 0, "a mount of its own needs root")
        script = ('mkdir -p shared && mount -t tmpfs -o size=64m none shared && '
                  'sed "s,\\( $PWD/shared .* - \\)tmpfs ,\\1nfs4 ," /proc/self/mountinfo >table && '
                  'mount --bind table /proc/$$/mountinfo && exec "$@"')
        return tools.run("unshare", "-m", "sh", "-c", script, "sh", tools.EXEC, "-o", "prof/rank", *options, "--",
                         *self.JOB, env=tools.environment(TMPDIR=tmpdir))

    def test_that_the_user_named_is_refused_for_the_rank(self):
        job = self.run_job("--spool", "shared")
        self.assert_status(job, 0)
        self.assertEqual(len(account()), 1)
        lines = [line for line in job.lines_of_jaxprof() if "runs unprofiled" in line]
        self.assertEqual(len(lines), 1, str(job))
        self.assertIn("/shared is on nfs4 (none), not on a disk of this node; --spool names a folder", lines[0])

    def test_that_a_variable_names_is_passed_by(self):
        job = self.run_job(tmpdir=f"{os.getcwd()}/shared")
        self.assert_status(job, 0)
        self.assert_status(tools.merge("prof"), tools.DONE)
        with RunFile("run.h5") as run:
            self.assertEqual(len(run.rows("job/processes")), 1)
            notes = [row["text"] for row in run.diagnostics("task.note")]
            self.assertTrue(any("no spools by TMPDIR" in note and "is on nfs4" in note for note in notes), notes)

    def test_is_told_by_check(self):
        check = self.run_job("--spool", "shared", "--check")
        self.assert_status(check, tools.NOT_READY)
        self.assertIn("is on nfs4", check.out)


if __name__ == "__main__":
    unittest.main()
