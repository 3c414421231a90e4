#!/usr/bin/env python3
"""Nodes whose raw clocks differ by hours and run at different rates, in a real Slurm job: the run file has the arrivals of
their ranks as the puppets themselves logged them, within the bound that it states, in every instance. Where the network
drops the probes the job does not notice, and the run file says what its times are worth.
"""

import shutil
import statistics
import unittest

import observed_nodes as nodes
import run_tools as tools
import skewed_nodes
from run_file import RunFile
from skewed_nodes import Skew
from truth_log import TruthLog

N_RANKS = 4
SKEWS = {"n1": Skew(7_200_000_000_123, 50_000), "n2": Skew(911_000_000_456, -50_000)}
# Rank 3 is late at every call, so that there is somebody to find; with it the job takes about eight seconds.
CERTAIN = 16  # of an instance's flags
LATE_MS = 30
PUPPET = (tools.NCCL_PUPPET, "--log", "log.%r", "--ops", "allreduce,allgather", "--sizes", "1K", "--iterations", "130",
          "--late", f"3:{LATE_MS}")
# From the puppet's first stamp of a call to NCCL's own range in it, and from there to the second: a stamp of ours is
# between the two, but both were converted by pairs of readings.
CONVERSION_NS = 500


def job(*options, env=None):
    return tools.srun(tools.EXEC, "-o", "prof/rank%r", *options, "--", *PUPPET,
                      env=env or skewed_nodes.environment(SKEWS))


