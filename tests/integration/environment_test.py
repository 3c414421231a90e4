#!/usr/bin/env python3
"""Which variables ranks ran with: recorded, told apart, never a secret; and a run file that is to be shown to strangers."""

import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path

import run_tools as tools
from run_file import RunFile

TICK_PUPPET = tools.BIN / "tick_puppet"
HOST = "dachs4711.zoo.example"
SECRET = "hunter2"
# Of mpirun's three ranks number 1 has another NCCL_ALGO, and 2 has none of NCCL_DEBUG.
RANK_SCRIPT = """#!/bin/sh
export NCCL_ALGO=Ring NCCL_DEBUG=WARN UCX_NET_DEVICES=mlx5_0 NCCL_AUTH_TOKEN=hunter2 MYAPP_MODE=fast
[ $OMPI_COMM_WORLD_RANK = 1 ] && export NCCL_ALGO=Tree
[ $OMPI_COMM_WORLD_RANK = 2 ] && unset NCCL_DEBUG
exec "$@"
"""


def in_a_host_of_its_own(*words):
    """The command on a machine of that name, where this machine lets us."""
    return ["unshare", "--uts", "sh", "-c", f'hostname {HOST} && exec "$@"', "sh", *map(str, words)]


def may_name_hosts():
    return subprocess.run(in_a_host_of_its_own("true"), capture_output=True).returncode == 0


class ThreeRanks(tools.FolderCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        Path("rank.sh").write_text(RANK_SCRIPT)
        Path("rank.sh").chmod(0o755)
        cls.job = tools.mpirun("./rank.sh", tools.EXEC, "-o", "prof/rank%r", "-e", "XLA_FLAGS=--a=1", "--env-allow",
                               "MYAPP_*", "--", TICK_PUPPET, 3, 200, "log", n_ranks=3)
        cls.merged = tools.merge("prof")
        assert (cls.job.status, cls.merged.status) == (0, 0), f"{cls.job}\n{cls.merged}"
        with RunFile("run.h5") as run:
            cls.rows = run.rows("job/env")
            offsets = run.offsets("job/env_tasks/env_offset")
            tasks = [row["task"] for row in run.rows("job/env_tasks")]
            cls.tasks = [tasks[begin:end] for begin, end in zip(offsets, offsets[1:])]

    def values(self, name):
        """Value (None: not set), ranks and tasks of each row of a variable, in the file's order."""
        return [(row["value"] if row["is_set"] else None, row["ranks"], tasks)
                for row, tasks in zip(self.rows, self.tasks) if row["name"] == name]

    def test_what_is_alike_is_one_row(self):
        for name, value in (("UCX_NET_DEVICES", "mlx5_0"), ("XLA_FLAGS", "--a=1"), ("MYAPP_MODE", "fast")):
            self.assertEqual(self.values(name), [(value, "ranks 0-2", [0, 1, 2])])

    def test_what_differs_is_told_with_its_ranks(self):
        self.assertEqual(self.values("NCCL_ALGO"), [("Ring", "ranks 0,2", [0, 2]), ("Tree", "rank 1", [1])])
        self.assertEqual(self.values("NCCL_DEBUG"), [("WARN", "ranks 0-1", [0, 1]), (None, "rank 2", [2])])

    def test_nothing_else_is_said_to_differ(self):
        drift = {row["name"] for row in self.rows if row["scope"] in ("node", "task") and not row["is_per_task"]}
        self.assertEqual(drift, {"NCCL_ALGO", "NCCL_DEBUG"})

    def test_the_hooks_are_as_the_command_gets_them(self):
        self.assertTrue(self.values("NCCL_PROFILER_PLUGIN")[0][0].endswith("/libjaxprof-agent.so"))

    def test_secrets_are_nowhere(self):
        self.assertEqual(self.values("NCCL_AUTH_TOKEN"), [])
        for path in [Path("run.h5"), *(path for path in Path("prof").rglob("*") if path.is_file())]:
            self.assertNotIn(SECRET.encode(), path.read_bytes(), path)

    def test_summary_and_study_name_who_differs(self):
        rows = json.loads(tools.study("summary", "run.h5", "--format", "json").out)["rows"]
        told = {row["item"]: row["detail"] for row in rows if row["section"] == "environment"}
        self.assertEqual(told["NCCL_ALGO"], "Ring on ranks 0,2; Tree on rank 1")
        self.assertEqual(told["NCCL_DEBUG"], "WARN on ranks 0-1; (not set) on rank 2")
        study = tools.study("env", "run.h5")
        self.assert_status(study, tools.DONE)
        self.assertIn("differ between ranks that should be alike: NCCL_ALGO, NCCL_DEBUG", study.out.splitlines()[0])

    def test_a_redacted_file_tells_who_differs_without_the_values(self):
        merged = tools.merge("prof", "--redact", output="redacted.h5")
        self.assert_status(merged, tools.DONE)
        with RunFile("redacted.h5") as run:
            self.assertEqual(run.file.attrs["redacted"], 1)
            rows = [row for row in run.rows("job/env") if row["name"] == "NCCL_ALGO"]
            self.assertEqual([(row["is_set"], row["value"], row["ranks"]) for row in rows],
                             [(1, None, "ranks 0,2"), (1, None, "rank 1")])
        self.assertIn("(left out)", tools.study("env", "redacted.h5").out)
        for text in (b"mlx5_0", b"--a=1", os.getcwd().encode()):
            self.assertNotIn(text, Path("redacted.h5").read_bytes())


class Redacted(tools.OwnFolderCase):
    def test_no_trace_of_host_path_or_argument(self):
        """The file has them without --redact, and with it neither its bytes nor h5dump show them."""
        tools.require("uts", may_name_hosts(), "hosts cannot be named here")
        Path("erika/prof").mkdir(parents=True)
        env = tools.environment(JAXPROF_RANK=0, JAXPROF_WORLD_SIZE=2, JAXPROF_RUN="x", NCCL_ALGO="geheim",
                                JAXPROF_TMPDIR=Path("erika").absolute())
        job = tools.run(*in_a_host_of_its_own(tools.EXEC, "-o", "erika/prof/rank%r.%h", "--clock", "auto", "--",
                                              TICK_PUPPET, 3, 200, "sesame42"), env=env)
        self.assert_status(job, 0)
        dumps = {}
        for name, options in (("whole", ()), ("redacted", ("--redact",))):
            merged = tools.merge(Path("erika/prof").absolute(), "--allow-partial", *options, output=f"{name}.h5")
            self.assert_status(merged, tools.DONE)
            dump = subprocess.run(["h5dump", f"{name}.h5"], capture_output=True, text=True, check=True).stdout
            dumps[name] = dump.encode() + Path(f"{name}.h5").read_bytes()
        for text in ("dachs", "zoo.example", "erika", "sesame42", "geheim", str(tools.BIN)):
            self.assertIn(text.encode(), dumps["whole"], "or the test shows nothing")
            self.assertNotIn(text.encode(), dumps["redacted"], text)
        with RunFile("redacted.h5") as run:
            self.assertEqual(run.file.attrs["cmdline"], "tick_puppet")
            self.assertEqual([row["host"] for row in run.rows("job/nodes")], ["node0"])
            self.assertEqual([row["host"] for row in run.rows("job/tasks")], ["node0", None])
            self.assertEqual([row["spool"] for row in run.rows("job/processes")], ["rank0.node0.jxspool"])


if __name__ == "__main__":
    tools.require("mpi", shutil.which("mpirun") is not None, "no mpirun")
    unittest.main()
