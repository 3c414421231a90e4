"""A job over nodes of one machine whose raw clocks differ: one jaxprof-exec a node, as a generic launcher would start it,
around a puppet that logs when it truly made its marks; and what must be true of the run file.
"""

import os
import random
import statistics
import sys
import time

import clock_truth
import network_nodes as nodes
import run_tools as tools
import skewed_nodes
from run_file import RunFile
from skewed_nodes import Skew

SECOND = 1_000_000_000
IS_LONG = bool(os.environ.get("JAXPROF_FULL"))
MOST_WRONG_NS = 10_000  # on any machine; on an idle one errors are tens of ns
PERIOD_US = 40_000
LONGEST_OFFSET_NS = 5 * 3600 * SECOND
FASTEST_PPB = 50_000
# What reading clocks around a mark and converting stamps by pairs of readings adds to an error.
CONVERSION_NS = 200


def seed():
    """Of this test run, printed; JAXPROF_SEED gives it again."""
    chosen = int(os.environ.get("JAXPROF_SEED", time.time_ns() % 1_000_000))
    print(f"JAXPROF_SEED={chosen}", file=sys.stderr)
    return chosen


class SkewedJobCase(tools.FolderCase):
    """One job, begun and merged before the tests of the class; they share its run file. The names in capitals are to be
    set by the class."""

    N_NODES = 6
    SECONDS = 20
    OPTIONS = ()
    middle_ns = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.random = random.Random(f"{seed()} {cls.__name__}")
        cls.switch = nodes.Switch(cls.__name__.lower())
        cls.nodes = nodes.make_nodes(cls.switch, cls.N_NODES, lambda number: cls.random.randrange(LONGEST_OFFSET_NS))
        cls.skews = {node.name: Skew(cls.random.randrange(LONGEST_OFFSET_NS),
                                     cls.random.randrange(-FASTEST_PPB, FASTEST_PPB), node.ahead_ns) for node in cls.nodes}
        try:
            cls.prepare()
            cls.run_job()
            cls.run_file = RunFile("run.h5")
            cls.truth = clock_truth.Truth(cls.run_file, cls.skews, lambda rank: f"log.{rank}")
        except BaseException:
            cls.tearDownClass()
            raise

    @classmethod
    def tearDownClass(cls):
        if hasattr(cls, "run_file"):
            cls.run_file.close()
        for namespace in [*cls.nodes, cls.switch]:
            namespace.remove()
        super().tearDownClass()

    @classmethod
    def prepare(cls):
        """Before the job begins."""

    @classmethod
    def disturb(cls):
        """While it runs."""

    @classmethod
    def run_job(cls):
        processes = []
        for rank, node in enumerate(cls.nodes):
            os.mkdir(f"spool.{node.name}")
            env = skewed_nodes.environment(cls.skews, RANK=rank, WORLD_SIZE=cls.N_NODES, LOCAL_RANK=0, NODE_RANK=rank,
                                           JAXPROF_RUN=cls.__name__)
            processes.append(tools.start(
                *node.words(tools.EXEC, "-o", "prof/rank%r", "-t", "nvtx,nccl", "--spool", f"{os.getcwd()}/spool.{node.name}",
                            *cls.OPTIONS, "--", tools.BIN / "clock_puppet", cls.SECONDS, PERIOD_US, f"log.{rank}"),
                env=env))
        try:
            cls.disturb()
        finally:
            cls.ended = [tools.finish(process, cls.SECONDS + tools.LIMIT_SECONDS) for process in processes]
        for ended in cls.ended:
            assert ended.status == 0, ended
        for node in cls.nodes:
            tools.wait_until(lambda: not os.listdir(f"spool.{node.name}"), f"the end of {node.name}'s observer")
        cls.merged = tools.merge("prof")
        assert cls.merged.status == 0, cls.merged

    # ---- what is asserted of all of them --------------------------------------------------------------------------

    def all_marks(self, *hosts):
        return [mark for host, marks in self.truth.marks.items() if not hosts or host in hosts for mark in marks]

    def assert_all_recorded(self):
        self.assertEqual(set(self.truth.marks), {node.name for node in self.nodes})
        for host, marks in self.truth.marks.items():
            self.assertEqual([mark.number for mark in marks], list(range(self.truth.n_marked[host])), host)
            self.assertGreater(len(marks), self.SECONDS * 10, "the machine was busy, but not that busy")

    def assert_right(self, marks, within_ns):
        worst = max(marks, key=lambda mark: abs(mark.outside_ns))
        self.assertLessEqual(abs(worst.outside_ns), within_ns, f"mark {worst.number} of {worst.host}: {worst.stated}")

    def assert_bounds_hold(self, marks):
        for mark in marks:
            self.assertLessEqual(mark.breaks_bound_by_ns(), CONVERSION_NS,
                                 f"mark {mark.number} of {mark.host}: {mark.outside_ns} ns off, but {mark.stated}")

    def off_ns(self, mark):
        """The error of a mark beside that of the reference's, whose model is right by definition: where in the middle of
        its two readings a mark is stamped is alike on all nodes."""
        if self.middle_ns is None:
            own = [other.error_ns for other in self.truth.marks[self.truth.reference] if other.is_narrow]
            type(self).middle_ns = statistics.median(own)
        return mark.error_ns - self.middle_ns

    def summary(self):
        """For the reader of a log."""
        lines = []
        for row in self.run_file.rows("clock/nodes"):
            host = self.nodes[row["node"]].name if row["node"] < len(self.nodes) else row["node"]
            marks = self.truth.marks.get(host, [])
            errors = sorted(abs(mark.outside_ns) for mark in marks) or [0]
            off = sorted(abs(self.off_ns(mark)) for mark in marks if mark.is_narrow) or [0]
            lines.append(f"{host}: {row['method']}, {len(marks)} marks, outside {errors[-1]} ns; {len(off)} narrow, off "
                         f"{off[len(off) // 2]:.0f} ns (median), {off[len(off) * 19 // 20]:.0f} (p95), "
                         f"{off[-1]:.0f} (most); sigma {row['sigma_ns']:.0f}, bound {row['bound_ns']:.0f}, {row['n_bursts']} bursts, lost "
                         f"{row['n_lost']}")
        return "\n".join(lines)