class SkewedClocks(tools.FolderCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.job = job()
        cls.skews = {node: skewed_nodes.in_namespace(skew, nodes.on_node(node, "cat", "/proc/self/timens_offsets").out)
                     for node, skew in SKEWS.items()}
        cls.merged = tools.merge("prof")
        assert cls.job.status == 0 and cls.merged.status == 0, f"{cls.job}\n{cls.merged}"
        cls.truths = {rank: TruthLog(f"log.{rank}") for rank in range(N_RANKS)}
        cls.run_file = RunFile("run.h5")
        cls.clocks = cls.run_file.rows("clock/nodes")
        cls.rows = cls.run_file.rows("events/nccl")
        cls.instances = cls.run_file.rows("collectives")
        cls.hosts = [row["host"] for row in cls.run_file.rows("job/nodes")]
        cls.processes = cls.run_file.rows("job/processes")

    @classmethod
    def tearDownClass(cls):
        cls.run_file.close()
        super().tearDownClass()

    def skew_of_rank(self, rank):
        process = next(row for row in self.processes if row["rank"] == rank)
        return self.skews[self.hosts[process["node"]]]

    def test_the_nodes_were_compared_by_probes(self):
        self.assertEqual({row["method"] for row in self.clocks}, {"reference", "udp_kernel_stamps"}, self.clocks)
        other = next(row for row in self.clocks if row["method"] != "reference")
        self.assertLess(other["bound_ns"], 100_000)
        self.assertLess(other["sigma_ns"], other["bound_ns"])

    def test_rates_are_those_of_the_crystals(self):
        # The axis follows the reference's wall clock, whose own rate cancels in the difference.
        drift = {self.hosts[row["node"]]: row["drift_ppb"] for row in self.clocks}
        self.assertAlmostEqual(drift["n2"] - drift["n1"], SKEWS["n1"].ppb - SKEWS["n2"].ppb, delta=1000)

    def test_wall_clocks_that_are_one_are_found_to_be(self):
        for row in self.clocks:
            self.assertLessEqual(abs(row["wall_offset_ns"]), row["bound_ns"] + 20_000, row)

    def true_calls(self):
        """{(comm, function, ordinal): {rank: (before, after)}} on the machine's raw clock."""
        calls = {}
        for rank, truth in self.truths.items():
            skew = self.skew_of_rank(rank)
            for call in truth.calls:
                key = call["comm"], call["function"], call["n_call"]
                calls.setdefault(key, {})[rank] = (skew.true_raw_ns(call["before_raw_ns"]),
                                                   skew.true_raw_ns(call["after_raw_ns"]))
        return calls

    def rows_by_key(self):
        comms, counts, found = self.run_file.rows("comms"), {}, {}
        offsets = self.run_file.offsets("events/nccl/process_offset")
        for process, begin, end in zip(self.processes, offsets, offsets[1:]):
            for row in self.rows[begin:end]:
                name = process["rank"], comms[row["comm"]]["hash"], row["coll"]
                ordinal = counts[name] = counts.get(name, -1) + 1
                found.setdefault((*name[1:], ordinal), {})[process["rank"]] = row
        return found

    def test_every_arrival_is_where_the_puppets_had_it_within_the_stated_bound(self):
        truth, rows = self.true_calls(), self.rows_by_key()
        self.assertEqual(set(truth), set(rows))
        self.assertEqual(len(self.instances), len(truth))
        errors, certain = [], 0
        for key, members in rows.items():
            instance = self.instances[next(iter(members.values()))["instance"]]
            self.assertEqual(set(members), set(truth[key]))
            self.assertGreater(instance["clock_bound_ns"], 0)
            for a in members:
                for b in members:
                    if self.skew_of_rank(a) == self.skew_of_rank(b):
                        continue
                    measured = members[a]["enqueue_ns"] - members[b]["enqueue_ns"]
                    least = truth[key][a][0] - truth[key][b][1]
                    most = truth[key][a][1] - truth[key][b][0]
                    slack = instance["clock_bound_ns"] + CONVERSION_NS
                    self.assertTrue(least - slack <= measured <= most + slack,
                                    f"{key}: ranks {a}, {b}: {measured} not in [{least}, {most}] +- {slack}")
                    errors.append(measured - (least + most) / 2)
            certain += instance["flags"] & CERTAIN != 0
        # The middle of a call is not quite where the stamp is, but alike on all ranks.
        self.assertLess(abs(statistics.median(errors)), 10_000)
        self.assertGreater(certain, len(truth) * 0.9, "the late rank is later than the clocks can be wrong")

    def test_the_late_rank_is_as_late_as_it_was(self):
        last = [instance["last_member"] for instance in self.instances]
        self.assertGreater(last.count(3), len(last) * 0.9)
        spreads = [i["last_enqueue_ns"] - i["first_enqueue_ns"] for i in self.instances]
        self.assertAlmostEqual(statistics.median(spreads) / 1e6, LATE_MS, delta=LATE_MS / 4)

    def test_the_study_says_how_well_times_compare(self):
        table = tools.study("clock", "run.h5")
        self.assertEqual(table.status, 0, table)
        self.assertIn("times of different nodes compare within", table.out)
        self.assertIn("udp_kernel_stamps", table.out)
        self.assertIn("probes, stamped by the kernels, sigma", self.merged.out)

    def test_collectives_agree_with_the_clocks(self):
        audit, = self.run_file.rows("clock/audit")
        self.assertIn(audit["n_violations"], (0, None))


class DroppedProbes(tools.FolderCase):
    """One node's UDP is dropped by its firewall."""

    def test_the_job_does_not_notice_and_the_file_says_so(self):
        tools.require("nft", shutil.which("nft"), "there is no nft")
        for words in (("add", "table", "inet", "jaxprof_test"),
                      ("add", "chain", "inet", "jaxprof_test", "in", "{ type filter hook input priority 0; }"),
                      ("add", "rule", "inet", "jaxprof_test", "in", "udp", "dport", "1024-65535", "drop")):
            made = nodes.on_node("n2", "nft", *words)
            tools.require("nft", made.status == 0, f"the kernel has no nftables: {made.err}")
        self.addCleanup(nodes.on_node, "n2", "nft", "delete", "table", "inet", "jaxprof_test")
        ended = job()
        self.assertEqual(ended.status, 0, ended)
        merged = tools.merge("prof")
        self.assertEqual(merged.status, 0, merged)
        run = RunFile("run.h5")
        self.addCleanup(run.close)
        methods = [row["method"] for row in run.rows("clock/nodes")]
        self.assertEqual(methods[0], "reference")
        self.assertIn(methods[1], ("wall_clock", "wall_clock_unknown"))
        self.assertIn("cannot be compared", merged.out)
        self.assertIn("no answer from 1 of 1 nodes", merged.out)
        self.assertEqual(len(run.rows("collectives")), 260)


if __name__ == "__main__":
    unittest.main()
