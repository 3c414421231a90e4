"""A node's spool as print_samples shows it: ports with their rows, events and notes. Numbers are as stored."""

import json
import subprocess
from dataclasses import dataclass, field

# of agent/spool/node_record.h
NETLINK, SYSFS = 1, 2
RESET, WRAPPED, SATURATED, STALE, RETURNED, LAST = 1, 2, 4, 8, 16, 32
VANISHED, CAME_BACK, RENAMED, LINK_DOWN, LINK_UP = 2, 3, 4, 5, 6
SLOW_READS = 5
SUBJECT_NIC = 1


@dataclass
class Row:
    stamp_ns: int  # CLOCK_MONOTONIC_RAW, before the read began
    read_ns: int  # how long it took, rounded up to a microsecond
    flags: int
    is_partial: bool
    values: dict  # counter's name -> value

    @property
    def end_ns(self):
        return self.stamp_ns + self.read_ns


@dataclass
class Port:
    states: list  # each as written, the newest last
    rows: list = field(default_factory=list)
    events: list = field(default_factory=list)  # (number, text)

    def __getattr__(self, name):  # a property as it was last
        return self.states[-1][name]

    def happened(self, *kinds):
        """Events of these kinds, in order: (number, text)."""
        return [(event, text) for event, text in self.events if event in kinds]

    def total(self, counter):
        """What the counter grew by, as the sum of its steps from row to row."""
        values = [row.values[counter] for row in self.rows if counter in row.values]
        return sum(after - before for before, after in zip(values, values[1:]))


class NodeSpool:
    """RDMA ports by PCI address where they have one, else by name; network interfaces by name."""

    def __init__(self, print_samples, path):
        shown = subprocess.run([print_samples, path], capture_output=True, text=True, check=False)
        if shown.returncode != 0:
            raise AssertionError(f"{path} is not a sound spool: {shown.stderr}")
        self.identity, self.notes, self.ticks = {}, [], []
        self._by_number, streams = {}, {}
        for line in map(json.loads, shown.stdout.splitlines()):
            kind = line["kind"]
            if kind == "identity":
                self.identity = line
            elif kind == "port":
                self._by_number.setdefault(line["nic"], Port([])).states.append(line)
            elif kind == "stream" and line["subject_kind"] == SUBJECT_NIC:
                names = [column["name"] for column in line["columns"]]
                streams[line["stream"]] = (self._by_number[line["subject"]], names)
            elif kind == "row" and line["stream"] in streams:
                port, names = streams[line["stream"]]
                port.rows.append(Row(line["stamp_ns"], line["read_us"] * 1000, line["flags"], line["is_partial"],
                                     dict(zip(names, line["values"]))))
            elif kind == "event":
                self._by_number[line["nic"]].events.append((line["event"], line["text"]))
            elif kind == "note":
                self.notes.append((line["note"], line["text"]))
            elif kind == "ticks":
                self.ticks.append(line)
        found = self._by_number.values()
        self.ports = {port.pci or port.name: port for port in found if port.port != 0}
        self.interfaces = {port.name: port for port in found if port.port == 0}

    def all_ports(self):
        return list(self._by_number.values())
