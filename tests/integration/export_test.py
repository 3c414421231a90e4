#!/usr/bin/env python3
"""jaxprof-study export: what it writes of a run file is what h5py reads of it.

Traces are decoded by the `perfetto` package. Perfetto's trace processor itself is not at hand: its program is brought
over the network when it is first used.
"""

import collections
import csv
import os
import signal
import subprocess
import sys
import time
import unittest

import run_tools as tools
from run_tools import BIN

try:
    from perfetto_trace import Trace
except ImportError:  # Debian's Python: on with that of the environment that has the package
    from real_programs import set_up_path

    python = set_up_path("perfetto")
    tools.require("perfetto", python.exists(), f"there is no {python}; run: bash tests/setup.sh tests")
    os.execv(python, [str(python), "-B", *sys.argv])

import h5py  # pylint: disable=wrong-import-position
import straggler_scenarios  # pylint: disable=wrong-import-position

NO_ROW = 2**64 - 1


def export(*arguments):
    return tools.run(BIN / "jaxprof-study", "export", *arguments)


class Run:
    """A run file by h5py: columns, and which process rows are of."""

    def __init__(self, path):
        self.file = h5py.File(path)
        self.strings = [text.decode(errors="replace") for text in self.file["strings/value"][:]]

    def column(self, path):
        return self.file[path][:]

    def process_of(self, kind):
        offset = self.file[f"events/{kind}/process_offset"][:]
        return [process for process in range(len(offset) - 1) for _ in range(offset[process], offset[process + 1])]

    def rows(self, kind, start="start_ns", dur="dur_ns"):
        """(process, start, length, row) of rows with a start and a length."""
        starts, durs = self.column(f"events/{kind}/{start}"), self.column(f"events/{kind}/{dur}")
        return [(process, int(s), int(d), row)
                for row, (process, s, d) in enumerate(zip(self.process_of(kind), starts, durs)) if s >= 0 and d >= 0]

    def word(self, path, row):
        values = self.file[path]
        return {v: k for k, v in h5py.check_enum_dtype(values.dtype).items()}[values[row]]


