#!/usr/bin/env python3
"""A whole job over six nodes whose raw clocks are hours apart and run at rates of their own, against the truth: every
recorded event is on the axis where it was, within the bound that the file states, and its time leads back to the raw clock
that the puppet read. JAXPROF_FULL=1, as tests/run.sh --full sets it, takes a minute.
"""

import unittest

import network_nodes
from skewed_job import CONVERSION_NS, IS_LONG, MOST_WRONG_NS, SkewedJobCase

INVERSE_NS = 1000


class Chain(SkewedJobCase):
    SECONDS = 60 if IS_LONG else 14

    def setUp(self):
        self.clocks = self.run_file.rows("clock/nodes")

    def test_every_event_is_recorded_and_no_job_noticed(self):
        self.assert_all_recorded()
        for ended in self.ended:
            self.assertEqual(ended.out, "")
        self.assertLessEqual(sum(len(ended.lines_of_jaxprof()) for ended in self.ended), 2, "\n".join(map(str, self.ended)))

    def test_all_nodes_were_compared_by_probes(self):
        methods = [row["method"] for row in self.clocks]
        self.assertEqual(methods, ["reference"] + ["udp_kernel_stamps"] * (self.N_NODES - 1), self.merged)
        for row in self.clocks[1:]:
            self.assertLess(row["bound_ns"], 1_000_000)
            self.assertLess(row["sigma_ns"], row["bound_ns"])
            self.assertEqual(row["is_contradicted"], 0)

    def test_every_event_is_where_it_was(self):
        print(self.summary())
        self.assert_right(self.all_marks(), MOST_WRONG_NS)

    def test_every_event_is_within_the_bound_of_its_node(self):
        self.assert_bounds_hold(self.all_marks())

    def test_differences_between_nodes_are_right(self):
        # Marks of one number are made at about one time.
        for first, *others in zip(*self.truth.marks.values()):
            for other in others:
                slack = first.most_ns - first.least_ns + other.most_ns - other.least_ns
                truly = (other.least_ns + other.most_ns - first.least_ns - first.most_ns) / 2
                wrong_ns = abs(other.time_ns - first.time_ns - truly) - slack / 2
                self.assertLessEqual(wrong_ns, MOST_WRONG_NS)
                bound_ns = sum(max(-mark.stated.lo, mark.stated.hi) for mark in (first, other))
                self.assertLessEqual(wrong_ns, bound_ns + 2 * CONVERSION_NS)

    def test_likely_errors_are_likely(self):
        for host, marks in self.truth.marks.items():
            narrow = [mark for mark in marks if mark.is_narrow]
            self.assertGreater(len(narrow), len(marks) / 5, self.summary())
            unlikely = [mark for mark in narrow if abs(self.off_ns(mark)) > 3 * mark.stated.sigma + CONVERSION_NS]
            self.assertLessEqual(len(unlikely), 0.05 * len(narrow), f"{host}: {self.summary()}")

    def test_a_time_leads_back_to_the_raw_clock(self):
        for mark in self.all_marks():
            self.assertGreaterEqual(mark.raw_ns, mark.tick.raw_before - INVERSE_NS, mark.host)
            self.assertLessEqual(mark.raw_ns, mark.tick.raw_after + INVERSE_NS, mark.host)

    def test_the_axis_is_the_wall_clock_of_the_reference(self):
        # All nodes have this machine's.
        for row in self.clocks:
            self.assertLessEqual(abs(row["wall_offset_ns"]), row["bound_ns"] + MOST_WRONG_NS, row)

    def test_rates_are_those_of_the_crystals(self):
        drift = {node.name: row["drift_ppb"] for node, row in zip(self.nodes, self.clocks)}
        reference = self.truth.reference
        for node in self.nodes:
            truly = self.skews[reference].ppb - self.skews[node.name].ppb
            self.assertAlmostEqual(drift[node.name] - drift[reference], truly, delta=1000)


if __name__ == "__main__":
    network_nodes.require()
    unittest.main()
