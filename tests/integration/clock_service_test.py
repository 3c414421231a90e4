#!/usr/bin/env python3
"""Observers on the nodes of a run ask each other's clocks, whenever they come, go, are killed or cannot be reached; what
they ask with stays theirs, and no job notices.  The nodes are network namespaces of this machine with boot ids of their
own, so that all of them have one clock: whatever was measured can be checked.
"""

import os
import random
import shutil
import stat
import time
import unittest
from pathlib import Path

import network_nodes as nodes
import run_tools as tools
from clock_spool import (CLIENT_RECEIVE_RAW, CLIENT_SEND_RAW, END, PERIODIC, SERVER_RECEIVE_RAW, SERVER_SEND_RAW, START,
                        NodeSpool)
from run_tools import wait_until

N_NODES = 4
RUN = "7.0.0"
TOKEN_BYTES = 32
N_KILLS = 12
LONGEST_LIFE_S = 0.6
SEED = 20261130
PASSING = (42000, 42009)
DEAD_ENDPOINT = ("jaxprof-clock-endpoint-1\nhost=n4\nboot={boot_id}\nnetns=1\nnonce=2\naddress={address}\nport=9\n"
                 "interface=eth0\nclocksource=tsc\nstamps=0\nstart=1\nend\n")


def spool_of(node, segment=0):
    """None as long as it has no block."""
    path = Path(f".run-{RUN}/node.{node.name}.{node.boot_id[:8]}.{segment}.jxspool")
    return NodeSpool(path) if path.exists() else None


def clock_files(folder=f".run-{RUN}"):
    return sorted(path.name for path in Path(folder, "clock").iterdir())


