#!/usr/bin/env python3
"""How long the studies of collectives take on many calls, and `kernels` on many kernels.

Run files: write_collectives makes two of collectives alone, many a rank and many ranks; synthetic_run and jaxprof-merge
make one of kernels. The limit of the same run: h5py reading the columns that `spread` reads, by processor time, and for
`kernels` those of its table.

    study_bench.py BIN FOLDER [CALLS_OF_64 CALLS_OF_1024 KERNELS]    by default 8,000, 250 and 2 million; in full
                                                                     125,000, 4,000 and 100 million

Prints "NAME VALUE UNIT" lines. Exit 1 where `kernels` counts wrong or takes more than 1 GiB.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

STUDIES = ("spread", "lateness", "stragglers", "pace", "critical", "whatif", "nccl")
WANTED_S = {"64": 5.0, "1024": 5.0, "kernels": 20.0}  # on two cores, in full: depends on the machine, printed only
MOST_KERNEL_MIB = 1024
COLUMNS = {"nccl": ("start_ns", "end_api_ns", "gpu_start_ns", "gpu_dur_ns", "comm", "coll", "dtype", "algo", "proto",
                    "size_bytes", "parent", "instance", "graph", "replay"),
           "kernels": ("start_ns", "dur_ns", "name", "device", "flags")}


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
            sys.exit(f"{' '.join(str(word) for word in words)} ended with {process.returncode}")


def read_table(path, table):
    import h5py  # pylint: disable=import-outside-toplevel

    began = time.process_time()
    with h5py.File(path) as file:
        for column in COLUMNS[table]:
            file[f"events/{table}/{column}"][:]  # pylint: disable=expression-not-assigned
    print(time.process_time() - began)


def read_by_h5py(path, table):
    """Processor time, by another process: what a parent takes counts as its children's memory."""
    return float(Ended(sys.executable, __file__, "--read", path, table).out)


def best_of(runs, *words):
    return min((Ended(*words) for _ in range(runs)), key=lambda run: run.wall_s)


def bench_collectives(binaries, folder, processes, calls):
    path = folder / f"collectives{processes}.h5"
    Ended(binaries / "write_collectives", processes, calls, path)
    h5py_s = read_by_h5py(path, "nccl")
    wall_s = cpu_s = peak_mib = 0
    for study in STUDIES:
        run = best_of(2, binaries / "jaxprof-study", study, path, "--format", "csv", "--out", folder / "out.csv")
        print(f"study.{processes}.{study}.seconds {run.wall_s:.3f} s, {run.peak_mib:.0f} MiB")
        wall_s, cpu_s, peak_mib = wall_s + run.wall_s, cpu_s + run.cpu_s, max(peak_mib, run.peak_mib)
    path.unlink()
    print(f"study.{processes}.all.seconds {wall_s:.3f} s of {processes * calls / 1e6:.1f} M calls, wanted "
          f"{WANTED_S[str(processes)]} s for 8 and 4 M")
    print(f"study.{processes}.peak_mib {peak_mib:.0f} MiB")
    print(f"study.{processes}.all.to_h5py {cpu_s / h5py_s:.3f} ratio", flush=True)
    return []


def bench_kernels(binaries, folder, n_kernels):
    directory, path = folder / "run", folder / "kernels.h5"
    shutil.rmtree(directory, ignore_errors=True)
    truth = json.loads(Ended(binaries / "synthetic_run", directory, "--processes", 8, "--kernels", n_kernels).out)
    Ended(binaries / "jaxprof-merge", directory, "-o", path, "-f", "--quiet")
    shutil.rmtree(directory)
    run = best_of(2, binaries / "jaxprof-study", "kernels", path, "--format", "json", "--all-steps")
    h5py_s = read_by_h5py(path, "kernels")
    path.unlink()
    counted = sum(row["count"] for row in json.loads(run.out)["rows"])
    print(f"study.kernels.seconds {run.wall_s:.3f} s of {truth['rows']['kernels'] / 1e6:.1f} M, wanted "
          f"{WANTED_S['kernels']} s for 100 M")
    print(f"study.kernels.peak_mib {run.peak_mib:.0f} MiB")
    print(f"study.kernels.to_h5py {run.cpu_s / h5py_s:.3f} ratio", flush=True)
    if counted != truth["rows"]["kernels"]:
        yield f"kernels counts {counted}, the run has {truth['rows']['kernels']}"
    if run.peak_mib > MOST_KERNEL_MIB:
        yield f"kernels takes {run.peak_mib:.0f} MiB, at most {MOST_KERNEL_MIB}"


def main():
    if sys.argv[1] == "--read":
        read_table(*sys.argv[2:4])
        return 0
    binaries, folder = map(pathlib.Path, sys.argv[1:3])
    of_64, of_1024, n_kernels = map(int, sys.argv[3:6]) if len(sys.argv) > 3 else (8_000, 250, 2_000_000)
    folder.mkdir(parents=True, exist_ok=True)
    failures = [*bench_collectives(binaries, folder, 64, of_64), *bench_collectives(binaries, folder, 1024, of_1024),
                *bench_kernels(binaries, folder, n_kernels)]
    for failure in failures:
        print(f"study_bench: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
