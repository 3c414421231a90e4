#!/usr/bin/env python3
"""What does a `with annotate(...)` cost, in units of an empty context manager object of the same run?

An empty one is a class with two empty methods; a `with` over it is two calls into Python. Each kind is timed in many
small batches by turns, and the best batch counts, since whatever disturbs a batch makes it slower. Measured twice: in
a process without a tool, and in one under jaxprof-exec, where every `with` is a range that the agent records; its ring
is given time to be emptied between batches, so that nothing is measured that is dropped.

    annotate_bench.py PYTHON JAXPROF_EXEC SCRATCH_FOLDER       PYTHON has the package nvtx
"""

import os
import subprocess
import sys
import time
from pathlib import Path

BATCH = 5_000
ROUNDS = 60
PAUSE_SECONDS = 0.01
MODULE_FOLDER = Path(__file__).resolve().parents[2] / "launcher" / "python"


class Empty:
    def __enter__(self):
        return self

    def __exit__(self, error_type, error, traceback):
        return False


def time_reused(manager):
    """Nanoseconds of one `with` over an object that was made before."""
    rounds = range(BATCH)
    began = time.perf_counter_ns()
    for _ in rounds:
        with manager:
            pass
    return (time.perf_counter_ns() - began) / BATCH


def time_made(make):
    """Nanoseconds of one `with` over what make("phase") returns there."""
    rounds = range(BATCH)
    began = time.perf_counter_ns()
    for _ in rounds:
        with make("phase"):
            pass
    return (time.perf_counter_ns() - began) / BATCH


class EmptyNamed(Empty):
    def __init__(self, name):
        self.name = name


def measure(state):
    """Prints the figures of this process, whose tool is attached or not as `state` says."""
    sys.path.insert(0, str(MODULE_FOLDER))
    import jaxprof_annotate

    is_attached = jaxprof_annotate._domain is not None
    if is_attached != (state == "attached"):
        sys.exit(f"annotate_bench: the tool should be {state}, but is {'' if is_attached else 'not '}attached")
    kinds = {"empty": (time_reused, Empty()), "with": (time_reused, jaxprof_annotate.annotate("phase")),
             "empty_made": (time_made, EmptyNamed), "with_made": (time_made, jaxprof_annotate.annotate)}
    best = dict.fromkeys(kinds, float("inf"))
    for _ in range(ROUNDS):
        for kind, (timed, subject) in kinds.items():
            best[kind] = min(best[kind], timed(subject))
        time.sleep(PAUSE_SECONDS)
    for kind, nanoseconds in best.items():
        print(f"annotate.{state}.{kind}_ns  {nanoseconds:.1f}")
    print(f"annotate.{state}.ratio  {best['with'] / best['empty']:.2f}")
    print(f"annotate.{state}.made_ratio  {best['with_made'] / best['empty_made']:.2f}")


def main():
    if len(sys.argv) == 2:
        measure(sys.argv[1])
        return
    python, launcher, scratch = sys.argv[1:]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NVTX_", "JAXPROF_"))}
    subprocess.run([python, __file__, "none"], env=environment, check=True)
    profiled = subprocess.run([launcher, "-o", f"{scratch}/annotate.{os.getpid()}/rank", "--",
                               python, __file__, "attached"], env=environment, check=True, stderr=subprocess.PIPE)
    if b" 0 dropped" not in profiled.stderr:
        sys.exit(f"annotate_bench: not all was recorded: {profiled.stderr.decode()}")


if __name__ == "__main__":
    main()