class Nodes(tools.OwnFolderCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.switch = nodes.Switch("service")
        cls.nodes = nodes.make_nodes(cls.switch, N_NODES)

    @classmethod
    def tearDownClass(cls):
        for namespace in [*cls.nodes, cls.switch]:
            namespace.remove()
        super().tearDownClass()

    def start(self, node, **options):
        observer = nodes.Observer(node, RUN, **options)
        self.addCleanup(observer.kill)
        return observer

    def wait_until_asked(self, asking, asked, *kinds, segment=0):
        """The spool of a node that has answers of another's."""
        def is_told():
            spool = spool_of(asking, segment)
            return spool if spool and spool.bursts_with(asked.boot_id, *kinds) else None

        return wait_until(is_told, f"{asking.name} asks {asked.name}")

    def end_all(self, *observers):
        for observer in observers:
            observer.task.unlink()
        for observer in observers:
            self.assertEqual(observer.end(), 0, observer.node.name)

    def assert_one_clock(self, spool):
        """All nodes have this machine's: what is sent is received later, and answered later."""
        for burst in spool.bursts:
            self.assertLessEqual(len(burst.exchanges), burst.sent)
            for stamps in burst.exchanges:
                four = [stamps[stamp] for stamp in (CLIENT_SEND_RAW, SERVER_RECEIVE_RAW, SERVER_SEND_RAW,
                                                    CLIENT_RECEIVE_RAW)]
                self.assertEqual(four, sorted(four), spool.path)

    def assert_secret(self, secret, *observers):
        """The token of the run is in its file, for its user alone, and nowhere else."""
        self.assertEqual(len(secret), TOKEN_BYTES)
        token = Path(f".run-{RUN}/clock/token")
        self.assertEqual(stat.S_IMODE(token.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(token.parent.stat().st_mode), 0o700)
        for observer in observers:
            for name in ("cmdline", "environ"):
                text = Path(f"/proc/{observer.process.pid}/{name}").read_bytes()
                for form in (secret, secret.hex().encode(), secret.hex().upper().encode()):
                    self.assertNotIn(form, text)
        for path in Path(f".run-{RUN}").rglob("*"):
            if path.is_file() and path != token:
                self.assertNotIn(secret, path.read_bytes(), path)


class Service(Nodes):
    def test_nodes_come_late_are_killed_and_return(self):
        n1, n2, n3, n4 = self.nodes
        early = [self.start(node, is_rank0=node is n2) for node in (n1, n2, n3)]
        for asking in (n1, n2, n3):
            for asked in {n1, n2, n3} - {asking}:
                spool = self.wait_until_asked(asking, asked, START)
                self.assertEqual(spool.bursts_with(asked.boot_id)[0].sent, 64)
        late = self.start(n4)
        early[2].kill()
        for asked in (n1, n2):
            self.wait_until_asked(n4, asked, START)
            self.wait_until_asked(asked, n4, START)
        successor = self.start(n3)
        for asked in (n1, n2, n4):
            self.wait_until_asked(n3, asked, START, segment=1)

            def is_taken_in(asking=asked):
                ports = {peer["port"] for peer in spool_of(asking).peers if peer["boot_id"] == n3.boot_id}
                return len(spool_of(asking).bursts_with(n3.boot_id)) > 1 and len(ports) > 1 or asking is n4

            wait_until(is_taken_in, f"{asked.name} asks the successor of n3's observer")
        for asked in (n2, n4):
            self.wait_until_asked(n1, asked, PERIODIC)
        secret = Path(f".run-{RUN}/clock/token").read_bytes()
        observers = (early[0], early[1], successor, late)
        self.assert_secret(secret, *observers)
        self.assertEqual(len([name for name in clock_files() if name.endswith(".endpoint")]), 4, clock_files())
        self.end_all(*observers)
        self.assertEqual(clock_files(), ["reference", "token"])
        self.assertEqual(Path(f".run-{RUN}/clock/reference").read_text(), n2.boot_id + "\n")
        self.assertFalse(spool_of(n3).has_footer)
        n_last = 0
        for node, spool in [(node, spool_of(node, 1 if node is n3 else 0)) for node in self.nodes]:
            self.assertTrue(spool.has_footer)
            self.assert_one_clock(spool)
            n_last += len([burst for burst in spool.bursts if burst.kind == END])
            seconds = (spool.readings[-1].raw - spool.readings[0].raw) / 1e9
            self.assertGreater(len(spool.readings), 2 * seconds, "readings, ten a second where the machine is idle")
            self.assertTrue(spool.disciplines)
            service = spool.services[-1]
            self.assertEqual((service["address"], service["interface"], service["is_reference"]),
                             (node.address, "eth0", int(node is n2)))
            for peer in spool.peers:
                self.assertNotEqual(peer["boot_id"], node.boot_id)
            last = {peer["boot_id"]: peer for peer in spool.peers}
            self.assertEqual({boot_id for boot_id, peer in last.items() if peer["is_reference"]},
                             {n2.boot_id} - {node.boot_id})
            self.assertEqual(spool.packets[-1]["wrong_mac"], 0)
            self.assertGreater(spool.packets[-1]["received"], 0)
        self.assertGreater(n_last, 0, "they ask at their end, if the machine leaves them the time")

    def test_killed_at_any_instant(self):
        """Observers of two nodes, killed and started again; what they leave can be read, and the last ones meet."""
        lives = random.Random(SEED)
        n1, n2 = self.nodes[:2]
        for _ in range(N_KILLS):
            for observer in (self.start(n1, is_rank0=True), self.start(n2)):
                time.sleep(lives.uniform(0, LONGEST_LIFE_S) / 2)
                observer.kill()
        # One that was killed before it had its place has left no spool.
        segments = {node: len(list(Path(f".run-{RUN}").glob(f"node.{node.name}.*"))) for node in (n1, n2)}
        last = [self.start(n1, is_rank0=True), self.start(n2)]
        self.wait_until_asked(n1, n2, START, segment=segments[n1])
        self.wait_until_asked(n2, n1, START, segment=segments[n2])
        self.end_all(*last)
        # A token that was not finished is nobody's: it goes when it is old.
        self.assertEqual([name for name in clock_files() if not name.startswith("token.tmp.")], ["reference", "token"])
        for path in Path(f".run-{RUN}").glob("*.jxspool"):
            self.assert_one_clock(NodeSpool(path))

    def test_a_node_whose_packets_are_dropped_is_named_and_taken_in_later(self):
        n1, n2, n3 = self.nodes[:3]
        if not shutil.which("nft"):
            tools.require("nft", False, "there is no nft")
        n3.drop_udp()
        self.addCleanup(n3.let_udp_pass)
        observers = [self.start(node) for node in (n1, n2, n3)]
        self.wait_until_asked(n1, n2, START)
        silent = f"no answer from 1 of 2 nodes asked: n3 ({n3.address})"

        def have_asked_in_vain():
            return all(any(not burst.exchanges for burst in spool.bursts) for spool in map(spool_of, (n1, n2)))

        wait_until(have_asked_in_vain, "n1 and n2 ask n3 in vain")
        n3.let_udp_pass()
        self.wait_until_asked(n1, n3, START)
        n3.drop_udp()
        self.end_all(*observers)
        lonely = spool_of(n2)
        self.assertEqual(bool(lonely.bursts_with(n3.boot_id)),
                         not any(silent in note["text"] for note in lonely.notes),
                         "what did not answer in time is in a note")


class Doctors(Nodes):
    """jaxprof doctor on nodes behind firewalls."""

    def start_doctor(self, node, *options):
        process = tools.start(*node.words(tools.BIN / "jaxprof", "doctor", *options))
        self.addCleanup(process.kill)
        return process

    def clock_rows(self, process):
        ended = tools.finish(process)
        self.assert_status(ended, 0)
        return [line for line in ended.out.splitlines() if line[6:11] == "clock"]

    def test_several_of_a_node_meet_through_the_ports_that_pass(self):
        if not shutil.which("nft"):
            tools.require("nft", False, "there is no nft")
        met = self.nodes[:2]
        for node in met:
            node.drop_udp_but(*PASSING)
            self.addCleanup(node.let_udp_pass)
        Path("meet").mkdir()
        options = ("--meet", "meet", "--clock-port", "-".join(map(str, PASSING)))
        # A place of one that was killed, long ago.
        dead = Path("meet/clock")
        dead.mkdir(mode=0o700)
        endpoint = dead / f"{self.nodes[3].boot_id}.1.2.endpoint"
        endpoint.write_text(DEAD_ENDPOINT.format(boot_id=self.nodes[3].boot_id, address=self.nodes[3].address))
        os.utime(endpoint, (time.time() - 60,) * 2)
        doctors = {node: [self.start_doctor(node, *options) for _ in range(3)] for node in met}
        for node, other in (met, met[::-1]):
            rows = [self.clock_rows(doctor) for doctor in doctors[node]]
            answers = [row for row in sum(rows, []) if "questions answered" in row]
            self.assertEqual(len(answers), 1, rows)
            self.assertRegex(answers[0], rf"^ok    clock {other.name} \({other.address}\): [1-9]\d* of ")
            self.assertEqual(len([row for row in sum(rows, []) if "another doctor of this node meets" in row]), 2, rows)
        self.assertEqual(list(Path("meet").iterdir()), [])

    def test_a_node_that_does_not_hear_itself_is_told_of(self):
        if not shutil.which("nft"):
            tools.require("nft", False, "there is no nft")
        node = self.nodes[2]
        node.drop_udp()
        self.addCleanup(node.let_udp_pass)
        row, = self.clock_rows(self.start_doctor(node))
        self.assertTrue(row.startswith(f"note  clock eth0 {node.address}: "), row)
        self.assertIn("its own test packets do not come back", row)
        self.assertNotIn("kernel stamps", row)


class Jobs(Nodes):
    """By jaxprof-exec, on two nodes."""

    def run_job(self, *options, until=None):
        """What both tasks said, which end as soon as that holds of the spools of both nodes."""
        processes = []
        task = ("sh", "-c", "until [ -e go ]; do sleep 0.05; done; exit 7")
        for rank, node in enumerate(self.nodes[:2]):
            spool_base = Path(f"base.{node.name}").absolute()
            spool_base.mkdir()
            variables = tools.environment(JAXPROF_RANK=rank, JAXPROF_WORLD_SIZE=2, JAXPROF_LOCAL_RANK=0, JAXPROF_RUN="x")
            processes.append(tools.start(*node.words(tools.EXEC, "-o", "prof/rank%r", "--spool", spool_base, *options,
                                                     "--", *task), env=variables))
        if until:
            wait_until(lambda: len(spools := self.spools()) == 2 and all(map(until, spools.values())), "the nodes ask")
        Path("go").touch()
        ended = [tools.finish(process) for process in processes]
        for node in self.nodes[:2]:
            self.assert_becomes_empty(f"base.{node.name}")
        wait_until(lambda: all(spool.has_footer for spool in self.spools().values()), "the end of the observers")
        return ended

    def spools(self):
        return {node.boot_id: NodeSpool(path) for node in self.nodes[:2]
                for path in Path("prof").glob(f".run-*/node.*.{node.boot_id[:8]}.0.jxspool")}

    def assert_unharmed(self, ended):
        for one in ended:
            self.assert_status(one, 7)
        self.assertLessEqual(sum(len(one.lines_of_jaxprof()) for one in ended), 2, "\n".join(map(str, ended)))

    def test_of_seconds_is_asked_at_once(self):
        def has_answers(spool):
            return any(burst.exchanges for burst in spool.bursts)

        self.assert_unharmed(self.run_job("-t", "nvtx,nccl", "--clock-port", "40000-40009", until=has_answers))
        n1, n2 = (node.boot_id for node in self.nodes[:2])
        spools = self.spools()
        self.assertEqual(set(spools), {n1, n2})
        for own, other in ((n1, n2), (n2, n1)):
            self.assertTrue(spools[own].bursts_with(other, START))
            service = spools[own].services[-1]
            self.assertIn(service["port"], range(40000, 40010))
            self.assertEqual(service["is_reference"], int(own == n1))
            self.assert_one_clock(spools[own])

    def test_without_clocks_has_no_observer_for_them(self):
        self.assert_unharmed(self.run_job("-t", "nvtx,nccl", "--clock", "off"))
        self.assertEqual(self.spools(), {})
        self.assertFalse(list(Path("prof").glob(".run-*/clock")))

    def test_behind_a_firewall(self):
        if not shutil.which("nft"):
            tools.require("nft", False, "there is no nft")
        node = self.nodes[0]
        node.drop_udp()
        self.addCleanup(node.let_udp_pass)
        self.assert_unharmed(self.run_job(until=lambda spool: spool.bursts))
        for own, spool in self.spools().items():
            self.assertEqual([burst for burst in spool.bursts if burst.exchanges], [])
            self.assertIn("no answer from 1 of 1 nodes", spool.services[-1]["reason"])
            self.assertIn("no answer from 1 of 1 nodes", spool.notes[-1]["text"], own)
            self.assertTrue(spool.readings)


if __name__ == "__main__":
    nodes.require()
    unittest.main()
