"""The log of tick_puppet, what a run file has of its marks, and lives that end at random instants."""

import random
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PERIOD_US = 2000
LONGEST_LIFE_S = 5.0
SEED = 20261129


class TickLog:
    """A log, finished or not. `ticks` are (number, CLOCK_REALTIME ns after the mark), in order."""

    def __init__(self, path):
        lines = Path(path).read_text().splitlines() if Path(path).exists() else []
        self.has_begun = bool(lines)
        if not lines:
            self.ticks, self.has_ended = [], False
            return
        found = re.fullmatch(r"pid (\d+) parent (\d+) host (\S+) job (\S+)", lines[0])
        self.pid, self.wrapper = int(found[1]), int(found[2])
        self.host, self.step = found[3], found[4]
        self.has_ended = lines[-1] == "end"
        self.ticks = [tuple(map(int, line.split())) for line in lines[1:] if line != "end"]

    def due(self, older_than_ns):
        """How many marks were made so long before the last one."""
        if not self.ticks:
            return 0
        return sum(1 for _, stamp in self.ticks if stamp <= self.ticks[-1][1] - older_than_ns)


def wait_for_log(path, limit_s):
    """The log once its first line is there."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if (log := TickLog(path)).has_begun:
            return log
        time.sleep(0.01)
    raise AssertionError(f"{path} was never written")


def marks_by_rank(run):
    """Numbers of the marks of each rank, in order."""
    ranks = run.ranks()
    return {rank: [row["payload"] for row in rows if row["name"] == "tick"]
            for rank, rows in zip(ranks, run.rows_by_process("events/nvtx"))}


def try_lives(case, name, count, side_by_side, one):
    """one(FOLDER, SECONDS) for `count` random lives, so many at once; `case` fails with what was wrong with any."""
    lives = random.Random(f"{SEED} {name}")
    lives = [lives.uniform(0, LONGEST_LIFE_S) for _ in range(count)]

    def try_one(number):
        try:
            one(case.folder / f"{name}{number}", lives[number])
        except (AssertionError, OSError) as error:
            return f"{name}{number}, killed after {lives[number]:.3f} s: {error}"
        return None

    with ThreadPoolExecutor(side_by_side) as pool:
        faults = [fault for fault in pool.map(try_one, range(count)) if fault]
    case.assertEqual(faults, [], "\n\n".join(faults))
