"""The nodes of the tests' cluster and their observers, seen from outside: which observers live, what runs have left on
a node, and what a node's interface counted by the account of a witness (interface_witness.py).
"""

import bisect
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import run_tools as tools
from interface_witness import NAMES
from run_tools import wait_until

NODES = ("n1", "n2")
INTERFACE = "eth0"
CLUSTER = Path(__file__).parents[2] / "slurm/cluster.sh"
WITNESS = Path(__file__).with_name("interface_witness.py")
PROGRAM_AS_THE_KERNEL_CUTS_IT = "jaxprof-netsamp"
# Runs know of each other by their folders on a node: here they meet no run of another test.
SPOOL_BASE = f"/tmp/observer.{os.getpid()}"
# Times of a run file and of the witness are of one clock, but the run file's have gone through two conversions.
CLOCK_MARGIN_NS = 1_000_000


def on_node(node, *words):
    return tools.run("bash", CLUSTER, "exec", node, *words)


@dataclass(frozen=True)
class Observer:
    """A jaxprof-netsampler; its number is that of the machine, not of its node."""

    pid: int
    node: str
    run_id: str
    starter: int  # SLURM_PROCID of the task that started it; None if it was none of Slurm's

    def send(self, number):
        os.kill(self.pid, number)

    def is_stopped(self):
        return _state(self.pid) == "T"


def _state(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None


def _observer(folder):
    """None if the process is none, or is just ending or beginning."""
    try:
        if (folder / "comm").read_text().strip() != PROGRAM_AS_THE_KERNEL_CUTS_IT or _state(folder.name) == "Z":
            return None
        words, entries = ((folder / file).read_bytes().decode(errors="replace").split("\0")
                          for file in ("cmdline", "environ"))
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    options = dict(word[2:].split("=", 1) for word in words if word.startswith("--") and "=" in word)
    if "run" not in options:
        return None
    variables = dict(entry.split("=", 1) for entry in entries if "=" in entry)
    starter = variables.get("SLURM_PROCID")
    return Observer(int(folder.name), options["host"], options["run"], None if starter is None else int(starter))


def run_of(directory):
    """Of the one run in a run directory."""
    state, = Path(directory).glob(".run-*")
    return state.name.removeprefix(".run-")


def observers(run_id):
    """The run's living observers on all nodes, in order of their nodes."""
    found = filter(None, map(_observer, Path("/proc").glob("[0-9]*")))
    return sorted((one for one in found if one.run_id == run_id), key=lambda one: (one.node, one.pid))


def node_folder(run_id):
    """What the run's tasks on a node share, below the node's SPOOL_BASE."""
    return f"jaxprof.{os.getuid()}.{run_id}.node"


def spool_base(node):
    """What the node knows as SPOOL_BASE, from outside."""
    return Path(os.environ["JAXPROF_CLUSTER_DIR"], "nodes", node, SPOOL_BASE.removeprefix("/"))


def left_on_nodes(run_id):
    """Folders of the run below the nodes' SPOOL_BASE: (node, name)."""
    return {(node, path.name) for node in NODES for path in spool_base(node).glob(f"jaxprof.{os.getuid()}.{run_id}.*")}


def node_spools(directory):
    """{node: its observers' spools, by segment}; a run directory of one run."""
    state, = Path(directory).glob(".run-*")
    found = {}
    for path in state.glob("node.*"):
        node, _, segment, suffix = path.name.removeprefix("node.").split(".")
        assert suffix == "jxspool", path
        found.setdefault(node, {})[int(segment)] = path
    return {node: [spools[segment] for segment in sorted(spools)] for node, spools in found.items()}


def wait_until_it_grows(path, times=2):
    """Once so many more blocks are in the spool: the observer has done its rounds since."""
    size = path.stat().st_size
    for _ in range(times):
        wait_until(lambda: path.stat().st_size > size, f"{path} grows")
        size = path.stat().st_size


class Witness:
    """Of one node, from the moment that it is made to stop()."""

    def __init__(self, node, folder):
        self.log = folder / f"witness.{node}"
        peer, = (other for other in NODES if other != node)
        self._process = subprocess.Popen(["bash", CLUSTER, "exec", node, "/usr/bin/python3", "-B", WITNESS, self.log, peer],
                                         stdin=subprocess.PIPE)
        wait_until(self.readings, f"the first reading of {node}'s {INTERFACE}")

    def stop(self):
        self._process.stdin.close()
        self._process.wait(tools.LIMIT_SECONDS)

    def readings(self):
        """Whole lines: (begin_ns, end_ns, value...)."""
        text = self.log.read_text() if self.log.exists() else ""
        return [tuple(map(int, line.split())) for line in text.rpartition("\n")[0].splitlines()]

    def readings_beyond(self, time_ns):
        """All of them, once there are some that began after a time of CLOCK_REALTIME."""
        wait_until(lambda: self.readings()[-1][0] > time_ns + CLOCK_MARGIN_NS, f"{self.log} goes on")
        return self.readings()


class Account:
    """What the counters were at most and at least at a time, by the readings of a witness around it."""

    def __init__(self, readings):
        self._readings = readings
        self._begins = [reading[0] for reading in readings]
        self._ends = [reading[1] for reading in readings]

    def bounds(self, begin_ns, end_ns):
        """{counter: (least, most)} for a reading that took place from begin_ns to end_ns of CLOCK_REALTIME."""
        before = self._readings[bisect.bisect_right(self._ends, begin_ns - CLOCK_MARGIN_NS) - 1]
        after = self._readings[bisect.bisect_left(self._begins, end_ns + CLOCK_MARGIN_NS)]
        assert before[1] < begin_ns, "read before the witness was there"
        return {name: (before[2 + i], after[2 + i]) for i, name in enumerate(NAMES)}


@dataclass
class Port:
    """The interface of one node in a run file."""

    nic: dict  # its row of /job/nics
    rows: list  # of its counters; begin_ns and end_ns of each reading are CLOCK_REALTIME

    def between(self, begin_ns, end_ns):
        return [row for row in self.rows if begin_ns <= row["begin_ns"] <= end_ns]


def ports(run):
    """{node: its Port} of a run file."""
    hosts = [row["host"] for row in run.rows("job/nodes")]
    found = {}
    for index, nic in enumerate(run.rows("job/nics")):
        if nic["full_name"] != INTERFACE:
            continue
        table = f"counters/nic/{nic['driver'] or 'unknown'}"
        begin, end = run.offsets(f"{table}/nic_offset")[index:index + 2]
        rows = run.rows(table)[begin:end]
        for row in rows:
            row["begin_ns"] = run.epoch_unix_ns + row["time_ns"]
            row["end_ns"] = row["begin_ns"] + row["read_ns"]
        found[hosts[nic["node"]]] = Port(nic, rows)
    return found


def observations(run):
    """{node: rows of /job/observers by segment}."""
    hosts = [row["host"] for row in run.rows("job/nodes")]
    found = {}
    for row in run.rows("job/observers"):
        found.setdefault(hosts[row["node"]], []).append(row)
    return found


def kill(observer):
    """CLOCK_REALTIME before and after it is killed."""
    before_ns = time.clock_gettime_ns(time.CLOCK_REALTIME)
    observer.send(signal.SIGKILL)
    wait_until(lambda: _state(observer.pid) in (None, "Z"), f"the end of {observer}")
    return before_ns, time.clock_gettime_ns(time.CLOCK_REALTIME)
