#!/usr/bin/env python3
"""jaxprof-study audit over many merged runs of training jobs that never ran: a node whose GPUs are slower in all of them is
named, and among sound nodes nobody is.
"""

import json
import multiprocessing
import os
import shutil
import unittest

import run_tools as tools

N_RUNS, N_NODES, N_STEPS, SLOW_FACTOR = 8, 4, 20, 1.3
SLOW_NODE = 2
ALL_AGREE_P = 2 / 2**N_RUNS  # of the two-sided sign test, where all runs agree


def make_run(job):
    """(name, seed, options) to the run file's name."""
    name, seed, options = job
    directory, run_file = f"{name}.{seed}", f"{name}.{seed}.h5"
    generated = tools.run(tools.BIN / "synthetic_run", directory, "--training", "--processes", 2 * N_NODES, "--nodes",
                          N_NODES, "--steps", N_STEPS, "--counters", "--clocks", "--threads", 1, "--seed", seed, *options)
    assert generated.status == tools.DONE, generated
    merged = tools.merge(directory, output=run_file)
    assert merged.status == tools.DONE, merged
    shutil.rmtree(directory)
    return run_file


class Audit(tools.FolderCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        slow = ("--slow", f"slow-kernels:node{SLOW_NODE}:{SLOW_FACTOR}")
        jobs = [(name, seed, options) for name, options in (("slow", slow), ("clean", ()))
                for seed in range(1, N_RUNS + 1)]
        with multiprocessing.Pool(os.cpu_count()) as pool:
            files = pool.map(make_run, jobs, chunksize=1)
        cls.slow, cls.clean = files[:N_RUNS], files[N_RUNS:]

    def audit(self, run_files, *options, status=tools.DONE):
        ended = tools.run(tools.BIN / "jaxprof-study", "audit", *run_files, "--format", "json", *options)
        self.assert_status(ended, status)
        return json.loads(ended.out)

    def test_the_slow_node_is_named_and_no_other(self):
        table = self.audit(self.slow)
        self.assertRegex(table["verdict"], "^slow: [^;]+$")  # one
        rows = table["rows"]
        self.assertEqual([(row["runs"], row["gpu_runs"]) for row in rows], [(N_RUNS, N_RUNS)] * N_NODES)
        worst = rows[0]
        self.assertTrue(worst["node"].endswith(str(SLOW_NODE)), rows)
        self.assertIn(worst["slow"], ("gpu", "own"))
        self.assertEqual([row["slow"] for row in rows[1:]], [None] * (N_NODES - 1))
        # Kernels take 1.3 times as long as on the others, so the score is 1 / 1.3, but for their noise of 1 %.
        self.assertAlmostEqual(worst["gpu_score"], 1 / SLOW_FACTOR, delta=0.02)
        self.assertEqual(worst["gpu_slower"], N_RUNS)
        self.assertAlmostEqual(worst["gpu_p"], ALL_AGREE_P)
        self.assertEqual(worst["last_share"], max(row["last_share"] for row in rows))
        self.assertGreater(worst["blame_share"], 0.5)
        for row in rows[1:]:
            self.assertAlmostEqual(row["gpu_score"], 1, delta=0.02)

    def test_among_sound_nodes_nobody_is(self):
        table = self.audit(self.clean)
        self.assertEqual(table["verdict"], f"no node is slow over {N_RUNS} runs")
        self.assertEqual([row["slow"] for row in table["rows"]], [None] * N_NODES)

    def test_one_run_less_is_too_few_to_name_one(self):
        table = self.audit(self.slow[1:])
        self.assertEqual(table["verdict"], f"no node is slow over {N_RUNS - 1} runs; it takes {N_RUNS} runs to name one")

    def test_half_of_the_runs_are_no_sign(self):
        # A node that became slow is not slow over all: its score is, by the sign test, as often better as worse.
        half = N_RUNS // 2
        table = self.audit(self.slow[:half] + self.clean[half:])
        self.assertIn("no node is slow", table["verdict"])

    def test_a_finding_fails_where_that_is_asked_for(self):
        self.audit(self.slow, "--fail-on", "warning", status=1)
        self.audit(self.clean, "--fail-on", "warning")

    def test_each_run_and_node_has_a_row(self):
        rows = self.audit(self.slow + self.clean, "--by", "run")["rows"]
        self.assertEqual(sorted((row["run_file"], row["node"][-1]) for row in rows),
                         sorted((file, str(node)) for file in self.slow + self.clean for node in range(N_NODES)))
        for row in rows:
            is_slow = row["run_file"] in self.slow and row["node"].endswith(str(SLOW_NODE))
            self.assertEqual(row["gpu_score"] < 0.9, is_slow, row)

    def test_a_file_that_cannot_be_read_is_told_and_left_out(self):
        with open("torn.h5", "wb") as torn, open(self.slow[0], "rb") as whole:
            torn.write(whole.read(10_000))
        table = self.audit(self.slow + ["torn.h5"])
        self.assertIn("torn.h5", table["notes"][0])
        self.assertTrue(table["rows"][0]["node"].endswith(str(SLOW_NODE)))


if __name__ == "__main__":
    unittest.main()
