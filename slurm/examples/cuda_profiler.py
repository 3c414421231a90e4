"""cudaProfilerStart and cudaProfilerStop around some training steps, as profilers with a "capture range" expect them
(nsys: `-c cudaProfilerApi`).

JAX has no call for it, so the two are looked up in the CUDA runtime by ctypes: first in the one that the process has
loaded already, since a second copy would have nothing to do with it. A job without CUDA says so, and goes on.
"""

import argparse
import ctypes
import re
import sys

NAMES = ("libcudart.so.13", "libcudart.so.12", "libcudart.so")


def steps_from_words(words):
    """'3-7' or '3': the first and the last step, both profiled."""
    found = re.fullmatch(r"(\d+)(?:-(\d+))?", words)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
    if first > last:
        raise argparse.ArgumentTypeError(f"'{words}' are no steps: write the first and the last one, as in 3-7")
    return first, last


def loaded_runtime():
    """Path of the CUDA runtime in this process's memory, or None."""
    with open("/proc/self/maps") as maps:
        paths = [line.split(maxsplit=5)[5].strip() for line in maps if "/libcudart" in line]
    return paths[0] if paths else None


def open_runtime():
    for name in (loaded_runtime(), *NAMES):
        if name is None:
            continue
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


class CudaProfiler:
    """Call before_step and after_step with the number of each step, and close at the end, whatever the end is."""

    def __init__(self, steps, rank):
        """`steps` is (first, last) or None for no profiling; rank 0 says for all why there is none."""
        self.steps = steps
        self.rank = rank
        self.runtime = open_runtime() if steps else None
        self.is_running = False
        if steps and self.runtime is None:
            self.say(f"steps {steps[0]}-{steps[1]} are not profiled: there is no CUDA runtime ({', '.join(NAMES)})")

    def say(self, text):
        if self.rank == 0:
            print(f"cuda profiler: {text}", file=sys.stderr, flush=True)

    def before_step(self, number):
        if self.runtime is not None and number == self.steps[0]:
            status = self.runtime.cudaProfilerStart()
            self.is_running = status == 0
            if status != 0:
                self.say(f"cudaProfilerStart answered {status} before step {number}: nothing is profiled")

    def after_step(self, number):
        if number == (self.steps or (None, None))[1]:
            self.close()

    def close(self):
        """A range that is left open would lose its profile."""
        if self.is_running:
            self.runtime.cudaProfilerStop()
            self.is_running = False
