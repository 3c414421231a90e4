"""Nodes of one machine: network namespaces on a bridge, each with a host name, a boot id and a time namespace of its own,
and observers that a test starts on them by hand. All share one crystal, so that whatever is measured between their clocks
can be checked.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import run_tools as tools

SAMPLER = tools.BIN / "jaxprof-netsampler"
NAMED = 'hostname "$0" && exec "$@"'
ENTER = Path(__file__).with_name("enter_node.py")
DROP_UDP = "add table inet jx; add chain inet jx in { type filter hook input priority 0; }; " \
           "add rule inet jx in meta l4proto udp drop"


def require():
    """Whoever imports this needs root and the kernel's namespaces."""
    tools.require("netns", os.geteuid() == 0 and shutil.which("ip") is not None and shutil.which("unshare") is not None,
                  "only root makes network namespaces, with ip and unshare")
    tools.require("netns", Path("/proc/self/timens_offsets").exists(), "the kernel has no time namespaces")


def ip(*words):
    subprocess.run(["ip", *map(str, words)], check=True, stdout=subprocess.DEVNULL)


class Switch:
    """A bridge in a namespace of its own, to which nodes are joined."""

    def __init__(self, name):
        self.netns = f"jx{os.getpid()}-{name}"
        ip("netns", "add", self.netns)
        ip("-n", self.netns, "link", "add", "br0", "type", "bridge")
        ip("-n", self.netns, "link", "set", "br0", "up")

    def remove(self):
        ip("netns", "del", self.netns)


class Node:
    """`number` is the last byte of its address; boot ids are alike in every test run, since the choice of peers depends on
    them. `ahead_ns`: by how much its time namespace is ahead."""

    def __init__(self, switch, number, name, ahead_ns=0):
        self.name, self.number, self.ahead_ns = name, number, ahead_ns
        self.netns = f"{switch.netns}-{name}"
        self.address, self.boot_id = f"10.97.0.{number}", f"{number:08x}-0000-4000-8000-{number:012x}"
        self._boot_id_file = Path(f"boot_id.{name}").absolute()
        self._boot_id_file.write_text(self.boot_id + "\n")
        ip("netns", "add", self.netns)
        ip("link", "add", "eth0", "netns", self.netns, "type", "veth", "peer", "name", name, "netns", switch.netns)
        ip("-n", switch.netns, "link", "set", name, "master", "br0", "up")
        ip("-n", self.netns, "addr", "add", f"{self.address}/24", "dev", "eth0")
        for interface in ("lo", "eth0"):
            ip("-n", self.netns, "link", "set", interface, "up")

    def remove(self):
        ip("netns", "del", self.netns)
        self._boot_id_file.unlink(missing_ok=True)

    def words(self, *command):
        """The command line that runs `command` there."""
        return ("ip", "netns", "exec", self.netns, sys.executable, "-B", ENTER, self.name, self._boot_id_file,
                self.ahead_ns, *command)

    def run(self, *command):
        """A command of the network's, which needs no more than its namespace."""
        subprocess.run(["ip", "netns", "exec", self.netns, *map(str, command)], check=True, stdout=subprocess.DEVNULL)

    def drop_udp(self):
        self.run("nft", DROP_UDP)

    def drop_udp_but(self, low, high):
        self.run("nft", f"{DROP_UDP}; insert rule inet jx in udp dport {low}-{high} accept")

    def let_udp_pass(self):
        self.run("nft", "flush", "ruleset")


def make_nodes(switch, count, ahead_ns=lambda number: 0):
    return [Node(switch, number, f"n{number}", ahead_ns(number)) for number in range(1, count + 1)]


class Observer:
    """Of one node; the file of its task keeps it alive, and this process is the task. Its files are in the working
    directory, its run is `run`. It has the node's network and name, and this machine's clocks."""

    def __init__(self, node, run, is_rank0=False, program=SAMPLER, env=None):
        self.node = node
        self.folder = Path(f"node.{node.name}").absolute()
        self.folder.mkdir(exist_ok=True)
        ticks = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
        self.task = self.folder / f"plain.{os.getpid()}.{ticks}"
        self.task.touch()
        if is_rank0:
            (self.folder / "rank0").touch()
        state = Path(f".run-{run}").absolute()
        state.mkdir(exist_ok=True)
        words = ("ip", "netns", "exec", node.netns, "unshare", "--uts", "sh", "-c", NAMED, node.name,
                 program, "--run-state", state, "--node-folder", self.folder, "--run", run, "--host", node.name, "--boot-id", node.boot_id,
                 "--no-gpu", "--no-nic")
        self.process = subprocess.Popen(list(map(str, words)), env=env or tools.environment())

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        """Once its task has."""
        return self.process.wait(tools.LIMIT_SECONDS)
