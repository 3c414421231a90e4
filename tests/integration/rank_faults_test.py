#!/usr/bin/env python3
"""A fault of one rank must stay with that rank: the job and the other ranks end as without jaxprof, and the run file says
what became of the one.

Rank 2 of four meets something that the others do not: a variable that is not set, a name that is taken, a foreign NVTX
tool, a directory that cannot be made, one that only it cannot write to. Wrapped in a shell that makes the difference, as
a site's prolog or a user's script would.
"""

import unittest
from pathlib import Path

import run_tools as tools
from run_file import RunFile

JOB = [tools.NCCL_PUPPET, "--ops", "allreduce", "--iterations", "2", "--sizes", "1K"]
EXIT_CODE = 3
FAULTY = 2
OTHERS = [0, 1, 3]


class RankFaults(tools.FolderCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plain = tools.srun(*JOB, "--exit-code", EXIT_CODE)
        assert cls.plain.status == EXIT_CODE and "result" in cls.plain.out, str(cls.plain)

    def run_job(self, prepare, output="$dir/rank%r", n_lines=3):
        """Runs `prepare` in a shell before each task, with $dir as the output directory, $rank and $faulty (empty: not)."""
        script = (f'dir={self._testMethodName}; rank=$SLURM_PROCID; [ "$rank" = {FAULTY} ] && faulty=yes || faulty=\n'
                  f'{prepare}\nexec {tools.EXEC} -o "{output}" -- "$@"')
        job = tools.srun("sh", "-c", script, "sh", *JOB, "--exit-code", EXIT_CODE)
        self.assertEqual((job.status, job.out), (self.plain.status, self.plain.out), f"\n{job}")
        # the job's two lines and one of the rank's; where a rank cannot reach the directory nobody can tell the end
        self.assertEqual(len(job.lines_of_jaxprof()), n_lines, f"\n{job}")
        return job

    def merge(self, status, *options):
        merged = tools.merge(self._testMethodName, "-f", *options)
        self.assert_status(merged, status)
        return merged

    def assert_others_are_whole(self, run):
        for task in run.rows("job/tasks"):
            if task["rank"] in OTHERS:
                self.assertEqual((task["state"], task["exit_code"]), ("profiled", EXIT_CODE))
        self.assertEqual([process["is_complete"] for process in run.rows("job/processes")],
                         [1] * len(run.rows("job/processes")))

    def assert_listed_as(self, state, *reasons):
        """In the run file, by the merge and by the summary, which exits 0; partial unless that is allowed."""
        merged = self.merge(tools.PARTIAL)
        self.merge(tools.DONE, "--allow-partial")
        summary = tools.study("summary", "run.h5")
        self.assert_status(summary, tools.DONE)
        with RunFile("run.h5") as run:
            self.assert_others_are_whole(run)
            self.assertEqual(run.ranks(), OTHERS)
            tasks = [task for task in run.rows("job/tasks") if task["rank"] == FAULTY]
            self.assertEqual([task["state"] for task in tasks], [state])
            for reason in reasons:
                self.assertIn(reason, tasks[0]["reason"])
                self.assertIn(reason, merged.out)
                self.assertIn(reason, summary.out)
            self.assertEqual([(row["n_ranks"], row["n_seen"]) for row in run.rows("collectives")], [(4, 3)] * 2)

    def assert_profiled_under(self, pattern, *notes):
        with RunFile("run.h5") as run:
            self.assert_others_are_whole(run)
            self.assertEqual(run.ranks(), [0, 1, 2, 3])
            self.assertRegex(run.rows("job/processes")[FAULTY]["spool"], pattern)
            texts = [row["text"] for row in run.diagnostics("task.note") if row["rank"] == FAULTY]
            self.assertEqual(len(texts), 1, texts)
            for note in notes:
                self.assertIn(note, texts[0])
            self.assertEqual([row["n_seen"] for row in run.rows("collectives")], [4] * 2)

    def test_undefined_variable_in_the_name(self):
        job = self.run_job('[ "$faulty" ] || export X=here', output="$dir/rank%r.%q{X}")
        self.assertIn("X", job.err)
        self.merge(tools.DONE)
        self.assert_profiled_under(r"^rank2\.unset-X\.jxspool$", "X is not set")
        names = {path.name for path in Path(self._testMethodName).glob("*.jxspool")}
        self.assertEqual(names, {"rank0.here.jxspool", "rank1.here.jxspool", "rank2.unset-X.jxspool",
                                 "rank3.here.jxspool"})

    def test_taken_name(self):
        earlier = tools.srun(tools.EXEC, "-o", f"{self._testMethodName}/rank%r", "--ranks", FAULTY, "--", *JOB)
        self.assert_status(earlier, 0)
        taken = Path(self._testMethodName, "rank2.jxspool")
        before = taken.read_bytes()
        job = self.run_job("")
        self.assertIn("is taken", job.err)
        self.assertEqual(taken.read_bytes(), before)
        run_ids = sorted(path.name[len(".run-"):] for path in Path(self._testMethodName).glob(".run-*"))
        self.merge(tools.DONE, "--run", max(run_ids, key=lambda run: int(run.split(".")[0])))
        self.assert_profiled_under(r"^rank2\.n2\.\d+\.jxspool$", "is taken")

    def test_foreign_nvtx_tool(self):
        job = self.run_job('[ ! "$faulty" ] || export NVTX_INJECTION64_PATH=/opt/other/libtool.so')
        self.assertIn("NVTX_INJECTION64_PATH=/opt/other/libtool.so", job.err)
        self.assert_listed_as("unprofiled", "NVTX_INJECTION64_PATH=/opt/other/libtool.so")

    def test_directory_that_cannot_be_made(self):
        job = self.run_job('[ ! "$faulty" ] || dir=/proc/none', n_lines=2)
        self.assertIn("rank 2 on n2 runs unprofiled: cannot make directory /proc/none", job.err)
        self.assert_listed_as("missing", "left no record")

    def test_directory_that_cannot_be_written_to(self):
        script = 'mount -t tmpfs -o ro none "$0" && exec "$@"'
        job = self.run_job(f'mkdir -p "$dir"\n[ ! "$faulty" ] || exec unshare -m sh -c \'{script}\' "$dir" '
                           f'{tools.EXEC} -o "$dir/rank%r" -- "$@"', n_lines=2)
        self.assertRegex(job.err, "rank 2 on n2 runs unprofiled: .*: Read-only file system")
        self.assert_listed_as("missing", "left no record")


if __name__ == "__main__":
    unittest.main()
