"""Reads jaxprof's run files: tables as pandas DataFrames, events by rank, process, step or time.

A run file is plain HDF5 (merge/runfile/FORMAT.md), but ids have to become text, numbers words, and 2^64-1 nothing; and
of a file of 100 M events nobody wants to read all to see one step. This one file does that: copy it next to your
notebook. It needs h5py 2.10 and Python 3.8 or newer, numpy, and for DataFrames pandas 1.1 or newer.

    import jaxprof_file

    with jaxprof_file.open("run.h5") as run:
        print(run, run.tables())
        calls = run.events("nccl", rank=3, step=range(200, 210), columns=["coll", "size_bytes", "gpu_dur_ns"])
        print(calls.groupby(["coll", "size_bytes"], observed=True)["gpu_dur_ns"].median())

What a column of a DataFrame is:
- text (an id of /strings/value, fixed text) and words (HDF5 enumerations): categorical, missing ones are NaN.
- flags, as is_complete: bool. Other integers, times in ns included: as in the file, so that times stay exact int64.
  Where at least one of the values that were read is missing it is pandas' nullable type of the same width instead
  (Int64, UInt32, boolean), with <NA>: never -1 or 2^64-1, and never a float.
- floating-point: float64, missing ones are NaN.
The index, `row`, is the row's number in the table of the file: what "row of" and "index of" columns refer to.

Times are int64 ns on the run's time axis, from 0. One thread at a time. What is no run file, incomplete or too new
raises RunFileError; a table, column, rank or step that the file does not have raises LookupError.
"""

import builtins
import os

import h5py
import numpy as np

__all__ = ["RunFile", "RunFileError"]

SCHEMA = "jaxprof/1"
HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
STRINGS = "/strings/value"
CHUNK_ROWS = 131_072  # at most so many rows are compressed together
MOST_ROWS_AT_ONCE = 4 * CHUNK_ROWS  # to find small ranges in
FOREVER_NS = 2**63 - 1
NO_TIME = np.iinfo(np.int64).min  # NaT of numpy and pandas
MEMBER_OF = {"/comms": "comm", "/collectives": "instance"}
COUNTER_KEYS = ("kind", "scale", "bits", "is_error")
INSTANCE_FLAGS = {"is_partial": 1, "is_grouped": 2, "has_mismatch": 4, "is_unresolved": 8, "is_certain": 16}


class RunFileError(ValueError):
    """The file is no run file, or none that can be read; the text says why."""


def open(path, allow_incomplete=False):
    """The run file at `path` as a RunFile. With `allow_incomplete` also one whose merge did not finish, as far as HDF5
    can open it; its tables may lack rows or columns."""
    return RunFile(path, allow_incomplete)


