"""Where events truly were on the axis of a run file, and how wrong it is about them.

By definition the axis is the reference's raw clock on a straight line (/clock/model). A test knows what that clock read
at any instant of the machine's one (skewed_nodes.py), and clock_puppet tells between which two instants of it each mark
was made; so the true time on the axis of every mark lies between two known ones. Times are whole ns, errors are floats.
"""

import bisect
from collections import namedtuple
from pathlib import Path

# A mark: the machine's clock and the node's own, before and after it.
Tick = namedtuple("Tick", "true_before raw_before raw_after true_after")
Error = namedtuple("Error", "sigma lo hi")  # lo <= truth - model <= hi
NARROW_NS = 1000  # between two instants; where the puppet was interrupted in between, the middle says little


def read_ticks(path, namespace_ns):
    """By number. In the log are the node's namespace's times, here are the machine's."""
    ticks = []
    for line in Path(path).read_text().splitlines():
        number, true_before, raw_before, raw_after, true_after = map(int, line.split())
        assert number == len(ticks), f"{path}: {line}"
        ticks.append(Tick(true_before - namespace_ns, raw_before, raw_after, true_after - namespace_ns))
    return ticks


class Model:
    """Of one node's raw clock, as FORMAT.md says to read /clock/model."""

    def __init__(self, rows):
        assert len(rows) > 1, "a line has two ends"
        self.raws = [row["raw_ns"] for row in rows]
        self.times = [row["time_ns"] for row in rows]
        self.errors = [Error(row["sigma_ns"], row["hard_lo_ns"], row["hard_hi_ns"]) for row in rows]
        assert self.raws == sorted(self.raws) and self.times == sorted(self.times)

    @staticmethod
    def _line(xs, ys, x):
        i = min(max(bisect.bisect_right(xs, x) - 1, 0), len(xs) - 2)
        return ys[i] + (x - xs[i]) * (ys[i + 1] - ys[i]) // (xs[i + 1] - xs[i])

    def time_ns(self, raw_ns):
        return self._line(self.raws, self.times, raw_ns)

    def raw_ns(self, time_ns):
        return self._line(self.times, self.raws, time_ns)

    def error(self, raw_ns):
        i = min(max(bisect.bisect_right(self.raws, raw_ns) - 1, 0), len(self.raws) - 2)
        share = (raw_ns - self.raws[i]) / (self.raws[i + 1] - self.raws[i])
        return Error(*(a + share * (b - a) for a, b in zip(self.errors[i], self.errors[i + 1])))


class Marked:
    """One mark in the run file and the truth about it."""

    def __init__(self, host, number, tick, time_ns, axis, model):
        self.host, self.number, self.tick, self.time_ns = host, number, tick, time_ns
        self.least_ns, self.most_ns = axis(tick.true_before), axis(tick.true_after)
        self.stated = model.error(tick.raw_before)
        self.raw_ns = model.raw_ns(time_ns)

    @property
    def is_narrow(self):
        return self.most_ns - self.least_ns <= NARROW_NS

    @property
    def error_ns(self):
        """From the middle."""
        return self.time_ns - (self.least_ns + self.most_ns) / 2

    @property
    def outside_ns(self):
        """By how much it is before the one instant (negative) or after the other."""
        return min(self.time_ns - self.least_ns, 0) + max(self.time_ns - self.most_ns, 0)

    def breaks_bound_by_ns(self):
        """By how much more than the file says may be; 0 if it is as the file says."""
        return max(self.least_ns - (self.time_ns + self.stated.hi), self.time_ns + self.stated.lo - self.most_ns, 0)


class Truth:
    """Of a run file over skewed nodes. `skews` by host name; `logs(rank)` is the path of a rank's log."""

    def __init__(self, run, skews, logs):
        hosts = [row["host"] for row in run.rows("job/nodes")]
        rows, offsets = run.rows("clock/model"), run.offsets("clock/model/node_offset")
        self.models = {host: Model(rows[begin:end]) for host, begin, end in zip(hosts, offsets, offsets[1:])}
        audit, = run.rows("clock/audit")
        self.reference = hosts[audit["reference"]]
        self._skew = skews[self.reference]
        self.marks = {}  # by host
        self.n_marked = {}  # by host: by the puppet's own account
        for process, events in zip(run.rows("job/processes"), run.rows_by_process("events/nvtx")):
            host = hosts[process["node"]]
            ticks = read_ticks(logs(process["rank"]), skews[host].namespace_ns)
            self.n_marked[host] = len(ticks)
            self.marks[host] = [Marked(host, row["payload"], ticks[row["payload"]], row["start_ns"], self.axis_ns,
                                       self.models[host]) for row in events if row["payload"] < len(ticks)]

    def axis_ns(self, true_raw_ns):
        return self.models[self.reference].time_ns(self._skew.raw_ns(true_raw_ns))

    def model_error_ns(self, host, skew, true_raw_ns):
        """Of the model alone, without an event."""
        return self.models[host].time_ns(skew.raw_ns(true_raw_ns)) - self.axis_ns(true_raw_ns)
