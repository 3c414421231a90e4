#!/usr/bin/env python3
"""All that NVTX 3 allows, against the puppet's own count: what the run file holds must equal it exactly, and what was
lost must be counted exactly. No MPI, no launcher: jaxprof-exec before one program.
"""

import os
import struct
import unittest
from collections import Counter

import run_tools as tools
from nvtx_case import CLOSING, OPENING, NvtxCase, account, counts
from run_file import RunFile


def payload_value(type_, bits):
    """What the run file says of a basic payload, as (integer, float); NVTX_PAYLOAD_TYPE_* of nvToolsExt.h."""
    packed = struct.pack("<Q", bits)
    formats = {1: "<q", 2: "<q", 3: "<d", 4: "<I", 5: "<i", 6: "<f"}  # integers are int64, so a huge uint64 wraps
    value = struct.unpack_from(formats[type_], packed)[0]
    # the least int64 is the run file's word for "missing"
    return (None if value == -2**63 else value, None) if type_ not in (3, 6) else (None, value)


class Exactness(NvtxCase):
    def setUp(self):
        super().setUp()
        self.run_file = self.profile("--burst", "1000", "--threads", "4")
        self.rows = self.run_file.rows("events/nvtx")
        self.image, = account()

    def test_everything_that_was_emitted_is_there(self):
        self.assertEqual(self.drops(self.run_file), {})
        self.assertEqual(self.counted(self.rows), counts(self.image, OPENING))
        ended = [row for row in self.rows if row["dur_ns"] is not None and row["kind"] != "mark"]
        closed = counts(self.image, CLOSING)
        self.assertEqual(Counter((domain, kind) for domain, _, kind in self.counted(ended).elements()),
                         Counter((domain, kind) for domain, _, kind in closed.elements()))
        self.assert_names()
        self.assert_payloads()
        self.assert_nesting()

    def assert_names(self):
        names = Counter((row["domain"], row["name"]) for row in self.rows)
        for name in ("default ascii", "default wide", "default mark", "default wide mark", "default range",
                     "default wide range"):
            self.assertEqual(names[None, name], 10, name)
        self.assertEqual(names[None, "default attributes"], 30)
        for domain, times in (("alpha", 20), ("beta", 10)):
            for name in (f"{domain} registered", "plain", "wide"):
                self.assertEqual(names[domain, name], times, (domain, name))
        for name in ("straße 中", None, "x" * 5000):
            self.assertEqual(names["wide domain", name], 1)
        self.assertEqual(names["passing", "before the end"], 1)
        self.assertEqual(names["start end", "handed over 0"], 4)
        self.assertEqual(names["burst", "burst"], 4000)
        for depth in range(50):
            self.assertEqual(names["nested", f"level {depth}"], 40)
        categories = Counter(row["category"] for row in self.rows if row["domain"] == "marks")
        self.assertEqual(categories, {"seven": 5, "eight": 5})

    def assert_payloads(self):
        expected = Counter((entry["domain"], entry["message"], *payload_value(entry["type"], entry["bits"]))
                           for entry in self.image["payloads"])
        found = Counter((row["domain"], row["name"], row["payload"], row["payload_f64"]) for row in self.rows
                        if row["domain"] == "payloads")
        self.assertEqual(found, expected)

    def assert_nesting(self):
        for row in self.rows:
            if row["domain"] != "nested":
                continue
            self.assertEqual(row["depth"], int(row["name"].removeprefix("level ")))
            if row["depth"] == 0:
                self.assertIsNone(row["parent"])
                continue
            parent = self.rows[row["parent"]]
            self.assertEqual((parent["tid"], parent["depth"]), (row["tid"], row["depth"] - 1))
            self.assertLessEqual(parent["start_ns"], row["start_ns"])
            self.assertGreaterEqual(parent["start_ns"] + parent["dur_ns"], row["start_ns"] + row["dur_ns"])


class Processes(NvtxCase):
    def test_a_forked_child_is_ignored_and_counted(self):
        run = self.profile("--fork", "yes", "--scenarios", "marks")
        child, parent = sorted(account(), key=lambda image: image["counts"][0]["domain"] != "child")
        lost = sum(entry["count"] for entry in child["counts"] if entry["kind"] in ("push", "pop"))
        self.assertEqual(self.drops(run), {"forked-child": lost})
        self.assertEqual(run.rows("job/processes")[0]["pid"], parent["pid"])
        self.assertEqual(self.counted(run.rows("events/nvtx")), counts(parent, OPENING))

    def test_an_image_that_exec_starts_is_a_second_process(self):
        run = self.profile("--exec", "yes", "--scenarios", "marks")
        first, second = account()
        self.assertEqual(first["pid"], second["pid"])
        processes = run.rows("job/processes")
        self.assertEqual([(row["pid"], row["is_complete"]) for row in processes],
                         [(first["pid"], 1), (first["pid"], 1)])
        for rows, image in zip(run.rows_by_process("events/nvtx"), (first, second)):
            self.assertEqual(self.counted(rows), counts(image, OPENING))

    def assert_ends_without_goodbye(self, way, status, task):
        """The wrapper lives and saves what was still in the process's rings: nothing is lost."""
        run = self.profile("--exit", way, "--burst", "1000", status=status)
        image, = account()
        self.assertEqual(self.counted(run.rows("events/nvtx")), counts(image, OPENING))
        self.assertEqual([row["is_complete"] for row in run.rows("job/processes")], [1])
        self.assertEqual(self.drops(run), {})
        self.assertEqual([(row["exit_code"], row["signal"]) for row in run.rows("job/tasks")], [task])

    def test_underscore_exit(self):
        self.assert_ends_without_goodbye("_exit", 0, (0, None))

    def test_abort(self):
        self.assert_ends_without_goodbye("abort", -6, (134, 6))

    def test_kill(self):
        self.assert_ends_without_goodbye("kill", -9, (137, 9))

    def test_exit(self):
        run = self.profile("--exit", "exit", "--scenarios", "marks")
        self.assertEqual(self.counted(run.rows("events/nvtx")), counts(account()[0], OPENING))


