#!/usr/bin/env python3
"""However a task ends, srun returns and says what it does without jaxprof-exec, whatever became of the profile.

Every way to end (codes and signals) times everything that may have happened to the rank: traced, not selected,
unprofiled because of a fault, its run directory gone or read-only by the end. Each is a step of one task, with its
output in files: of a task that dies of SIGTERM or SIGKILL srun drops what it has not printed yet, without jaxprof as well.
"""

import concurrent.futures
import re
import unittest
import uuid
from dataclasses import dataclass
from pathlib import Path

import run_tools as tools

ENDS = {"code 0": "exit 0", "code 7": "exit 7", "code 42": "exit 42", "code 255": "exit 255",
        "TERM": "kill -TERM $$", "KILL": "kill -KILL $$", "SEGV": "kill -SEGV $$", "ABRT": "kill -ABRT $$"}
ONE_TASK = ("srun", "-N1", "-n1")
AT_ONCE = 4


@dataclass
class Step(tools.Ended):
    """A step of one task: `out` and `err` are the task's, `srun` is what srun itself said."""

    srun: str

    def __str__(self):
        return f"{super().__str__()}\n--- srun\n{self.srun}"


def run_step(*words, env=None):
    out, err = Path(f"out.{uuid.uuid4()}"), Path(f"err.{uuid.uuid4()}")
    # a core file would make srun say so, and the wrapper that dies of the same signal leaves none
    shell = 'ulimit -c 0; out=$1; err=$2; shift 2; exec "$@" >"$out" 2>"$err"'
    ended = tools.run(*ONE_TASK, "sh", "-c", shell, "sh", out, err, *words, env=env)
    return Step(ended.status, out.read_text(), err.read_text(), ended.err)


def without_numbers(text):
    """What srun said, without what differs between two runs of the same, its waiting for a free node, and what it says
    now and then where a task's end overtakes its output."""
    text = re.sub(r"srun: error: IO: Hey, you told me node \d+ was down!\n", "", text)
    text = re.sub(r"srun: job \d+ (queued and waiting for|has been allocated) resources\n", "", text)
    return re.sub(r"StepId=\S+|STEP \S+|\bn[12]\b|\d{4}-\d\d-\d\dT\S+", "#", text)


class Ends(tools.FolderCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plain = cls.run_all(lambda end: ("sh", "-c", f"echo out; {ENDS[end]}"))

    @staticmethod
    def run_all(command_of, env=None):
        """{end: Step} of a step for each end."""
        def run(end):
            return run_step(*command_of(end), env=env)

        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            return dict(zip(ENDS, pool.map(run, ENDS)))

    def assert_as_plain(self, jobs):
        for end, job in jobs.items():
            with self.subTest(end):
                plain = self.plain[end]
                self.assertEqual((job.status, job.out), (plain.status, plain.out), f"\n{plain}\n{job}")
                self.assertEqual(without_numbers(job.srun), without_numbers(plain.srun))
                self.assertEqual([line for line in job.err.splitlines() if not line.startswith("jaxprof: ")],
                                 plain.err.splitlines())

    def run_wrapped(self, *options, spoil=":", env=None, before=()):
        """`spoil` is what the job does to its run directory $0 before it ends."""
        def command_of(end):
            folder = Path(f"{self._testMethodName}.{end.replace(' ', '')}").absolute()
            folder.mkdir()
            return (*(word.format(folder=folder) for word in before), tools.EXEC, "-o", f"{folder}/rank%r", *options,
                    "--", "sh", "-c", f"echo out; {spoil}; {ENDS[end]}", folder)

        jobs = self.run_all(command_of, env)
        self.assert_as_plain(jobs)
        return jobs

    def test_plain_reference_is_what_slurm_documents(self):
        statuses = [self.plain[end].status for end in ENDS]
        self.assertEqual(statuses, [0, 7, 42, 255, 128 + 15, 128 + 9, 128 + 11, 128 + 6])
        self.assertIn("Segmentation fault", self.plain["SEGV"].srun)

    def test_traced(self):
        for job in self.run_wrapped().values():
            self.assertEqual(len(job.lines_of_jaxprof()), 2, f"\n{job}")

    def test_not_selected(self):
        for job in self.run_wrapped("--ranks", "1").values():
            self.assertEqual(len(job.lines_of_jaxprof()), 1, f"\n{job}")

    def test_unprofiled_because_of_a_fault(self):
        env = tools.environment(NVTX_INJECTION64_PATH="/opt/other/libtool.so")
        for job in self.run_wrapped(env=env).values():
            self.assertIn("runs unprofiled", job.err)

    def test_run_directory_gone_by_the_end(self):
        """The observer of the node may make its spool while the folder is emptied."""
        for job in self.run_wrapped(spoil='until rm -rf "$0" 2>/dev/null; do :; done').values():
            self.assertGreaterEqual(len(job.lines_of_jaxprof()), 1, f"\n{job}")

    def test_run_directory_read_only_by_the_end(self):
        """In a mount namespace of the task's own, whose mount the job makes read-only. It would be busy while an observer
        of the node has its spool open there, so there is none."""
        script = 'mount -t tmpfs none "$0" && exec "$@"'
        jobs = self.run_wrapped("-t", "cuda,nvtx,nccl", spoil='mount -o remount,ro "$0"',
                                before=("unshare", "-m", "sh", "-c", script, "{folder}"))
        for job in jobs.values():
            self.assertIn("Read-only file system", job.err, f"\n{job}")

    def test_command_that_does_not_exist(self):
        """srun itself says 2 and its own words; we say what a shell says."""
        job = run_step(tools.EXEC, "-o", "none/rank%r", "--", "./nowhere")
        self.assert_status(job, 127)
        self.assertIn("./nowhere: No such file or directory", job.err)


if __name__ == "__main__":
    unittest.main()
