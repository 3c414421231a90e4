#!/usr/bin/env python3
"""launcher/python/jaxprof_annotate.py: with the agent attached the run file has exactly the ranges that the program
says it made, around functions, generators, coroutines, on several threads and past errors; without a tool it is not
there. The program behaves alike either way. And the example in C++.
"""

import json
import re
import unittest
from collections import Counter, defaultdict

import run_tools as tools
from real_programs import ANNOTATIONS, TREE, python_with_jax
from run_file import RunFile

PYTHON = python_with_jax()
JOB = (PYTHON, "-B", TREE / "tests" / "integration" / "annotate_job.py")
ALIKE_JOB = (PYTHON, "-B", TREE / "tests" / "integration" / "annotate_alike_job.py")


def environment(**changes):
    return tools.environment(PYTHONPATH=ANNOTATIONS, NVTX_INJECTION64_PATH=None, **changes)


class Annotate(tools.OwnFolderCase):
    def profile(self, *words, env=None):
        job = tools.run(tools.EXEC, "-o", "prof/rank", "--", *words, env=env or environment())
        self.assert_status(job, 0)
        self.assert_status(tools.merge("prof"), tools.DONE)
        return job

    def test_every_range_is_there(self):
        job = self.profile(*JOB, "ranges")
        truth = json.loads(job.out)
        self.assertTrue(truth["is_attached"])
        self.assertEqual(len(job.lines_of_jaxprof()), 2, str(job))
        with RunFile("run.h5") as run:
            rows = [row for row in run.rows("events/nvtx") if row["domain"] == "jaxprof"]
        found = defaultdict(list)
        for row in rows:
            self.assertEqual(row["kind"], "push_pop")
            self.assertIsNotNone(row["dur_ns"], row)
            found[str(row["tid"])].append([row["name"], row["payload"], row["depth"]])
        self.assertEqual(found.keys(), truth["ranges"].keys())
        for tid, expected in truth["ranges"].items():
            self.assertEqual(found[tid], expected)
        self.assertEqual(len(found), 5)

    def test_a_tool_changes_nothing_that_a_program_sees(self):
        alone = tools.run(*ALIKE_JOB, env=environment(JAX_PLATFORMS="cpu"))
        self.assert_status(alone, 0)
        profiled = self.profile(*ALIKE_JOB, env=environment(JAX_PLATFORMS="cpu"))
        expected, found = json.loads(alone.out), json.loads(profiled.out)
        self.assertEqual((expected["is_attached"], found["is_attached"]), (False, True))
        self.assertEqual(found["seen"].keys(), expected["seen"].keys())
        for what, values in expected["seen"].items():
            self.assertEqual(found["seen"][what], values, what)
            if what.startswith("refused: "):
                self.assertIn("TypeError: annotate marks functions", values[0], what)
        with RunFile("run.h5") as run:
            names = Counter(row["name"] for row in run.rows("events/nvtx") if row["domain"] == "jaxprof")
        self.assertEqual(names, Counter(expected["runs"]))

    def test_without_a_tool_functions_stay_themselves(self):
        job = tools.run(*JOB, "identity", env=environment())
        self.assert_status(job, 0)
        self.assertEqual((json.loads(job.out)["is_attached"], job.err), (False, ""))

    def test_nvtx_may_be_switched_off(self):
        job = tools.run(tools.EXEC, "--quiet", "-o", "prof/rank", "--", *JOB, "identity",
                        env=environment(NVTX_DISABLE="1"))
        self.assert_status(job, 0)
        self.assertEqual((json.loads(job.out)["is_attached"], job.err), (False, ""))

    def test_without_the_package_a_profiled_program_says_so_once(self):
        alone = tools.run(*JOB, "no-nvtx", env=environment())
        self.assert_status(alone, 0)
        self.assertEqual(alone.err, "")
        job = tools.run(tools.EXEC, "--quiet", "-o", "prof/rank", "--", *JOB, "no-nvtx", env=environment())
        self.assert_status(job, 0)
        self.assertFalse(json.loads(job.out)["is_attached"])
        line, = job.err.splitlines()
        self.assertTrue(line.startswith("jaxprof_annotate: steps and phases are not recorded: "), line)
        self.assertIn(f"into {PYTHON}", line)

    def test_a_broken_package_without_stderr_is_no_error(self):
        job = tools.run(tools.EXEC, "--quiet", "-o", "prof/rank", "--", *JOB, "broken-nvtx", env=environment())
        self.assert_status(job, 0)
        self.assertEqual((json.loads(job.out)["is_attached"], job.err), (False, ""))


class CppExample(tools.OwnFolderCase):
    """slurm/examples/annotate.cpp: the same marks from C++."""

    def test_its_steps_and_phases(self):
        job = tools.run(tools.EXEC, "-o", "prof/rank", "--", tools.BIN / "annotate_example", "6")
        self.assert_status(job, 0)
        self.assert_status(tools.merge("prof"), tools.DONE)
        with RunFile("run.h5") as run:
            rows, (steps,) = run.rows("events/nvtx"), run.steps_by_process()
        self.assertEqual({(row["domain"], row["kind"]) for row in rows}, {("jaxprof", "push_pop")})
        self.assertEqual([(row["step"], row["source"]) for row in steps], [(number, "payload") for number in range(6)])
        phases = [(row["name"], rows[row["parent"]]["payload"]) for row in rows if row["name"] != "step"]
        self.assertEqual(phases, [(name, number) for number in range(6) for name in ("load", "train")])
        seconds = float(re.search(r"^loop ([0-9.]+) s, 6 steps$", job.out, re.M)[1])
        covered = sum(row["dur_ns"] for row in steps) / 1e9
        self.assertTrue(0 < covered <= 1.001 * seconds, f"{covered} s in steps, {seconds} s in the loop")


if __name__ == "__main__":
    unittest.main()