class Threads(NvtxCase):
    def test_two_hundred_at_once(self):
        run = self.profile("--scenarios", "nested,burst", "--threads", "200", "--burst", "500")
        self.assertEqual(self.drops(run), {})
        self.assertEqual(self.counted(run.rows("events/nvtx")), counts(account()[0], OPENING))
        self.assertGreaterEqual(len({row["tid"] for row in run.rows("events/nvtx")}), 200)


class XlaSteps(NvtxCase):
    def test_executions_of_one_module_are_the_steps_of_each_device(self):
        run = self.profile("--scenarios", "xla", "--threads", "3", exec_options=("--step-marker", "xla:jit_train_step"))
        ranges_per_step = 3  # the module, its thunk, another module
        expected = {tid: list(range(n // ranges_per_step))
                    for (_, tid, _), n in counts(account()[0], OPENING).items()}
        self.assertEqual(len(expected), 3)
        steps = run.rows("steps")
        found = {tid: [row["step"] for row in steps if row["tid"] == tid] for tid in {row["tid"] for row in steps}}
        self.assertEqual(found, expected)
        self.assertEqual({row["source"] for row in steps}, {"xla_module"})
        self.assertTrue(all(row["dur_ns"] > 0 for row in steps))
        self.assertEqual([row["code"] for row in run.findings_about_tasks()], [])

    def test_a_module_that_never_ran_is_told_with_those_that_did(self):
        run = self.profile("--scenarios", "xla", "--threads", "1", exec_options=("--step-marker", "xla:jit_step"))
        self.assertEqual(run.rows("steps"), [])
        reason, = run.diagnostics("step.none")
        self.assertIn("others were: jit_train_step (10 times), jit_train_step_metrics (10 times)", reason["text"])
        self.assertIn(reason["text"], tools.study("summary", "run.h5").out)


class Overload(NvtxCase):
    def test_recorded_and_dropped_are_what_was_emitted(self):
        run = self.profile("--scenarios", "burst", "--burst", "150000", "--threads", "8")
        emitted = sum(entry["count"] for entry in account()[0]["counts"] if entry["kind"] in ("push", "pop"))
        drops = self.drops(run)
        self.assertEqual(set(drops) - {"ring-full"}, set())
        recorded = sum(process["n_events"] for process in run.rows("job/processes"))
        self.assertEqual(recorded + drops.get("ring-full", 0), emitted)
        self.assertEqual(tools.DONE, self.merged.status)

    def test_a_full_disk_is_told(self):
        """The job fills the disk of the spools before it calls anything: there is room for some rings, and the disk's
        reserve is soon met. The program does not notice."""
        tools.require("root", os.geteuid() == 0, "a file system of its own needs root")
        os.mkdir("node")
        script = 'mount -t tmpfs -o size=64m none node && exec "$@"'
        fill = ('free=$(df --output=avail -k node | tail -n1); head -c $(((free - 6000) * 1024)) /dev/zero >node/ballast\n'
                'exec "$@"')
        self.job = tools.run("unshare", "-m", "sh", "-c", script, "sh", tools.EXEC, "-o", "prof/rank", "--spool", "node",
                             "--", "sh", "-c", fill, "sh", tools.NVTX_PUPPET, "--scenarios", "burst", "--burst", "200000",
                             "--out", "truth.json")
        self.assert_status(self.job, 0)
        self.merged = tools.merge("prof")
        # partial if the disk took not even the footer
        self.assertIn(self.merged.status, (tools.DONE, tools.PARTIAL), str(self.merged))
        emitted = sum(entry["count"] for entry in account()[0]["counts"] if entry["kind"] in ("push", "pop"))
        with RunFile("run.h5") as run:
            lost = sum(self.drops(run).values())
            recorded = sum(process["n_events"] for process in run.rows("job/processes"))
            self.assertGreater(lost, 0)
            # blocks of registrations that were lost are counted as well
            self.assertTrue(emitted <= recorded + lost <= emitted + 20, f"{emitted} emitted, {recorded} + {lost}")


if __name__ == "__main__":
    unittest.main()
