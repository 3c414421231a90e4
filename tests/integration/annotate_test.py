#!/usr/bin/env python3
"""launcher/python/jaxprof_annotate.py: with the agent attached the run file has exactly the ranges that the program
says it made, around functions, generators, coroutines, on several threads and past errors; without a tool it is not
there. The program behaves alike either way. And the example in C++.
"""

import json
import re
import unittest
from collections import Counter, defaultdict
from pathlib import Path

import run_tools as tools
from real_programs import ANNOTATIONS, TREE, python_with_jax
from run_file import RunFile

PYTHON = python_with_jax()
JOB = (PYTHON, "-B", TREE / "tests" / "integration" / "annotate_job.py")
ALIKE_JOB = (PYTHON, "-B", TREE / "tests" / "integration" / "annotate_alike_job.py")

RUNS = ("generator", "coroutine", "async generator", "holds a step", "holds a phase")  # of a decorated generator, ...


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
            self.assertEqual(row["kind"], "start_end" if row["name"] in RUNS else "push_pop")
            least_ns = truth["at_least_ns"].pop(f"{row['name']} {row['payload']}", 0)
            self.assertGreaterEqual(row["dur_ns"], least_ns, row)
            found[str(row["tid"])].append([row["name"], row["payload"], row["depth"]])
        self.assertEqual(found.keys(), truth["ranges"].keys())
        for tid, expected in truth["ranges"].items():
            self.assertEqual(found[tid], expected)
        self.assertEqual((len(found), truth["at_least_ns"]), (5, {}))

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
        self.assertFalse(json.loads(job.out)["is_attached"])
        self.assertEqual(job.err, "jaxprof_annotate: steps and phases are not recorded: NVTX_DISABLE is set, which the "
                                  "package nvtx obeys whatever the value\n")

    def test_an_old_package_is_told(self):
        """It has domains, which it takes for disabled."""
        package, facts = Path("old/nvtx"), Path("old/nvtx-0.2.12.dist-info")
        package.mkdir(parents=True)
        facts.mkdir()
        (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: nvtx\nVersion: 0.2.12\n")
        (package / "__init__.py").write_text("class Domain:\n    pass\n\n"
                                             "enabled, get_domain = lambda: True, lambda name: None\n")
        env = environment()
        env["PYTHONPATH"] = f"old:{env['PYTHONPATH']}"
        for is_profiled, said in ((False, 0), (True, 1)):
            job = tools.run(*((tools.EXEC, "--quiet", "-o", "prof/rank", "--") if is_profiled else ()),
                            PYTHON, "-c", "import jaxprof_annotate", env=env)
            self.assert_status(job, 0)
            line = "steps and phases are not recorded: nvtx 0.2.12 is too old; install nvtx 0.2.13 or newer"
            self.assertEqual(job.err.count(line), said, str(job))

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
        other = tools.run(tools.EXEC, "--quiet", "-o", "prof/rank", "--", *JOB, "no-nvtx", env=environment(RANK="3"))
        self.assertEqual((other.status, other.err), (0, ""), "rank 0 says it for all")

    def test_what_cannot_be_replaced_stays_as_it_is(self):
        """A parameter that no Python source could name."""
        program = ("from jaxprof_annotate import annotate\n"
                   "function = lambda value: value + 1\n"
                   "function.__code__ = function.__code__.replace(co_varnames=('.0',))\n"
                   "decorated = annotate('add')(function)\n"
                   "print(decorated(41), decorated is function)")
        job = tools.run(tools.EXEC, "--quiet", "-o", "prof/rank", "--", PYTHON, "-c", program, env=environment())
        self.assertEqual((job.status, job.out), (0, "42 True\n"), str(job))
        self.assertRegex(job.err, r"^jaxprof_annotate: calls of <function .*> are not recorded: SyntaxError: [^\n]*\n$")

    def test_a_broken_package_without_stderr_is_no_error(self):
        for words in (["broken-nvtx"], ["broken-nvtx", "full"]):
            job = tools.run(tools.EXEC, "--quiet", "-o", "prof/rank", "--", *JOB, *words, env=environment())
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
