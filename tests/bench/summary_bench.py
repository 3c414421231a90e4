#!/usr/bin/env python3
"""How long jaxprof-study summary takes on a large run file, and in how much memory.

Run files of known size are made by synthetic_run and jaxprof-merge, deflated and as they are. Times are the median of
five, with the file in memory. Limits of the same run: h5py reading the columns that a summary counts, by processor time,
and `cat`, by wall clock.

    summary_bench.py BIN FOLDER [EVENTS_GZIP EVENTS_NONE]    by default 2 million and 1 million; 1 GB is 250 and 14

Prints "NAME VALUE UNIT" lines. Exit 1 where a summary counts wrong or takes more than 200 MiB.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

MOST_MIB = 200
WANTED_S = 1.0  # for 1 GB on two cores: depends on the machine, and is printed only
TIMES = 5
COUNTED = {"events/nvtx": ("kind",), "events/kernels": ("flags", "graph_node"), "events/memops": ("flags",),
           "events/api": ("flags",), "events/graphs": ("flags",), "collectives": ("flags",),
           "events/nccl": ("coll", "parent", "gpu_dur_ns", "group", "graph", "instance", "replay", "path")}
ITEMS = {"kernels": ("gpus", "kernels"), "api": ("gpus", "API calls"), "nccl": ("events", "NCCL calls"),
         "collectives": ("instances", "instances")}


class Ended:
    """A program that has ended: what it took and said."""

    def __init__(self, *words):
        began = time.monotonic()
        with subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE) as process:
            self.out = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.wall_s = time.monotonic() - began
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.peak_mib = usage.ru_maxrss / 1024
        if process.returncode != 0:
            sys.exit(f"{words[0]} ended with {process.returncode}")


def median(values):
    return statistics.median(list(values))


def mixed(n_events):
    """As merge_scale_bench.py: six tenths kernels and their CUDA calls, the rest NCCL's and the program's."""
    return ("--processes", 8, "--nodes", 2, "--kernels", n_events * 3 // 10, "--api", "--nccl", n_events // 80, "--nvtx",
            n_events // 12)


def read_counted(path):
    """Processor time of reading, column by column, what a summary counts. By another process: what a parent takes counts
    as its children's memory."""
    return float(Ended(sys.executable, __file__, "--read", path).out)


def read_by_h5py(path):
    import h5py  # pylint: disable=import-outside-toplevel

    began = time.process_time()
    with h5py.File(path) as file:
        for table, columns in COUNTED.items():
            for column in columns:
                file[f"{table}/{column}"][:]  # pylint: disable=expression-not-assigned
    print(time.process_time() - began)


def faults_of(document, truth):
    values = {(row["section"], row["item"]): row["value"] for row in document["rows"]}
    for table, item in ITEMS.items():
        if values[item] != truth["rows"][table]:
            yield f"a summary counts {values[item]} rows of {table}, the run has {truth['rows'][table]}"


def bench(binaries, folder, compression, n_events):
    name, directory, path = f"summary.{compression}", folder / "run", folder / f"{compression}.h5"
    shutil.rmtree(directory, ignore_errors=True)
    truth = json.loads(Ended(binaries / "synthetic_run", directory, *mixed(n_events)).out)
    Ended(binaries / "jaxprof-merge", directory, "-o", path, "-f", "--quiet", "--compression", compression)
    shutil.rmtree(directory)
    summary = (binaries / "jaxprof-study", "summary", path)
    document = json.loads(Ended(*summary, "--format", "json").out)
    runs = [Ended(*summary) for _ in range(TIMES)]
    cat_s = median(Ended("sh", "-c", 'cat "$0" >/dev/null', path).wall_s for _ in range(TIMES))
    h5py_s = median(read_counted(path) for _ in range(TIMES if n_events < 10_000_000 else 1))
    wall_s, cpu_s = (median(getattr(run, what) for run in runs) for what in ("wall_s", "cpu_s"))
    peak_mib = max(run.peak_mib for run in runs)
    print(f"{name}.file_mb {path.stat().st_size / 1e6:.0f} MB of {truth['events'] / 1e6:.1f} M events")
    print(f"{name}.seconds {wall_s:.3f} s, wanted {WANTED_S} s for 1 GB")
    print(f"{name}.cpu_seconds {cpu_s:.3f} s")
    print(f"{name}.peak_mib {peak_mib:.1f} MiB")
    print(f"{name}.to_h5py {cpu_s / h5py_s:.3f} ratio")
    print(f"{name}.to_cat {wall_s / cat_s:.3f} ratio", flush=True)
    path.unlink()
    yield from faults_of(document, truth)
    if peak_mib > MOST_MIB:
        yield f"{name}: {peak_mib:.0f} MiB, at most {MOST_MIB}"


def main():
    if sys.argv[1] == "--read":
        read_by_h5py(sys.argv[2])
        return 0
    binaries, folder = map(pathlib.Path, sys.argv[1:3])
    n_gzip, n_none = map(int, sys.argv[3:5]) if len(sys.argv) > 3 else (2_000_000, 1_000_000)
    folder.mkdir(parents=True, exist_ok=True)
    failures = [*bench(binaries, folder, "gzip", n_gzip), *bench(binaries, folder, "none", n_none)]
    for failure in failures:
        print(f"summary_bench: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
