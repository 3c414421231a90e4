"""Raw clocks of their own for the nodes of one machine (tests/doubles/skewed_clock.cpp), and back to the true one.

The true time is the machine's CLOCK_MONOTONIC_RAW, which all nodes share; what a node reads is a function of it.
"""

import os
from dataclasses import dataclass, replace
from pathlib import Path

import run_tools as tools

SHIM = Path(os.environ["JAXPROF_LIB"]) / "libskewed_clock.so"
OBSERVER = tools.BIN / "skewed_netsampler"


@dataclass(frozen=True)
class Skew:
    offset_ns: int
    ppb: int
    namespace_ns: int = 0  # by how much the node's time namespace is ahead, before all that
    jump_ns: int = 0
    jump_at_ns: int = 0  # of the clock of the namespace

    def true_raw_ns(self, raw_ns):
        """The machine's clock when the node's read that, within 2 ns; only without a jump. In integers: of a day a double
        has no nanoseconds."""
        return (raw_ns - self.offset_ns) * 1_000_000_000 // (1_000_000_000 + self.ppb) - self.namespace_ns

    def raw_ns(self, true_raw_ns):
        """What the node's clock reads when the machine's reads that, within 2 ns."""
        ns = true_raw_ns + self.namespace_ns
        jumped_ns = self.jump_ns if ns >= self.jump_at_ns else 0
        return ns + self.offset_ns + ns * self.ppb // 1_000_000_000 + jumped_ns

    def words(self):
        return f"{self.offset_ns}:{self.ppb}:{self.jump_ns}@{self.jump_at_ns}"


def in_namespace(skew, offsets):
    """The skew on a node of which /proc/self/timens_offsets says `offsets`."""
    words = next(line.split() for line in offsets.splitlines() if line.startswith("monotonic"))
    return replace(skew, namespace_ns=int(words[1]) * 1_000_000_000 + int(words[2]))


def environment(skews, **changes):
    """For a job whose tasks and observers read skewed clocks; `skews` by host."""
    words = ",".join(f"{host}={skew.words()}" for host, skew in skews.items())
    return tools.environment(LD_PRELOAD=SHIM, JAXPROF_TEST_CLOCK=words, JAXPROF_NETSAMPLER=OBSERVER, **changes)
