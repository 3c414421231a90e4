#!/usr/bin/env python3
"""jaxprof-netsampler beside real RDMA devices of a real kernel, in a virtual machine: rdma_rxe with traffic, and 32
cards whose counters are known to the byte at any time (efa_stub.c).

One boot serves all tests: what happens in it is scenarios.sh, and what it left is compared here with what the kernel's
side says of itself.  Nothing is measured against the clock of a busy machine: a row says when it was read, and what a
counter was at then is known.
"""

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration"))

import guest
import guest_truth
import run_tools as tools
from guest_truth import CARDS, UNDISTURBED, UNPLUGGED, Truth
from node_spool import (CAME_BACK, LAST, LINK_DOWN, LINK_UP, NETLINK, RENAMED, RESET, RETURNED, SLOW_READS, STALE,
                        SYSFS, VANISHED, NodeSpool)

SAMPLER = os.environ.get("JAXPROF_NETSAMPLER", tools.BIN / "jaxprof-netsampler")
KERNEL, REASON = guest.kernel_folder()
tools.require("guest", KERNEL is not None, REASON)

NOBODY = 65534
MOST_HZ = 10  # for EFA: each reading is five commands on the queue that also registers memory
RATE_TOLERANCE = 0.005
# A counter that sysfs gives out may be 16 ms old by the kernel's ticks, which stand still while the host runs others.
SYSFS_AGE_NS = 1_000_000_000


def setUpModule():
    global TRUTH, SPOOLS
    work = tempfile.TemporaryDirectory(prefix="rdma_guest.", dir=os.getcwd())
    unittest.addModuleCleanup(work.cleanup)
    results = guest.boot(KERNEL, SAMPLER, Path(work.name))
    TRUTH = Truth(results)
    SPOOLS = {path.stem: NodeSpool(tools.BIN / "print_samples", path) for path in results.glob("*.spool")}


class GuestCase(unittest.TestCase):
    def assert_values_of_their_time(self, pci, port, age_ns=0):
        """Each row holds what the card had counted while the row was read."""
        is_back = pci != UNPLUGGED
        for row in port.rows:
            is_back = is_back or row.flags & RETURNED != 0
            least = TRUTH.bytes_at(pci, row.stamp_ns - age_ns, is_back)
            most = TRUTH.bytes_at(pci, row.end_ns, is_back)
            self.assertLessEqual(least, row.values["tx_bytes"], f"{pci} {row}")
            self.assertLessEqual(row.values["tx_bytes"], most, f"{pci} {row}")


    def assert_ends_at(self, port, counters):
        """The last row has what the kernel's side counted in the end; there may be columns that it does not know."""
        last = port.rows[-1].values
        self.assertEqual({name: last.get(name) for name in counters}, counters)


class AllRunsTest(GuestCase):
    def test_each_ends_well_and_leaves_a_sound_spool(self):
        self.assertEqual(set(SPOOLS), {"main", "sysfs", "container", "without_sys", "slow"})
        for name, spool in SPOOLS.items():
            self.assertEqual(TRUTH.status(name), 0, TRUTH.text(f"{name}.log"))
            self.assertEqual(spool.identity["spool_kind"], 1)

    def test_the_last_row_is_full_and_says_so(self):
        for name, spool in SPOOLS.items():
            for port in spool.all_ports():
                if port.period_ns == 0:  # an interface whose card is sampled already
                    continue
                self.assertTrue(port.rows, f"{name}: no row of {port.name}: {port.reason}")
                marks = [row.flags & LAST for row in port.rows]
                self.assertEqual(marks, [0] * (len(marks) - 1) + [LAST], f"{name} {port.name}")
                self.assertFalse(port.rows[-1].is_partial)


