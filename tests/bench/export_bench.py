#!/usr/bin/env python3
"""How fast `jaxprof-study export --perfetto` writes slices, and what a step of a large run costs.

synthetic_run and jaxprof-merge make a run of kernels, calls and ranges. The limit of the same run: the same bytes copied to
another file and synced, which any exporter has to write.

    export_bench.py BIN FOLDER [KERNELS]       by default 2 million

Prints "NAME VALUE UNIT" lines. Exit 1 where a slice is missing, or a step takes more than 1 GiB of memory.
"""

import json
import os
import pathlib
import re
import shutil
import sys
import time

from study_bench import Ended, best_of

WANTED_MILLION_A_S = 2.0
MOST_STEP_MIB = 1024


def copy_seconds(path, to):
    """The same bytes, written as the export writes them: a MiB at a time, synced at the end."""
    began = time.monotonic()
    with open(path, "rb") as source, open(to, "wb", buffering=0) as copy:
        while piece := source.read(1 << 20):
            copy.write(piece)
        os.fsync(copy.fileno())
    took_s = time.monotonic() - began
    to.unlink()
    return took_s


def main():
    binaries, folder = map(pathlib.Path, sys.argv[1:3])
    n_kernels = int(sys.argv[3]) if len(sys.argv) > 3 else 2_000_000
    directory, path, trace = folder / "export_run", folder / "export.h5", folder / "export.pftrace"
    shutil.rmtree(directory, ignore_errors=True)
    truth = json.loads(Ended(binaries / "synthetic_run", directory, "--processes", 8, "--kernels", n_kernels, "--nccl",
                             n_kernels // 50, "--nvtx", n_kernels // 10, "--steps", 20).out)
    Ended(binaries / "jaxprof-merge", directory, "-o", path, "-f", "--quiet")
    shutil.rmtree(directory)
    study = binaries / "jaxprof-study"
    whole = best_of(2, study, "export", path, "--perfetto", trace, "--whole-run", "--max-slices", 10 * n_kernels)
    n_slices = int(re.search(r"(\d+) slices", whole.out.decode()).group(1))
    copy_s = min(copy_seconds(trace, folder / "export.copy") for _ in range(2))
    size_mib = trace.stat().st_size / 2**20
    step = best_of(2, study, "export", path, "--perfetto", trace, "--steps", 10)
    for left in (path, trace):
        left.unlink()
    print(f"export.million_slices_a_s {n_slices / whole.wall_s / 1e6:.2f} M/s of {n_slices / 1e6:.1f} M, "
          f"{size_mib:.0f} MiB, wanted {WANTED_MILLION_A_S} M/s")
    print(f"export.whole.peak_mib {whole.peak_mib:.0f} MiB")
    print(f"export.step.seconds {step.wall_s:.3f} s, {step.peak_mib:.0f} MiB")
    print(f"export.whole_to_copy {whole.wall_s / copy_s:.2f} ratio")
    print(f"export.step_to_whole {step.wall_s / whole.wall_s:.3f} ratio", flush=True)
    if n_slices < truth["rows"]["kernels"] + truth["rows"]["nvtx"]:
        sys.exit(f"export_bench: {n_slices} slices of {truth['rows']['kernels']} kernels and {truth['rows']['nvtx']} ranges")
    if step.peak_mib > MOST_STEP_MIB:
        sys.exit(f"export_bench: a step takes {step.peak_mib:.0f} MiB, at most {MOST_STEP_MIB}")


if __name__ == "__main__":
    main()