class RunFile:
    """An open run file. `file` is the h5py.File for whatever is not covered here, `attributes` are those of its root
    as Python values (FORMAT.md, "Root attributes"), such as attributes["world_size"]."""

    def __init__(self, path, allow_incomplete=False):
        self.path, self._strings = os.fspath(path), None
        self._open()
        try:
            self.attributes = {name: _plain(value) for name, value in self.file.attrs.items()}
            self._refuse_others(allow_incomplete)
        except BaseException:
            self.close()
            raise

    def _open(self):
        """A finished run file never changes, so that HDF5's lock protects nothing; but file systems without locks
        (Lustre, NFS, read-only ones) refuse a file that is to be locked. Where that works it is locked all the same: in
        one process HDF5 opens no file once with and once without, and the caller's h5py.File locks."""
        self._stream = builtins.open(self.path, "rb")  # Python says best why a file cannot be opened
        try:
            magic = self._stream.read(len(HDF5_MAGIC))
            if magic != HDF5_MAGIC:
                raise RunFileError(f"{self.path} is " + ("not a run file (not HDF5)" if magic else "empty"))
            faults = []
            for source, options in ((self.path, {}), (self.path, {"locking": False}), (self._stream, {})):
                try:
                    self.file = h5py.File(source, "r", **options)
                    return
                except (OSError, TypeError, ValueError) as error:  # no `locking` before h5py 3.5 or HDF5 1.10.7
                    faults.append(error)
            raise RunFileError(f"HDF5 cannot open {self.path}: {faults[0]}")
        except BaseException:
            self._stream.close()
            raise

    def _refuse_others(self, allow_incomplete):
        schema = self.attributes.get("schema")
        if not isinstance(schema, str) or not schema.startswith("jaxprof/"):
            raise RunFileError(f"{self.path} is HDF5 but not a run file: its schema is {schema!r}")
        if schema != SCHEMA:
            raise RunFileError(f"{self.path} has schema {schema}, this reader knows {SCHEMA}: take the jaxprof_file.py "
                               f"of the jaxprof that wrote it ({self.attributes.get('tool_version')})")
        if self.attributes.get("complete") != 1 and not allow_incomplete:
            raise RunFileError(f"{self.path} is not complete: the merge that wrote it did not finish; merge again, or "
                               "open it with allow_incomplete=True")

    def close(self):
        self.file.close()
        self._stream.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        told = self.attributes
        return (f"<run file {self.path}: run {told.get('run_id')}, {told.get('n_processes')} processes on "
                f"{told.get('n_nodes')} nodes, {told.get('n_dropped')} events dropped>")

    # ---- tables

    def tables(self):
        """{path: number of rows} of all tables. Member columns, which share a group with another table, are the tables
        "/comms/members" and "/collectives/members"."""
        found = {}

        def visit(name, item):
            for attribute, path in (("n_rows", f"/{name}"), ("n_members", f"/{name}/members")):
                if attribute in item.attrs:
                    found[path] = int(item.attrs[attribute])

        self.file.visititems(visit)
        return found

    def table(self, path, columns=None):
        """All rows of a table, such as "/events/kernels", "/job/tasks" or "/diagnostics", with the `columns` named, or
        all. What the file says by offsets is a column too: `process` and `rank` of events, `node` of /clock/model,
        `nic` or `device` of counters, `comm` and `instance` of members, and so on."""
        table = _Table(self, path)
        return table.frame([(0, table.n_rows)], columns)

    def describe(self, path):
        """What the columns of a table mean, a row each: dtype (in the file), units, long_name; of counters also kind,
        scale, bits and is_error."""
        import pandas as pd

        table, told = _Table(self, path), {}
        for name in table.names:
            column = table.column(name)
            told[name] = {"dtype": "word" if column.words else str(column.dtype), "units": column.units,
                          "long_name": column.long_name}
            of_counters = column.dataset.attrs if "kind" in column.dataset.attrs else {}
            told[name].update({key: _plain(of_counters[key]) for key in COUNTER_KEYS if key in of_counters})
        return pd.DataFrame.from_dict(told, orient="index")

    @property
    def strings(self):
        """All texts of the run, [n_strings] objects of type str; read once, when first needed."""
        if self._strings is None:
            self._strings = np.array([_plain(text) for text in self.file[STRINGS][:]], dtype=object)
        return self._strings

    # ---- events

    def events(self, kind, columns=None, rank=None, process=None, step=None, between=None):
        """Events of one kind ("nccl", "nvtx", "kernels", "memops", "api", ...; or the path of another table that has
        `process_offset`, such as "/steps"), by (process, start_ns). Each filter narrows, and only what is left is read:

        rank, process   a number or several: processes of these ranks, these rows of /job/processes
        step            a number or several: events that start in a step of that number of their own process, on any
                        thread; a step that never ended reaches to the end. A step is a span of host time, and kernels
                        that it launched may start after it: join those by their `api`
        between         (t0_ns, t1_ns) on the run's axis: events that start at t0_ns or later and before t1_ns

        Events without a start (start_ns missing) are left out if `step` or `between` are given."""
        table = _Table(self, kind if kind.startswith("/") else f"/events/{kind}")
        if table.part != "process":
            raise LookupError(f"{self.path}: {table.path} is no table of events by process")
        processes = self._processes(rank, process)
        rows = {number: (int(table.offset[number]), int(table.offset[number + 1])) for number in processes}
        if step is None and between is None:
            return table.frame(list(rows.values()), columns)
        spans = dict.fromkeys(processes, [(0, FOREVER_NS)]) if step is None else self._step_spans(step, processes)
        t0_ns, t1_ns = (0, FOREVER_NS) if between is None else between
        starts, ranges = table.group["start_ns"], []
        for number, (first, end) in rows.items():
            for begin_ns, end_ns in spans[number]:
                first = _first_row(starts, first, end, max(begin_ns, t0_ns, 0))
                ranges.append((first, _first_row(starts, first, end, min(end_ns, t1_ns))))
        return table.frame(ranges, columns)

    def counters(self, subject, driver=None, columns=None):
        """Samples of network ports ("nic"; of one `driver`, which need not be named if there is one only) or of GPUs
        ("gpu"), by subject and time: `nic` or `device`, the row of /job/nics or /job/devices, time_ns, read_ns, flags
        and the driver's counters. Values are raw; describe("/counters/...") has their kinds and scales, and FORMAT.md
        ("Counters") says when two of them make a rate."""
        path = f"/counters/{subject}"
        if path not in self.file:
            raise LookupError(f"{self.path} has no counters of {subject}; /diagnostics tells why")
        if subject == "nic":
            drivers = sorted(self.file[path])
            driver = drivers[0] if driver is None and len(drivers) == 1 else driver
            if driver not in drivers:
                raise LookupError(f"{self.path} has counters of the drivers {', '.join(drivers)}: name one of them")
            path += f"/{driver}"
        return self.table(path, columns)

    # ---- collectives

    def collectives(self, columns=None):
        """/collectives, row i is instance i; the bits of `flags` are columns of bool as well: is_partial, is_grouped,
        has_mismatch, is_unresolved, is_certain."""
        return self._with_bits("/collectives", columns)

    def transfers(self, columns=None):
        """/transfers, sends with their receives, with the bits of `flags` as collectives() has them."""
        return self._with_bits("/transfers", columns)

    def _with_bits(self, path, columns):
        frame = self.table(path, columns)
        if "flags" in frame:
            for name, bit in INSTANCE_FLAGS.items():
                frame[name] = frame["flags"].to_numpy() & bit != 0
        return frame

    def members(self, instance, columns=None):
        """The rows of /events/nccl that are the members of an instance, in order of communicator rank. For many
        instances at once group events("nccl") by its column `instance`."""
        offset = self.file["/collectives/member_offset"]
        if not 0 <= instance < len(offset) - 1:
            raise LookupError(f"{self.path} has no instance {instance}: there are {len(offset) - 1}")
        rows = self.file["/collectives/event_row"][int(offset[instance]):int(offset[instance + 1])].astype(np.int64)
        return _Table(self, "/events/nccl").frame([(row, row + 1) for row in sorted(rows.tolist())], columns).loc[rows]

    # ---- clocks

    def to_datetime(self, ns):
        """Wall-clock time, UTC, of `ns` on the run's axis: a Timestamp of a number, a Series of a Series (missing ones
        are NaT), else a DatetimeIndex. Exact but for what /clock/nodes says of the clocks."""
        import pandas as pd

        epoch_ns, is_series = self.attributes["epoch_unix_ns"], isinstance(ns, pd.Series)
        if not is_series and np.ndim(ns) == 0:
            return pd.NaT if pd.isna(ns) else pd.Timestamp(epoch_ns + int(ns), unit="ns", tz="UTC")
        values = ns.to_numpy(np.int64, na_value=NO_TIME) if is_series else np.asarray(ns, np.int64)
        times = pd.DatetimeIndex(np.where(values == NO_TIME, NO_TIME, epoch_ns + values).view("M8[ns]"), tz="UTC")
        return pd.Series(times, index=ns.index, name=ns.name) if is_series else times

    def raw_clock(self, node, ns):
        """What CLOCK_MONOTONIC_RAW of `node` (row of /job/nodes) read at `ns` on the run's axis: int64 of the same
        shape. Beyond the node's first and last reading its line goes on."""
        return self._along_clock(node, ns, "time_ns", "raw_ns")

    def from_raw_clock(self, node, raw_ns):
        """When, on the run's axis, the node's CLOCK_MONOTONIC_RAW read `raw_ns`: the inverse of raw_clock."""
        return self._along_clock(node, raw_ns, "raw_ns", "time_ns")

    def _along_clock(self, node, values, from_name, to_name):
        model = self.file["/clock/model"]
        offset = model["node_offset"]
        if not 0 <= node < len(offset) - 1:
            raise LookupError(f"{self.path} has no node {node}: there are {len(offset) - 1}")
        rows = slice(int(offset[node]), int(offset[node + 1]))
        x, y = model[from_name][rows], model[to_name][rows]
        if len(x) < 2:
            raise LookupError(f"{self.path}: the clock of node {node} has no model; /diagnostics tells why")
        values = np.asarray(values, np.int64)
        k = np.clip(np.searchsorted(x, values, "right") - 1, 0, len(x) - 2)
        # Differences of integers first: a double does not hold a time since 1970 to the nanosecond.
        return y[k] + np.rint((values - x[k]) * ((y[k + 1] - y[k]) / (x[k + 1] - x[k]))).astype(np.int64)

    # ---- which rows

    def _processes(self, rank, process):
        """The processes of the ranks and numbers wanted, in order."""
        ranks = self.file["/job/processes"][:]["rank"]
        chosen = np.ones(len(ranks), bool)
        for what, wanted, there in (("rank", rank, ranks), ("process", process, np.arange(len(ranks)))):
            if wanted is None:
                continue
            absent = np.setdiff1d(wanted, there)
            if len(absent):
                raise LookupError(f"{self.path} has no process of {what} {', '.join(map(str, absent))}; "
                                  "/job/tasks and /diagnostics tell why")
            chosen &= np.isin(there, np.unique(wanted))
        return np.flatnonzero(chosen).tolist()

    def _step_spans(self, step, processes):
        """{process: [(begin_ns, end_ns), ...]}: spans that ascend and do not touch, in which a step wanted went on."""
        steps = _Table(self, "/steps")
        numbers, starts, lengths = (steps.group[name][:] for name in ("step", "start_ns", "dur_ns"))
        ends = np.where(lengths < 0, FOREVER_NS, starts + lengths)
        is_wanted = np.isin(numbers, np.unique(step))
        spans = {process: [] for process in processes}
        for process, merged in spans.items():
            rows = np.arange(steps.offset[process], steps.offset[process + 1])
            for row in rows[is_wanted[rows]]:
                if merged and starts[row] <= merged[-1][1]:
                    merged[-1] = merged[-1][0], max(merged[-1][1], ends[row])
                else:
                    merged.append((starts[row], ends[row]))
        if not any(spans.values()):
            recorded = f"{numbers.min()} to {numbers.max()}" if len(numbers) else "none, /diagnostics tells why"
            raise LookupError(f"{self.path}: no process asked for has step {step}; steps recorded: {recorded}")
        return spans