class MainTest(GuestCase):
    def setUp(self):
        self.ports = SPOOLS["main"].ports

    def test_the_loop_counts_its_ticks(self):
        ticks, n_rows = SPOOLS["main"].ticks[-1], sum(len(port.rows) for port in SPOOLS["main"].all_ports())
        self.assertLessEqual(ticks["ticks"] - ticks["missed"], n_rows)
        self.assertGreater(ticks["ticks"] - ticks["missed"], n_rows - 3 * len(SPOOLS["main"].all_ports()))

    def test_all_devices_are_found_with_their_properties(self):
        self.assertEqual(set(self.ports), {*CARDS, "rxe0", "rxe1"})
        for pci in CARDS:
            port = self.ports[pci]
            self.assertEqual((port.driver, port.numa, port.port, port.bits_per_s, port.netdev),
                             ("efa", 0, 1, 100_000_000_000, ""))
            self.assertEqual(port.states[0]["name"], guest_truth.name_of(pci))
            self.assertEqual(int(port.guid.replace(":", ""), 16), 0x1d0f << 48 | CARDS.index(pci))
        for i in range(2):
            port = self.ports[f"rxe{i}"]
            self.assertEqual((port.driver, port.pci, port.netdev), ("rdma_rxe", "", f"wire{i}"))

    def test_all_are_read_by_netlink(self):
        self.assertEqual({port.source for port in self.ports.values()}, {NETLINK})

    def test_each_row_holds_what_the_card_had_counted_then(self):
        for pci in CARDS:
            self.assert_values_of_their_time(pci, self.ports[pci])
            for row in self.ports[pci].rows:
                self.assertEqual(row.values["rx_bytes"], row.values["tx_bytes"] // 2, "read at once")

    def test_totals_are_exact(self):
        for pci in UNDISTURBED:
            port, last = self.ports[pci], TRUTH.counters(pci)
            self.assert_ends_at(port, last)
            for name, value in TRUTH.first_counters(pci).items():
                self.assertEqual(port.rows[0].values[name], value, f"{pci} {name}, before the traffic")
                self.assertEqual(port.total(name), last[name] - value, f"{pci} {name}")
                self.assertGreater(port.total(name), 0)

    def test_rates_are_those_of_the_cards(self):
        for pci in UNDISTURBED:
            rows = [row for row in self.ports[pci].rows if TRUTH.begin_ns < row.stamp_ns and row.end_ns < TRUTH.end_ns]
            third = len(rows) // 3
            # Those that were read quickest: a processor may be taken away in the middle of a reading.
            first, last = (min(some, key=lambda row: row.read_ns) for some in (rows[:third], rows[-third:]))
            seconds = (last.stamp_ns + last.end_ns - first.stamp_ns - first.end_ns) / 2e9
            rate = (last.values["tx_bytes"] - first.values["tx_bytes"]) / seconds
            self.assertAlmostEqual(rate / TRUTH.devices[pci]["rate"], 1, delta=RATE_TOLERANCE)

    def test_no_card_is_read_more_often_than_its_driver_can_stand(self):
        seconds, readings = TRUTH.readings("begin", "end")
        self.assertEqual(set(readings), set(CARDS))
        for pci, count in readings.items():
            self.assertLessEqual(count, seconds * MOST_HZ + 3, pci)  # those at both ends, and one that was late before the first
            self.assertGreaterEqual(self.ports[pci].states[0]["period_ns"], 1_000_000_000 // MOST_HZ)

    def test_a_card_that_was_unplugged_goes_on_from_zero(self):
        port = self.ports[UNPLUGGED]
        self.assertEqual([event for event, _ in port.happened(VANISHED, CAME_BACK)], [VANISHED, CAME_BACK])
        back = [i for i, row in enumerate(port.rows) if row.flags & RETURNED]
        self.assertEqual(len(back), 1)
        before, after = port.rows[back[0] - 1], port.rows[back[0]]
        self.assertTrue(after.flags & RESET)
        self.assertLess(after.values["tx_bytes"], before.values["tx_bytes"])
        self.assert_ends_at(port, TRUTH.counters(UNPLUGGED))

    def test_nothing_is_said_of_the_rows_of_other_cards(self):
        for pci in UNDISTURBED:
            self.assertEqual({row.flags for row in self.ports[pci].rows[:-1]}, {0}, pci)
            self.assertEqual(self.ports[pci].happened(VANISHED, CAME_BACK), [], pci)

    def test_a_new_name_is_noticed_and_the_card_stays_the_same(self):
        port = self.ports[guest_truth.RENAMED]
        self.assertEqual(port.happened(RENAMED), [(RENAMED, guest_truth.name_of(guest_truth.RENAMED))])
        self.assertEqual(port.name, guest_truth.NEW_NAME)

    def test_a_link_that_was_down_is_noticed(self):
        port = self.ports["rxe1"]
        self.assertEqual([event for event, _ in port.happened(LINK_DOWN, LINK_UP)], [LINK_DOWN, LINK_UP])
        self.assertEqual({state["is_active"] for state in port.states}, {True, False})
        self.assertTrue(port.is_active)

    def test_rdma_traffic_is_counted_as_the_kernel_counts_it(self):
        for program, device in (("pingpong", "rxe0"), ("write_bw", "rxe1")):
            self.assertEqual(TRUTH.status(program), 0, TRUTH.text(f"{program}.client"))
            port = self.ports[device]
            self.assert_ends_at(port, TRUTH.counters(device))
            self.assertEqual(port.rows[0].values["sent_pkts"], 0)
            self.assertEqual(port.total("rcvd_pkts"), TRUTH.counters(device)["rcvd_pkts"])
        self.assertGreaterEqual(self.ports["rxe0"].total("rdma_sends"), 2 * 300)  # messages, both ways
        self.assertGreaterEqual(self.ports["rxe1"].total("sent_pkts"), 100 * 65536 // 4096)


class HiddenCountersTest(GuestCase):
    """As user nobody, where sysfs does not show the counters."""

    def assert_read_by_netlink(self, name, cards):
        self.assertEqual(int(TRUTH.text(f"{name}/user")), NOBODY)
        for pci, port in cards.items():
            self.assertEqual(port.source, NETLINK, pci)
            self.assertGreater(len(port.rows), 1)
            self.assert_values_of_their_time(pci, port)
        self.assertLessEqual(set(UNDISTURBED), set(cards))
        self.assertEqual({SPOOLS[name].ports[f"rxe{i}"].source for i in range(2)}, {NETLINK})

    def test_in_a_container_with_its_own_network(self):
        self.assertIn("renamed0", TRUTH.text("container.devices").split(), "sysfs shows the cards")
        self.assertIn("No such file", TRUTH.text("container.counters"), "and hides their counters")
        ports = SPOOLS["container"].ports
        self.assert_read_by_netlink("container", {pci: port for pci, port in ports.items() if pci in CARDS})

    def test_without_sysfs(self):
        self.assertEqual(TRUTH.text("without_sys.listing"), "")
        by_name = {guest_truth.name_of(pci): pci for pci in CARDS}
        by_name[guest_truth.NEW_NAME] = guest_truth.RENAMED
        ports = SPOOLS["without_sys"].ports
        self.assert_read_by_netlink("without_sys",
                                    {by_name[name]: port for name, port in ports.items() if name in by_name})

    def test_the_probe_says_by_what_the_counters_are_read(self):
        ports = {port["pci"]: port for port in json.loads(TRUTH.text("container.probe"))["nic"]["ports"]}
        for pci in UNDISTURBED:
            self.assertEqual((ports[pci]["driver"], ports[pci]["source"]), ("efa", "netlink"))
            self.assertIn("tx_bytes", ports[pci]["columns"])
            self.assertTrue(0 < ports[pci]["hz"] <= MOST_HZ)


class ForcedSysfsTest(GuestCase):
    def test_counters_are_no_older_than_the_kernel_keeps_them(self):
        ports = SPOOLS["sysfs"].ports
        for pci in UNDISTURBED:
            self.assertEqual(ports[pci].source, SYSFS)
            self.assert_values_of_their_time(pci, ports[pci], SYSFS_AGE_NS)
            self.assertEqual({row.flags & ~(STALE | LAST) for row in ports[pci].rows}, {0})


class SlowCardsTest(GuestCase):
    """Each reading takes 2 ms: ten times a second of 32 cards would be two thirds of the time."""

    def test_cards_that_answer_slowly_are_read_less_often_and_the_user_is_told(self):
        spool = SPOOLS["slow"]
        self.assertIn(SLOW_READS, [note for note, _ in spool.notes])
        seconds, readings = TRUTH.readings("slow_begin", "slow_end")
        first_ones = 10 * len(CARDS)  # to find out how long one takes, and those at both ends
        spent_s = max(0, sum(readings.values()) - first_ones) * guest_truth.LATENCY_NS / 1e9
        self.assertLess(spent_s, 0.1 * seconds)
        for pci in CARDS:
            self.assertGreater(spool.ports[pci].period_ns, 2 * 1_000_000_000 // MOST_HZ)


if __name__ == "__main__":
    unittest.main()
