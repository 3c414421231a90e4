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

    def true_raw_ns(self, raw_ns):
        """The machine's clock when the node's read that, within 2 ns. In integers: of a day a double has no nanoseconds."""
        return (raw_ns - self.offset_ns) * 1_000_000_000 // (1_000_000_000 + self.ppb) - self.namespace_ns


def in_namespace(skew, offsets):
    """The skew on a node of which /proc/self/timens_offsets says `offsets`."""
    words = next(line.split() for line in offsets.splitlines() if line.startswith("monotonic"))
    return replace(skew, namespace_ns=int(words[1]) * 1_000_000_000 + int(words[2]))


def environment(skews, **changes):
    """For a job whose tasks and observers read skewed clocks; `skews` by host."""
    words = ",".join(f"{host}={skew.offset_ns}:{skew.ppb}" for host, skew in skews.items())
    return tools.environment(LD_PRELOAD=SHIM, JAXPROF_TEST_CLOCK=words, JAXPROF_NETSAMPLER=OBSERVER, **changes)
