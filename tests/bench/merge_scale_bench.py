#!/usr/bin/env python3
"""How fast jaxprof-merge puts a run together, how much memory that takes, and how large the run file is.

Runs of known size are made by synthetic_run; the merge is the program itself. Its limit is merge_limit on the same run:
reading, decoding and encoding the columns that differ, and nothing else; `to_limit` is the limit's processor time by the
merge's, which other work on the machine does not change much. Where the rest goes is told by merge_stages. Rates are by
wall clock. Memory is ru_maxrss, and the most of anonymous memory that was seen (RssAnon): spools are mapped, and count
in ru_maxrss while they are read.

    merge_scale_bench.py BIN FOLDER [small|usual|full|huge]    usual: to 10 million events; full: 100; huge: 500

Prints "NAME VALUE UNIT" lines. Exit 1 where a run file does not hold what the run does, or a goal is missed that does
not depend on the machine: bytes a row, memory, and linear time.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

import h5py
import numpy as np

KERNEL_CORE = ("start_ns", "dur_ns", "name", "device", "context", "stream", "correlation")
# Goals that hold on every machine.
MOST_BYTES = {"kernel_core": 5, "kernel": 7, "nccl": 20}
MOST_MIB = 512
# Million rows a second on two cores: goals that depend on the machine, and are printed only.
RATES = {"kernel": 3, "nccl": 2, "nccl_plugin": 2}
# Twice the events may take this much more than twice the time.
LINEAR_SLACK = 1.35
TABLES = {"kernels": "events/kernels", "api": "events/api", "nvtx": "events/nvtx", "nccl": "events/nccl",
          "nccl_work": "nccl_work", "steps": "steps", "collectives": "collectives"}
PARTIAL_FLAG = 1
ORDERED_PROCESSES = 8  # of which the order of rows is looked at
TIMES_EACH = 3  # the best counts; for runs of less than this many events
REPEATED_TO = 2_000_000


class Merge:
    """One merge of a run: what it took, and its run file."""

    def __init__(self, bench, directory):
        self.output = directory.with_suffix(".h5")
        self.anonymous_kib = 0
        began = time.monotonic()
        with subprocess.Popen([bench.bin / "jaxprof-merge", directory, "-o", self.output, "-f", "--quiet",
                               "--allow-partial"]) as process:
            self._process = process
            watch = threading.Thread(target=self._watch)
            watch.start()
            _, status, usage = os.wait4(process.pid, 0)
            self.wall_s = time.monotonic() - began
            process.returncode = os.waitstatus_to_exitcode(status)
            watch.join()
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.peak_mib = usage.ru_maxrss / 1024
        self.anonymous_mib = self.anonymous_kib / 1024
        if process.returncode != 0:
            sys.exit(f"jaxprof-merge {directory} ended with {process.returncode}")

    def _watch(self):
        status = pathlib.Path(f"/proc/{self._process.pid}/status")
        while self._process.returncode is None:
            try:
                found = re.search(r"^RssAnon:\s+(\d+)", status.read_text(), re.M)
            except OSError:  # it has ended
                return
            if found is None:
                return
            self.anonymous_kib = max(self.anonymous_kib, int(found[1]))
            time.sleep(0.01)


class Bench:
    def __init__(self, binaries, folder):
        self.bin = pathlib.Path(binaries)
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.failures = []

    def generate(self, name, *options):
        """A run's folder and truth."""
        directory = self.folder / name
        shutil.rmtree(directory, ignore_errors=True)
        text = subprocess.run([self.bin / "synthetic_run", directory, *map(str, options)], check=True,
                              stdout=subprocess.PIPE).stdout
        return directory, json.loads(text)

    def merge(self, directory, truth):
        """The best of a few, or of one where it takes long."""
        n_times = TIMES_EACH if truth["events"] <= REPEATED_TO else 1
        best = min((Merge(self, directory) for _ in range(n_times)), key=lambda merge: merge.cpu_s)
        self.check(best, truth)
        return best

    def check(self, merge, truth):
        """Is the run file right? Rows in number and order, and instances."""
        with h5py.File(merge.output) as file:
            rows = {table: int(file[path].attrs["n_rows"]) for table, path in TABLES.items()}
            for table, n_rows in rows.items():
                if n_rows != truth["rows"][table]:
                    self.fail(f"{merge.output} has {n_rows} rows of {table}, the run {truth['rows'][table]}")
            partial = int(np.count_nonzero(file["collectives/flags"][:] & PARTIAL_FLAG))
            if partial != truth["partial"]:
                self.fail(f"{merge.output} has {partial} partial instances, the run {truth['partial']}")
            for table in ("kernels", "nccl", "nvtx"):
                starts, offsets = file[f"events/{table}/start_ns"], file[f"events/{table}/process_offset"][:]
                for first, last in zip(offsets[:ORDERED_PROCESSES], offsets[1:]):
                    if np.any(np.diff(starts[first:last]) < 0):
                        self.fail(f"{merge.output}: {table} are not in the order of their starts")

    def limit(self, directory, n_times=TIMES_EACH):
        def once():
            text = subprocess.run([self.bin / "merge_limit", directory], check=True, stdout=subprocess.PIPE).stdout
            return {name: float(value) for name, value in re.findall(r"^limit\.(\S+) ([0-9.]+)", text.decode(), re.M)}
        return min((once() for _ in range(n_times)), key=lambda figures: figures["cpu_s"])

    def fail(self, text):
        self.failures.append(text)

    def must(self, name, value, most, unit):
        print(f"merge_scale.{name} {value:.3f} {unit}", flush=True)
        if value > most:
            self.fail(f"{name} is {value:.3f} {unit}, at most {most}")

    def rate(self, name, directory, truth, n_rows):
        """Rows a second of a run that is mostly these rows."""
        merge, limit = self.merge(directory, truth), self.limit(directory)
        rate, of_all_cores = n_rows / merge.wall_s / 1e6, n_rows / merge.cpu_s * os.cpu_count() / 1e6
        print(f"merge_scale.{name}_rate {rate:.3f} M rows/s, wanted {RATES[name]}")
        print(f"merge_scale.{name}_rate_of_all_cores {of_all_cores:.3f} M rows/s, if {os.cpu_count()} did nothing else")
        print(f"merge_scale.{name}_cpu {merge.cpu_s / n_rows * 1e9:.0f} ns/row")
        print(f"merge_scale.{name}_limit_cpu {limit['cpu_s'] / n_rows * 1e9:.0f} ns/row")
        print(f"merge_scale.{name}_to_limit {limit['cpu_s'] / merge.cpu_s:.4f} ratio")
        print(f"merge_scale.{name}_wall_to_limit {limit['wall_s'] / merge.wall_s:.4f} ratio", flush=True)
        self.stages(name, directory, merge, n_rows)
        return merge

    def stages(self, name, directory, merge, n_rows):
        """Where the processor time goes, in the stages of merge_stages; the rest is writing, and what threads cost."""
        text = subprocess.run([self.bin / "merge_stages", directory], check=True, stdout=subprocess.PIPE).stdout.decode()
        cpu_s = {stage: float(value) for stage, value in re.findall(r"^stages\.(\w+)_cpu_s ([0-9.]+)", text, re.M)}
        cpu_s["rest"] = merge.cpu_s - cpu_s.pop("all")
        for stage, value in cpu_s.items():
            print(f"merge_scale.{name}_cpu.{stage} {value / n_rows * 1e9:.0f} ns/row")

    def sizes(self, merge, table, name):
        with h5py.File(merge.output) as file:
            group = file[f"events/{table}"]
            n_rows = int(group.attrs["n_rows"])
            bytes_of = {column: data.id.get_storage_size() for column, data in group.items() if len(data) == n_rows}
        if name == "kernel":
            core = sum(bytes_of[column] for column in KERNEL_CORE)
            self.must("kernel_core_bytes", core / n_rows, MOST_BYTES["kernel_core"], "bytes/row")
        self.must(f"{name}_bytes", sum(bytes_of.values()) / n_rows, MOST_BYTES[name], "bytes/row")
        for column, size in sorted(bytes_of.items(), key=lambda item: -item[1])[:8]:
            print(f"merge_scale.{name}_bytes.{column} {size / n_rows:.3f} bytes/row")

    def memory(self, name, n_events):
        directory, truth = self.generate(name, *mixed(n_events))
        merge = self.merge(directory, truth)
        millions = truth["events"] / 1e6
        print(f"merge_scale.{name}_rate {truth['events'] / merge.wall_s / 1e6:.3f} M events/s")
        print(f"merge_scale.{name}_cpu {merge.cpu_s / truth['events'] * 1e9:.0f} ns/event of {millions:.1f} M")
        print(f"merge_scale.{name}_anonymous_mib {merge.anonymous_mib:.1f} MiB")
        self.must(f"{name}_peak_mib", merge.peak_mib, MOST_MIB, "MiB")
        shutil.rmtree(directory)
        merge.output.unlink()

    def linear(self, name, points):
        """Processor time a unit, at the largest against the smallest; `points` are (units, options)."""
        costs = []
        for units, options in points:
            directory, truth = self.generate(name, *options)
            merge = self.merge(directory, truth)
            costs.append(merge.cpu_s / units)
            print(f"merge_scale.{name}.{units} {merge.cpu_s:.3f} s")
            shutil.rmtree(directory)
            merge.output.unlink()
        self.must(f"{name}_growth", costs[-1] / costs[0], LINEAR_SLACK, "ratio")


