#!/usr/bin/env python3
"""Eight nodes, and one link between two of them whose one direction takes longer: no exchange on that link can show it, but
the others can. The link is flagged and named, and moves no node's clock. The longer way is a relay (delay_relay.cpp)
through which both nodes route each other's address alone.
"""

import os
import select
import subprocess
import unittest
from pathlib import Path

import network_nodes
import run_tools as tools
from skewed_job import SkewedJobCase

RELAY_NUMBER = 100
DEVICE = "slow0"
DELAY_NS = 40_000
# The link's own error is half of the difference between its ways. Beside the delay those differ by what the relay's
# wake-ups take, on a machine that has other things to do.
LEAST_RESIDUAL_NS, MOST_RESIDUAL_NS = DELAY_NS / 2 * 0.6, DELAY_NS / 2 * 2
MOST_WRONG_NS = 3000


def settings(node, values):
    for name, value in values.items():
        node.run("sh", "-c", f"echo {value} >/proc/sys/net/ipv4/{name}")


class OneSlowDirection(SkewedJobCase):
    N_NODES = 8
    SECONDS = 16
    # Which nodes ask which is drawn by boot ids and the run's name: these two do. Neither is the reference.
    LINK = "n3", "n6"

    @classmethod
    def prepare(cls):
        a, b = (next(node for node in cls.nodes if node.name == name) for name in cls.LINK)
        cls.relay_node = network_nodes.Node(cls.switch, RELAY_NUMBER, "relay")
        cls.addClassCleanup(cls.relay_node.remove)
        relay = cls.relay_node
        settings(relay, {"ip_forward": 1, "conf/all/rp_filter": 0, "conf/eth0/rp_filter": 0, "conf/all/send_redirects": 0,
                         "conf/eth0/send_redirects": 0})
        cls.relay = subprocess.Popen(["ip", "netns", "exec", relay.netns, tools.BIN / "delay_relay", DEVICE, b.address,
                                      str(DELAY_NS)], stdout=subprocess.PIPE)
        cls.addClassCleanup(cls.end_relay)
        ready, _, _ = select.select([cls.relay.stdout], [], [], tools.LIMIT_SECONDS)
        assert ready and cls.relay.stdout.readline() == b"ready\n"
        settings(relay, {f"conf/{DEVICE}/rp_filter": 0})
        relay.run("ip", "link", "set", DEVICE, "up")
        relay.run("ip", "rule", "add", "iif", "eth0", "lookup", "100")
        relay.run("ip", "route", "add", "default", "dev", DEVICE, "table", "100")
        a.run("ip", "route", "add", f"{b.address}/32", "via", relay.address)
        b.run("ip", "route", "add", f"{a.address}/32", "via", relay.address)

    @classmethod
    def end_relay(cls):
        cls.relay.kill()
        cls.relay.wait()
        cls.relay.stdout.close()

    def link_rows(self):
        names = [node.name for node in self.nodes]
        return {(names[row["a"]], names[row["b"]]): row for row in self.run_file.rows("clock/links")}

    def test_the_link_is_flagged_and_named(self):
        links = self.link_rows()
        for names, row in links.items():
            print(*names, f"residual {row['residual_ns']:.0f} ns, floor {row['floor_rtt_ns']:.0f} ns, "
                  f"{row['n_bursts']} bursts, {row['n_answered']} of {row['n_sent']}, flagged {row['is_flagged']}")
        self.assertIn(self.LINK, links, "the two nodes did not draw each other")
        slow = links[self.LINK]
        self.assertGreater(slow["n_answered"], 0.9 * slow["n_sent"])
        self.assertGreater(slow["floor_rtt_ns"], DELAY_NS)
        self.assertEqual([names for names, row in links.items() if row["is_flagged"]], [self.LINK])
        self.assertGreater(abs(slow["residual_ns"]), LEAST_RESIDUAL_NS)
        self.assertLess(abs(slow["residual_ns"]), MOST_RESIDUAL_NS)
        told, = self.run_file.diagnostics("clock.flagged")
        self.assertIn(" <-> ".join(self.LINK), told["text"])
        study = tools.study("clock", "run.h5")
        self.assertIn(f"finding: link {' <-> '.join(self.LINK)} is asymmetric by", study.out)

    def test_no_node_is_moved_by_it(self):
        print(self.summary())
        self.assert_all_recorded()
        self.assert_right(self.all_marks(), MOST_WRONG_NS)
        self.assert_bounds_hold(self.all_marks())
        narrow = [mark for mark in self.all_marks() if mark.is_narrow]
        self.assertLessEqual(max(abs(self.off_ns(mark)) for mark in narrow), MOST_WRONG_NS)


if __name__ == "__main__":
    network_nodes.require()
    tools.require("tun", Path("/dev/net/tun").exists() and os.access("/dev/net/tun", os.W_OK), "there is no /dev/net/tun")
    unittest.main()