class Exported(tools.FolderCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made = straggler_scenarios.make("kernels", 3)
        cls.path = str(cls.made.run_file)
        cls.run_file = Run(cls.path)
        written = export(cls.path, "--perfetto", "whole.pftrace", "--whole-run")
        assert written.status == 0, written
        cls.whole = Trace("whole.pftrace")

    def trace(self, *arguments):
        written = export(self.path, "--perfetto", "part.pftrace", *arguments)
        self.assertEqual(written.status, 0, written)
        return Trace("part.pftrace"), written.out

    def spans(self, slices):
        return sorted((self.whole_or_part.process(s.track)[0] - 1, s.start_ns, s.dur_ns, s.name) for s in slices)


class Slices(Exported):
    def setUp(self):
        self.whole_or_part = self.whole

    def test_kernels_are_those_of_the_file(self):
        names = self.run_file.column("events/kernels/name")
        expected = sorted((p, s, d, self.run_file.strings[names[row]]) for p, s, d, row in self.run_file.rows("kernels"))
        self.assertGreater(len(expected), 1000)
        self.assertEqual(self.spans(self.whole.of("kernel")), expected)

    def test_copies_are_those_of_the_file(self):
        kinds = self.run_file.file["events/memops/kind"]
        words = {v: k for k, v in h5py.check_enum_dtype(kinds.dtype).items()}
        kinds = kinds[:]
        expected = sorted((p, s, d, words[kinds[row]]) for p, s, d, row in self.run_file.rows("memops"))
        self.assertEqual(self.spans(self.whole.of("memop")), expected)

    def test_ranges_are_those_of_the_file(self):
        names, kinds = self.run_file.column("events/nvtx/name"), self.run_file.column("events/nvtx/kind")
        expected = sorted((p, s, d, self.run_file.strings[names[row]])
                          for p, s, d, row in self.run_file.rows("nvtx") if kinds[row] != 2)
        self.assertGreater(len(expected), 100)
        ended = [s for s in self.whole.of("nvtx") if "never_ended" not in s.notes]
        self.assertEqual(self.spans(ended), expected)

    def test_calls_and_collectives_are_those_of_the_file(self):
        colls = self.run_file.file["events/nccl/coll"]
        words = {v: k for k, v in h5py.check_enum_dtype(colls.dtype).items()}
        colls, ends = colls[:], self.run_file.column("events/nccl/end_api_ns")
        on_gpu = sorted((p, s, d, words[colls[row]]) for p, s, d, row in self.run_file.rows("nccl", "gpu_start_ns", "gpu_dur_ns"))
        on_host = sorted((p, s, int(ends[row]) - s, words[colls[row]]) for p, s, _, row in self.run_file.rows("nccl", dur="gpu_dur_ns"))
        self.assertGreater(len(on_gpu), 100)
        self.assertEqual(self.spans(self.whole.of("collective")), on_gpu)
        self.assertEqual(self.spans(self.whole.of("nccl_call")), on_host)

    def test_steps_are_those_of_the_file(self):
        columns = [self.run_file.column(f"steps/{name}") for name in ("process", "start_ns", "dur_ns", "step")]
        expected = sorted((int(p), int(s), int(d), f"step {n}") for p, s, d, n in zip(*columns) if d >= 0)
        self.assertGreater(len(expected), 100)
        self.assertEqual(self.spans(s for s in self.whole.of("step") if "never_ended" not in s.notes), expected)

    def test_each_process_has_its_name(self):
        processes = self.run_file.column("job/processes")
        hosts = self.run_file.column("job/nodes")["host"]
        names = {track.process.pid - 1: track.process.process_name
                 for track in self.whole.tracks.values() if track.HasField("process")}
        for row in processes:
            self.assertEqual(names[row["process"]],
                             f"rank {row['rank']} ({self.run_file.strings[hosts[row['node']]]}, "
                             f"local rank {row['local_rank']}, pid {row['pid']})")

    def test_slices_lie_inside_or_beside_each_other(self):
        by_track = collections.defaultdict(list)
        for one in self.whole.slices:
            by_track[one.track].append(one)
        for slices in by_track.values():
            is_flat = slices[0].category in ("kernel", "memop", "collective", "late")
            open_ends = []
            for one in slices:
                while open_ends and open_ends[-1] <= one.start_ns:
                    open_ends.pop()
                if open_ends:
                    self.assertFalse(is_flat, one)
                    self.assertLessEqual(one.start_ns + one.dur_ns, open_ends[-1])
                open_ends.append(one.start_ns + one.dur_ns)

    def test_an_instance_joins_its_members(self):
        offset, members = (self.run_file.column(f"collectives/{name}") for name in ("member_offset", "event_row"))
        rows = {row: (p, s) for p, s, _, row in self.run_file.rows("nccl", "gpu_start_ns", "gpu_dur_ns")}
        flows = self.whole.flows()
        self.assertEqual(len(flows), len(offset) - 1)
        for instance in range(len(offset) - 1):
            expected = sorted(rows[row] for row in members[offset[instance]:offset[instance + 1]])
            joined = [(self.whole.process(s.track)[0] - 1, s.start_ns) for s in flows[instance + 1]]
            self.assertEqual(sorted(joined), expected)

    def test_calls_have_their_size_type_and_step(self):
        sizes = self.run_file.column("events/nccl/size_bytes")
        expected = collections.Counter(int(sizes[row]) for *_, row in self.run_file.rows("nccl", "gpu_start_ns", "gpu_dur_ns"))
        collectives = self.whole.of("collective")
        self.assertEqual(collections.Counter(s.notes["size_bytes"] for s in collectives), expected)
        ends = collections.defaultdict(int)
        for process, start, dur in zip(*(self.run_file.column(f"steps/{name}") for name in ("process", "start_ns", "dur_ns"))):
            ends[int(process)] = max(ends[int(process)], int(start + dur))
        for one in collectives:
            self.assertLessEqual({"dtype", "communicator", "seq", "instance"}, one.notes.keys())
            self.assertEqual("step" in one.notes, one.start_ns < ends[self.whole.process(one.track)[0] - 1])

    def test_late_arrivals_are_those_by_the_file_s_times(self):
        offset, members = (self.run_file.column(f"collectives/{name}") for name in ("member_offset", "event_row"))
        flags = self.run_file.column("collectives/flags")
        starts = self.run_file.column("events/nccl/gpu_start_ns")
        process_of = self.run_file.process_of("nccl")
        expected = []
        for instance in range(len(offset) - 1):
            rows = members[offset[instance]:offset[instance + 1]]
            times = sorted(int(starts[row]) for row in rows)
            middle = times[len(times) // 2 - 1] + (times[len(times) // 2] - times[len(times) // 2 - 1]) // 2
            expected += [(process_of[row], times[0], int(starts[row]) - times[0], not flags[instance] & 8)
                         for row in rows if starts[row] > middle and starts[row] - times[0] > 10_000]
        late = [(self.whole.process(s.track)[0] - 1, s.start_ns, s.notes["late_ns"], s.notes["resolved"])
                for s in self.whole.of("late")]
        self.assertGreater(len(late), 10)
        self.assertEqual(sorted(late), sorted(expected))
        self.assertTrue(all(s.dur_ns == s.notes["late_ns"] for s in self.whole.of("late")))

    def test_time_is_the_run_s_axis_and_wall_time_is_told(self):
        self.assertEqual(self.whole.clocks, {6: 0, 1: self.run_file.file.attrs["epoch_unix_ns"]})


class Counters(Exported):
    """Tracks of values are named after their port or GPU and the counter, and lie below its node or process."""

    def tracks(self):
        return {(self.whole.process(uuid)[1], track.name): (self.whole.values[uuid], track.counter.unit_name)
                for uuid, track in self.whole.tracks.items() if track.HasField("counter")}

    def subjects(self, group, offset):
        """(row, middles of its readings, a function that gives a counter's values) of each that was read."""
        offset, flags = group[offset][:], group["flags"][:]
        middles = group["time_ns"][:] + group["read_ns"][:] // 2
        for row, (begin, end) in enumerate(zip(offset[:-1], offset[1:])):
            keep = [i for i in range(int(begin), int(end)) if not flags[i] & 8]
            if keep:
                yield row, middles[keep], flags[keep], keep

    def test_readings_of_gpus_are_those_of_the_file(self):
        group, devices = self.run_file.file["counters/gpu"], self.run_file.column("job/devices")
        tracks, n_compared = self.tracks(), 0
        names = {track.process.pid - 1: track.process.process_name
                 for track in self.whole.tracks.values() if track.HasField("process")}
        for row, middles, _, keep in self.subjects(group, "device_offset"):
            for name, counter in group.items():
                if counter.attrs.get("kind") != "gauge" or counter.attrs["units"] == "bits":
                    continue
                values, scale = counter[:][keep], int(counter.attrs["scale"])
                expected = [(int(t), float(v) * scale) for t, v in zip(middles, values) if v != NO_ROW]
                if expected:
                    key = names[devices["process"][row]], f"GPU {devices['ordinal'][row]} {name}"
                    self.assertEqual(tracks[key], (expected, counter.attrs["units"]))
                    n_compared += len(expected)
        self.assertGreater(n_compared, 100)

    def test_rates_of_ports_are_those_of_the_file(self):
        nics, nodes = self.run_file.column("job/nics"), self.run_file.column("job/nodes")
        tracks, n_compared = self.tracks(), 0
        for driver, group in self.run_file.file["counters/nic"].items():
            for row, middles, flags, keep in self.subjects(group, "nic_offset"):
                for name in ("port_xmit_data", "port_rcv_data"):  # in units of 4 bytes
                    values, scale = group[name][:][keep], int(group[name].attrs["scale"])
                    read = [i for i, value in enumerate(values) if value != NO_ROW]
                    expected = [(int(middles[a]), (int(values[b]) - int(values[a])) * scale * 1e9 / int(middles[b] - middles[a]))
                                for a, b in zip(read, read[1:]) if not flags[b] & 1 and values[b] >= values[a]]
                    if not any(rate for _, rate in expected):
                        continue
                    host = self.run_file.strings[nodes["host"][nics["node"][row]]]
                    port = self.run_file.strings[nics["full_name"][row]]
                    values, unit = tracks[f"node {host}", f"{port} {name}"]
                    self.assertEqual(unit, "bytes/s", driver)
                    self.assertEqual([t for t, _ in values], [t for t, _ in expected])
                    for (_, found), (_, rate) in zip(values, expected):
                        self.assertAlmostEqual(found, rate, delta=1e-6 * max(rate, 1))
                    n_compared += len(expected)
        self.assertGreater(n_compared, 100)


class Choosing(Exported):
    def test_by_default_the_step_with_most_wait_and_those_around_it(self):
        waits = [sum(step["wait_ns"]) for step in self.made.steps]
        worst = waits.index(max(waits))
        trace, said = self.trace()
        steps = {s.notes["step"] for s in trace.of("kernel")}
        self.assertEqual(steps, {worst - 1, worst, worst + 1} & set(range(len(waits))))
        self.assertIn(f"most wait is in step {worst}:", said)

    def test_steps_and_ranks(self):
        trace, said = self.trace("--steps", "5", "--ranks", "2,4")
        self.assertIn("step 5 of ranks 2,4", said)
        ranks = self.run_file.column("job/processes")["rank"]
        self.assertEqual({trace.process(s.track)[0] - 1 for s in trace.slices},
                         {row for row, rank in enumerate(ranks) if rank in (2, 4)})
        # A process's step lasts to the begin of its next one.
        steps = {}
        for process, number, start in zip(*(self.run_file.column(f"steps/{name}") for name in ("process", "step", "start_ns"))):
            steps[int(process), int(number)] = int(start)
        expected = sorted((p, s) for p, s, _, _ in self.run_file.rows("kernels")
                          if ranks[p] in (2, 4) and steps[p, 5] <= s < steps[p, 6])
        self.assertEqual(sorted((trace.process(s.track)[0] - 1, s.start_ns) for s in trace.of("kernel")), expected)

    def test_a_part_of_the_run_has_the_ranges_around_it(self):
        begin, end = 60_000_000, 70_000_000
        trace, _ = self.trace("--window", "60ms:70ms")
        parents = self.run_file.column("events/nvtx/parent")
        wanted = {row for _, s, _, row in self.run_file.rows("nvtx") if begin <= s < end}
        for row in sorted(wanted):
            while parents[row] != NO_ROW:
                row = int(parents[row])
                wanted.add(row)
        self.assertEqual(sorted(s.start_ns for s in trace.of("nvtx")),
                         sorted(int(self.run_file.column("events/nvtx/start_ns")[row]) for row in wanted))

    def test_too_many_slices_are_refused_with_the_way_out(self):
        refused = export(self.path, "--perfetto", "no.pftrace", "--whole-run", "--max-slices", 100)
        self.assertEqual(refused.status, 2)
        self.assertRegex(refused.err, "more than 100, and a viewer .*--ranks, --steps or --window.*--max-slices [0-9]+")
        self.assertFalse(os.path.exists("no.pftrace"))


class Names(Exported):
    def test_any_name_is_right(self):
        names = ['say "hi", you', "<script>alert(1)</script>", "two\nlines\r\n", "x" * 60_000, b"\xff\xfe broken"]
        path = "names.h5"
        with open(self.path, "rb") as source, open(path, "wb") as copy:
            copy.write(source.read())
        with h5py.File(path, "r+") as file:
            ids = sorted(set(file["events/kernels/name"][:]))[:len(names)]
            self.assertEqual(len(ids), len(names))
            for number, name in zip(ids, names):
                file["strings/value"][number] = name
        written = export(path, "--perfetto", "names.pftrace", "--whole-run")
        self.assertEqual(written.status, 0, written)
        found = {s.name for s in Trace("names.pftrace").of("kernel")}
        expected = {name.decode(errors="replace") if isinstance(name, bytes) else name for name in names}
        self.assertLessEqual(expected, found)


class Csv(Exported):
    """Every value of every table, as Python's csv module and h5py read it."""

    def tables(self, path, folder):
        written = export(path, "--csv", folder)
        self.assertEqual(written.status, 0, written)
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), newline="", encoding="utf-8") as file:
                rows = list(csv.reader(file))
            group = h5py.File(path)[f"events/{name[:-4]}" if f"events/{name[:-4]}" in h5py.File(path) else name[:-4]]
            yield name[:-4], group, rows[0], rows[1:]

    def expected(self, dataset, strings):
        words = h5py.check_enum_dtype(dataset.dtype)
        values, missing, units = dataset[:].tolist(), dataset.attrs["missing_value"], dataset.attrs["units"]
        if words:
            words = {v: k for k, v in words.items()}
            return ["" if words[v] == "missing_value" else words[v] for v in values]
        if units == "index of /strings/value":
            return [strings[v] for v in values]
        if units == "bits":
            return [str(v) for v in values]
        return ["" if v == missing or v != v else v for v in values]

    def compare(self, path, folder):
        strings = [text.decode(errors="replace") for text in h5py.File(path)["strings/value"][:]]
        seen = {}
        for name, group, header, rows in self.tables(path, folder):
            seen[name] = len(rows)
            self.assertEqual([row[0] for row in rows], [str(i) for i in range(len(rows))])
            by_name = dict(zip(header, zip(*rows))) if rows else {}
            columns = [key for key in group if not key.endswith("_offset") and key != "event_row"]
            for column in columns:
                units = group[column].attrs["units"]
                key = column if column in header else f"{column}_{units}"
                self.assertIn(key, header)
                if not rows:
                    continue
                for found, value in zip(by_name[key], self.expected(group[column], strings), strict=True):
                    if isinstance(value, str) or value == "":
                        self.assertEqual(found, value, f"{name} {key}")
                    else:
                        self.assertEqual(type(value)(found), value, f"{name} {key}")
            if "process_offset" in group and rows and name != "steps":
                offset = group["process_offset"][:]
                self.assertEqual([int(p) for p in by_name["process"]],
                                 [p for p in range(len(offset) - 1) for _ in range(offset[p], offset[p + 1])])
        return seen

    def test_every_value_is_that_of_the_file(self):
        seen = self.compare(self.path, "tables")
        self.assertEqual(set(seen), {"nvtx", "nccl", "kernels", "memops", "api", "overhead", "graphs", "syncs",
                                     "cuda_events", "nccl_work", "steps", "collectives", "transfers"})
        self.assertGreater(seen["kernels"], 1000)

    def test_any_name_is_right(self):
        with open(self.path, "rb") as source, open("csv_names.h5", "wb") as copy:
            copy.write(source.read())
        names = ['say "hi", you', "<script>alert(1)</script>", "two\nlines\r\n", "x" * 60_000, b"\xff\xfe broken"]
        with h5py.File("csv_names.h5", "r+") as file:
            for number, name in zip(sorted(set(file["events/kernels/name"][:])), names):
                file["strings/value"][number] = name
        self.compare("csv_names.h5", "csv_names")


class Ends(Exported):
    def test_a_full_disk_leaves_nothing(self):
        limited = subprocess.run(["prlimit", "--fsize=65536", BIN / "jaxprof-study", "export", self.path, "--perfetto",
                                  "full.pftrace", "--whole-run"], capture_output=True, text=True, check=False,
                                 preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN))
        self.assertEqual(limited.returncode, 5, limited)
        self.assertIn("full.pftrace.part: cannot be written: File too large", limited.stderr)
        self.assertFalse([name for name in os.listdir() if name.startswith("full.pftrace")])

    def test_a_killed_export_leaves_no_file_of_that_name(self):
        for wait_s in (0.0, 0.005, 0.02, 0.05):
            with subprocess.Popen([BIN / "jaxprof-study", "export", self.path, "--perfetto", "killed.pftrace", "--whole-run"],
                                  stdout=subprocess.DEVNULL) as process:
                time.sleep(wait_s)  # any instant will do
                process.kill()
            if os.path.exists("killed.pftrace"):
                Trace("killed.pftrace")  # is whole
                os.unlink("killed.pftrace")

    def test_the_run_file_itself_stays(self):
        self.assertEqual(export(self.path, "--perfetto", self.path).status, 2)


if __name__ == "__main__":
    unittest.main()