class _Table:
    """A table of the file: a group with a dataset a column, or one compound dataset; either is `group`. `offset`, int64
    [n_parts + 1], divides its rows by what the column `part` says, if anything does."""

    def __init__(self, run, path):
        self.run, self.path = run, "/" + path.strip("/")
        is_members = self.path.endswith("/members") and self.path not in run.file
        owner, length = (self.path[:-len("/members")], "n_members") if is_members else (self.path, "n_rows")
        self.group = run.file.get(owner)
        if self.group is None or (length not in self.group.attrs and run.attributes.get("complete") == 1):
            raise self._lacks(f"has no table {self.path}", run.tables())
        self.part = self.offset = None
        if isinstance(self.group, h5py.Dataset):
            self.names, self.n_rows = list(self.group.dtype.names), len(self.group)
            return
        datasets = {name: item for name, item in self.group.items() if isinstance(item, h5py.Dataset)}
        names = []
        for name, item in datasets.items():
            if name.endswith("_offset") and "kind" not in item.attrs:  # which a counter has
                if is_members == (name == "member_offset"):
                    self.part = MEMBER_OF.get(owner) if is_members else name[:-len("_offset")]
                    self.offset = item[:].astype(np.int64)
            elif is_members == (name.startswith("member_") or name == "event_row"):
                names.append(name)
        first = _plain(self.group.attrs.get("sorted_by", "")).split(", ")
        self.names = sorted(names, key=lambda name: (first.index(name) if name in first else len(first),
                                                     not name.endswith("_ns"), name))
        lengths = [len(datasets[name]) for name in self.names]
        self.n_rows = int(self.group.attrs[length]) if length in self.group.attrs else min(lengths, default=0)

    def _lacks(self, what, there):
        """A file of an older minor version may lack what this one's reader asks for."""
        return LookupError(f"{self.run.path} (schema {self.run.attributes.get('schema_version')}) {what}: there are "
                           f"{', '.join(there)}")

    def column(self, name):
        if name not in self.names:
            raise self._lacks(f"has no column {name} in {self.path}", self.names)
        return _Column(self.run, self.group, name)

    def frame(self, ranges, columns):
        """The DataFrame of the rows in [(begin, end), ...], which ascend."""
        import pandas as pd

        ranges = [(begin, end) for begin, end in ranges if begin < end]
        if len(ranges) == 1:
            index = pd.RangeIndex(*ranges[0], name="row")
        else:
            index = pd.Index(np.concatenate([np.arange(0)] + [np.arange(*some) for some in ranges]), name="row")
        parts = {None: [], "process": ["process", "rank"]}.get(self.part, [self.part])
        parts = [name for name in parts if name not in self.names]
        data = {}
        for name in parts + self.names if columns is None else [columns] if isinstance(columns, str) else columns:
            data[name] = self._values_of_parts(name, index.to_numpy()) if name in parts else self._values(name, ranges)
        return pd.DataFrame(data, index=index, copy=False)

    def _values(self, name, ranges):
        column = self.column(name)
        return column.to_pandas(column.read(ranges))

    def _values_of_parts(self, name, rows):
        parts = (np.searchsorted(self.offset, rows, "right") - 1).astype(np.uint32)
        if name != "rank":
            return parts
        ranks = _Table(self.run, "/job/processes").column("rank")
        return ranks.to_pandas(ranks.read([(0, len(self.offset) - 1)])[parts])


