#!/usr/bin/env python3
"""Do the counts that nvtx_puppet prints agree with what an NVTX tool is told?

Runs nvtx_puppet with nvtx_recorder as its tool and compares, call by call kind, domain and thread. Arguments: the
puppet, the recorder library.
"""

import collections
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from recording import number, of_kind, read

PUPPET, NVTX = None, None
COUNTED = ("push", "pop", "mark", "start", "end", "string", "domain", "domain_destroy", "category", "thread", "schema",
           "resource", "resource_destroy", "enum", "push_payload", "pop_payload", "mark_payload", "start_payload",
           "end_payload")
SCENARIOS = ("default", "domains", "nested", "startend", "marks", "payloads", "resources", "schema", "burst")


class NvtxPuppet(unittest.TestCase):
    def run_puppet(self, *options, expected_status=0, environment=None):
        """(the JSON objects, the recorder's records)"""
        folder = tempfile.TemporaryDirectory(prefix="nvtx_puppet.")
        self.addCleanup(folder.cleanup)
        recording, out = pathlib.Path(folder.name) / "nvtx", pathlib.Path(folder.name) / "out"
        variables = os.environ | {"NVTX_INJECTION64_PATH": NVTX, "NVTX_RECORDER_FILE": str(recording)}
        result = subprocess.run([PUPPET, "--out", str(out), *options], env=variables | (environment or {}),
                                capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(result.returncode, expected_status, result.stderr)
        return [json.loads(line) for line in out.read_text().splitlines()], read(recording)

    def recorded_counts(self, records):
        """{(domain name, thread, kind): count}; two domains of one name are one."""
        names = {"0x0": ""} | {r["handle"]: r["name"] for r in of_kind(records, "domain")}
        counts = collections.Counter()
        for record in of_kind(records, *COUNTED):
            domain = names[record["handle"]] if record["what"] == "domain" else names[record.get("domain", "0x0")]
            counts[domain, record["tid"], record["what"]] += 1
        return counts

    def told_counts(self, truth):
        return {(c["domain"], str(c["tid"]), c["kind"]): c["count"] for c in truth["counts"]}

    def test_each_scenario_counts_what_it_emits(self):
        for scenario in SCENARIOS:
            with self.subTest(scenario):
                (truth,), records = self.run_puppet("--scenarios", scenario, "--burst", "2000")
                self.assertNotEqual(truth["counts"], [])
                self.assertEqual(self.told_counts(truth), self.recorded_counts(records))

    def test_all_scenarios_together(self):
        (truth,), records = self.run_puppet("--burst", "100", "--threads", "7")
        self.assertEqual(self.told_counts(truth), self.recorded_counts(records))
        totals = collections.Counter()
        for (_, _, kind), count in self.told_counts(truth).items():
            totals[kind] += count
        self.assertEqual(totals["push"], totals["pop"])
        self.assertEqual(totals["start"], totals["end"])
        self.assertEqual(len({c["tid"] for c in truth["counts"] if c["domain"] == "nested"} - {truth["pid"]}), 7)

    def test_the_names_are_the_recorded_ones(self):
        (truth,), records = self.run_puppet("--burst", "1")
        told = sorted(n["text"] for n in truth["names"] if n["kind"] != "string" and n["kind"] != "resource")
        self.assertEqual(told, sorted(r["name"] for r in of_kind(records, "category", "thread")))
        told = sorted(n["text"] for n in truth["names"] if n["kind"] == "string" and n["text"].isascii())
        self.assertEqual(told, sorted(r["text"] for r in of_kind(records, "string") if "U+" not in r["text"]))
        threads = {str(n["number"]) for n in truth["names"] if n["kind"] == "thread"}
        self.assertEqual(threads, {r["tid"] for r in of_kind(records, "thread")})

    def test_payloads_arrive_bit_by_bit(self):
        (truth,), records = self.run_puppet("--scenarios", "payloads")
        recorded = [(number(r, "payload_type"), number(r, "payload")) for r in of_kind(records, "push", "mark")]
        self.assertEqual([(p["type"], p["bits"]) for p in truth["payloads"]], recorded)
        self.assertEqual({p["type"] for p in truth["payloads"]}, {1, 2, 3, 4, 5, 6})

    def test_the_schema_describes_the_bytes(self):
        _, records = self.run_puppet("--scenarios", "schema")
        schema = of_kind(records, "schema")[0]
        names = [schema[f"entry{i}"].split(":", 1)[1] for i in range(number(schema, "n_entries"))]
        self.assertEqual(names, ["message", "small", "medium", "color", "bytes", "seconds", "label", "ratio"])
        offset = int(schema["entry4"].split("@")[1].split("/")[0])
        values = [int.from_bytes(bytes.fromhex(r["bytes0"])[offset:offset + 8], "little")
                  for r in of_kind(records, "push_payload")]
        self.assertEqual(values, [i << 40 for i in range(10)])
        self.assertEqual({r["n_payloads"] for r in of_kind(records, "mark_payload")}, {"2"})

    def test_a_forked_child_and_a_new_image_report_for_themselves(self):
        truths, records = self.run_puppet("--scenarios", "marks", "--fork", "yes", "--exec", "yes")
        self.assertEqual([t["image"] for t in truths], [0, 0, 1])
        child, parent, image = truths
        self.assertEqual((child["parent"], image["pid"]), (parent["pid"], parent["pid"]))
        for domain, truth in (("child", child), ("parent after fork", parent), ("image 1", image)):
            pushes = [r for r in of_kind(records, "push") if r["pid"] == str(truth["pid"])
                      and any(d["handle"] == r["domain"] and d["name"] == domain and d["pid"] == r["pid"]
                              for d in of_kind(records, "domain"))]
            told = sum(c["count"] for c in truth["counts"] if (c["domain"], c["kind"]) == (domain, "push"))
            self.assertEqual((told, len(pushes)), (10, 10), domain)

    def test_every_way_to_exit(self):
        for way, status in (("return", 0), ("exit", 0), ("_exit", 0), ("abort", -signal.SIGABRT),
                            ("kill", -signal.SIGKILL)):
            with self.subTest(way):
                (truth,), records = self.run_puppet("--scenarios", "marks", "--exit", way, expected_status=status)
                self.assertEqual(self.told_counts(truth), self.recorded_counts(records))

    def test_without_the_payload_extension_the_rest_arrives(self):
        (truth,), records = self.run_puppet("--burst", "1", environment={"NVTX_RECORDER_NO_EXTENSION": "1"})
        told = {key: count for key, count in self.told_counts(truth).items()
                if key[2] not in ("schema", "enum") and not key[2].endswith("_payload")}
        self.assertEqual(told, self.recorded_counts(records))

    def test_it_runs_without_a_tool(self):
        result = subprocess.run([PUPPET, "--burst", "200000"], capture_output=True, text=True, timeout=60, check=False,
                                env={k: v for k, v in os.environ.items() if k != "NVTX_INJECTION64_PATH"})
        self.assertEqual(result.returncode, 0)
        counts = self.told_counts(json.loads(result.stdout))
        burst = {thread: count for (domain, thread, kind), count in counts.items() if (domain, kind) == ("burst", "push")}
        self.assertEqual(list(burst.values()), [200000] * 4)

    def test_a_wrong_option_is_refused(self):
        for words in (("--scenarios", "nested,nothing"), ("--exit", "sideways"), ("--burst", "-1"), ("--fork",)):
            result = subprocess.run([PUPPET, *words], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((result.returncode, words[0] in result.stderr), (2, True), words)


if __name__ == "__main__":
    PUPPET, NVTX = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