def mixed(n_events, processes=8, nodes=2):
    """Options of a run of about so many events: six tenths of them kernels and their CUDA calls, the rest in equal parts
    NCCL's calls, of 13 events each, and the program's ranges, of two."""
    return ("--processes", processes, "--nodes", nodes, "--kernels", n_events * 3 // 10, "--api", "--nccl",
            n_events // 80, "--nvtx", n_events // 12)


def main():
    bench = Bench(sys.argv[1], sys.argv[2])
    extent = sys.argv[3] if len(sys.argv) > 3 else "usual"
    scale = 1_000_000 if extent == "small" else 4_000_000
    kernels, truth = bench.generate("kernels", "--processes", 8, "--kernels", scale)
    merge = bench.rate("kernel", kernels, truth, truth["rows"]["kernels"])
    bench.sizes(merge, "kernels", "kernel")
    shutil.rmtree(kernels)
    # As the plugin and NVTX see calls, which are two rows then and 13 events; and as the plugin alone does.
    for name, seen_by in (("nccl", "both"), ("nccl_plugin", "plugin")):
        calls, truth = bench.generate("calls", "--processes", 8, "--nodes", 2, "--nccl", scale // 10, "--nccl-by", seen_by)
        merge = bench.rate(name, calls, truth, truth["rows"]["nccl"])
        if name == "nccl":
            bench.sizes(merge, "nccl", "nccl")
        shutil.rmtree(calls)
    bench.memory("mixed_1m", 1_000_000)
    if extent != "small":
        bench.memory("mixed_10m", 10_000_000)
        bench.linear("events", [(n, mixed(n * 1_000_000)) for n in (1, 2, 4, 8)])
        bench.linear("processes", [(n, mixed(600 * n, n, n // 8)) for n in (64, 512, 4096)])
    if extent in ("full", "huge"):
        bench.memory("mixed_100m", 100_000_000)
    if extent == "huge":
        bench.memory("mixed_500m", 500_000_000)
    for failure in bench.failures:
        print(f"merge_scale_bench: {failure}", file=sys.stderr)
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