class _Column:
    """One column: a dataset of its own, or a field of a compound one."""

    def __init__(self, run, group, name):
        self.run, self.is_field, self.name = run, isinstance(group, h5py.Dataset), name
        self.dataset = group if self.is_field else group[name]
        self.dtype = self.dataset.dtype[name] if self.is_field else self.dataset.dtype
        self.words = h5py.check_enum_dtype(self.dtype)
        names = ["units", "long_name", "missing_value"]
        if self.is_field:
            names = [f"FIELD_{group.dtype.names.index(name)}_{what}" for what in ("UNITS", "LONG_NAME", "MISSING")]
        units, long_name, self.missing = (self.dataset.attrs[name] for name in names)
        self.units, self.long_name = _plain(units), _plain(long_name)

    def read(self, ranges):
        """The values of the file in [(begin, end), ...], which ascend. Small ranges that lie close together, and so in
        the same chunks, are read at once."""
        pieces, first = [np.empty(0, self.dtype)], 0
        while first < len(ranges):
            begin, after = ranges[first][0], first + 1
            while after < len(ranges) and ranges[after][1] - begin <= MOST_ROWS_AT_ONCE:
                after += 1
            rows = slice(begin, ranges[after - 1][1])
            values = self.dataset[rows, self.name] if self.is_field else self.dataset[rows]
            some = ranges[first:after] if after > first + 1 else []
            pieces += [values[one - begin:end - begin].copy() for one, end in some] or [values]
            first = after
        return pieces[1] if len(pieces) == 2 else np.concatenate(pieces)

    def to_pandas(self, values):
        """Values of the file as what a DataFrame takes: see the head of this file."""
        import pandas as pd

        if self.words:
            known = sorted((value, word) for word, value in self.words.items() if word != "missing_value")
            code_of = np.full(256, -1, np.int16)  # words are of one byte
            code_of[[value for value, _ in known]] = np.arange(len(known))
            return pd.Categorical.from_codes(code_of[values], [word for _, word in known])
        if self.units == f"index of {STRINGS}":
            used = np.zeros(len(self.run.strings), bool)
            used[values] = True
            used[0] = False  # the empty text: missing
            code_of = np.full(len(used), -1, np.int32)
            code_of[used], texts = pd.factorize(self.run.strings[used])  # two ids may have one text, by U+FFFD
            return pd.Categorical.from_codes(code_of[values], texts)
        if self.dtype.kind == "S":
            return pd.Categorical([_plain(text) or None for text in values])
        if self.dtype.kind == "f":
            return values
        is_never_missing = self.units == "bits" and self.missing == 0
        is_missing = np.zeros(len(values), bool) if is_never_missing else values == self.missing
        if self.units == "flag":
            return pd.arrays.BooleanArray(values == 1, is_missing) if is_missing.any() else values == 1
        return pd.arrays.IntegerArray(values, is_missing) if is_missing.any() else values


def _plain(value):
    """An attribute or text as a Python value: numbers, str."""
    value = value.item() if isinstance(value, np.generic) else value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _first_row(starts, begin, end, time_ns):
    """The first of the rows [begin, end) that starts at `time_ns` (0 or later) or after it; starts ascend there, with
    rows without a start, -1, before all others. Reads a chunk for each halving down to one chunk."""
    while end - begin > CHUNK_ROWS:
        middle = (begin + end) // 2
        if starts[middle] < time_ns:
            begin = middle + 1
        else:
            end = middle
    return begin + int(np.searchsorted(starts[begin:end], time_ns))
