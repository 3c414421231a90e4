#!/usr/bin/env python3
"""How fast is a run file in Python, and how small?

GPU kernels of a training job, as /events/kernels has them, are written by h5py with the chunks and filters of run files.
- Any one column is read by h5py alone. The limit, measured in the same run, is what its chunks cost without HDF5:
  zlib and the bytes put back in order.
- One process's events become a DataFrame, by jaxprof_file.py and from the trace JSON that JAX's and PyTorch's profilers
  write of the same events: a table that way is what the ratio is to.
- The same events are put into SQLite, as nsys exports them (the launch's shape in each row) and with the shape's number
  as here. Both are vacuumed, and have no index.

    reader_bench.py ROWS SCRATCH_FOLDER      exit 1 if less than 20 times as fast as JSON or a sixth of SQLite's size
"""

import json
import sqlite3
import sys
import tempfile
import time
import zlib
from pathlib import Path

import h5py
import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "merge" / "python"))
import jaxprof_file  # noqa: E402

CHUNK_ROWS = 131_072
CLAIMED_ROWS = 8_000_000
COMPARED_ROWS = 200_000  # of the process whose events go into JSON and SQLite
N_PROCESSES = 8
N_NAMES, N_SHAPES = 300, 900
SHAPE = ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "registers", "static_shared_bytes",
         "dynamic_shared_bytes", "local_bytes")
MISSING = {"<i8": -1, "<i4": -1, "<u2": 0, "<u4": 2**32 - 1, "<u8": 2**64 - 1}
UNITS = {"name": "index of /strings/value", "flags": "bits"}
ROUNDS = 3


def columns_of(offsets, rng):
    """Yields (column, values): steps of the same few hundred kernels in the same order, mostly on one stream, whose lengths
    scatter by 3 %; short gaps in between and long ones between steps; one call a kernel."""
    n_rows, borders = offsets[-1], [0, *offsets]
    step = rng.zipf(1.4, 1_500) % N_NAMES
    names = np.resize(step, n_rows)
    shapes = np.resize((step * 7 + rng.integers(0, 3, len(step))) % N_SHAPES, n_rows)
    lengths = (np.exp(rng.normal(9.5, 1.3, N_NAMES))[names] * rng.normal(1, 0.03, n_rows)).astype("<i8").clip(900)
    gaps = rng.exponential(1_500, n_rows).astype("<i8") + 300
    gaps[::len(step)] += 2_000_000
    starts = np.cumsum(lengths + gaps) - lengths
    for begin in borders[1:-1]:
        starts[begin:] -= starts[begin]  # each process from the same time on
    yield "start_ns", starts
    yield "dur_ns", lengths
    yield "name", (names + 1).astype("<u4")
    yield "device", np.repeat(np.arange(len(offsets), dtype="<i4"), np.diff(borders))
    yield "context", np.ones(n_rows, "<u4")
    yield "stream", np.where(np.resize(rng.random(len(step)) < 0.9, n_rows), 7, 13).astype("<u4")
    yield "correlation", np.cumsum(rng.integers(1, 4, n_rows)).astype("<u8")
    yield "api", np.arange(n_rows, dtype="<u8") + np.cumsum(rng.random(n_rows) < 0.02).astype("<u8")
    yield "launch_config", shapes.astype("<u4")
    for column in ("graph", "graph_node"):
        yield column, np.full(n_rows, 2**64 - 1, "<u8")
    yield "channel", np.full(n_rows, 2**32 - 1, "<u4")
    yield "flags", np.zeros(n_rows, "<u2")


def texts():
    part = "Lb0EfN4cute5tupleIJNS_1CILi128EEE"  # names of kernels are long
    return [""] + [f"_ZN7cutlass13device_kernelI{i:03d}{part * (1 + i % 5)}" for i in range(N_NAMES)]


def write_run(path, columns, offsets):
    """What jaxprof_file.py needs to read a table of kernels; those of process i end at offsets[i]."""
    with h5py.File(path, "w") as file:
        file.attrs.update({"schema": "jaxprof/1", "schema_version": "1.0.0", "complete": np.uint8(1)})
        processes = np.array([(rank,) for rank in range(len(offsets))], [("rank", "<i4")])
        file.create_dataset("job/processes", data=processes).attrs.update(
            {"n_rows": len(offsets), "FIELD_0_UNITS": "1", "FIELD_0_LONG_NAME": "rank", "FIELD_0_MISSING": np.int32(-1)})
        file.create_dataset("strings/value", data=np.array(texts(), object), dtype=h5py.special_dtype(vlen=str))
        kernels = file.create_group("events/kernels")
        kernels.attrs.update({"n_rows": offsets[-1], "sorted_by": "process, start_ns"})
        kernels.create_dataset("process_offset", data=np.array([0, *offsets], "<u8"))
        for name, values in columns:
            dataset = kernels.create_dataset(name, data=values, chunks=(min(CHUNK_ROWS, len(values)),), maxshape=(None,),
                                             shuffle=True, compression="gzip", compression_opts=1)
            dataset.attrs.update({"units": UNITS.get(name, "1"), "long_name": name,
                                  "missing_value": values.dtype.type(MISSING[values.dtype.str])})


def best_seconds(work, rounds=ROUNDS):
    """Of processor time, all on one thread: the same as on a clock, but for a busy machine."""
    best = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


def inflate(dataset):
    """The column without HDF5: its chunks as they lie in the file, inflated and put in order."""
    values = np.empty(len(dataset), dataset.dtype)
    size, rows = dataset.dtype.itemsize, dataset.chunks[0]
    for first in range(0, len(dataset), rows):
        _mask, chunk = dataset.id.read_direct_chunk((first,))
        shuffled = np.frombuffer(zlib.decompress(chunk), np.uint8).reshape(size, rows)
        n_rows = min(rows, len(dataset) - first)
        values[first:first + n_rows] = np.ascontiguousarray(shuffled.T).view(dataset.dtype).ravel()[:n_rows]
    return values


def bench_columns(path):
    with h5py.File(path, "r") as file:
        worst = ("", 0.0, 0.0)
        for name, dataset in file["events/kernels"].items():
            if name == "process_offset":
                continue
            if not np.array_equal(inflate(dataset), dataset[:]):
                sys.exit(f"reader_bench: {name} inflated is something else")
            worst = max(worst, (name, best_seconds(lambda: dataset[:]), best_seconds(lambda: inflate(dataset))),
                        key=lambda measured: measured[1])
            n_rows = len(dataset)
    name, read_s, limit_s = worst
    print(f"reader.column_s  {read_s * CLAIMED_ROWS / n_rows:.3f}  for 8 M rows of {name}, the slowest column")
    print(f"reader.column_to_inflate  {read_s / limit_s:.2f}")


def write_json(path, frame):
    """A trace as profilers write it: times in us, what is particular to kernels under args, nothing for what is missing."""
    events = [{"ph": "X", "cat": "kernel", "name": name, "pid": device, "tid": stream, "ts": start / 1e3,
               "dur": length / 1e3,
               "args": {"context": context, "correlation": correlation, "external id": api, "launch": launch}}
              for name, device, stream, start, length, context, correlation, api, launch in
              zip(*(frame[column].tolist() for column in ("name", "device", "stream", "start_ns", "dur_ns", "context",
                                                          "correlation", "api", "launch_config")))]
    path.write_text(json.dumps({"traceEvents": events}))


def read_json(path):
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    frame = pd.DataFrame(events)
    return frame.drop(columns="args").join(pd.DataFrame(frame["args"].tolist()))


def bench_json(run_path, json_path):
    columns = ["name", "device", "stream", "start_ns", "dur_ns", "context", "correlation", "api", "launch_config"]
    with jaxprof_file.open(run_path) as run:
        frame = run.events("kernels", process=0, columns=columns)
        write_json(json_path, frame)
        ours_s = best_seconds(lambda: run.events("kernels", process=0, columns=columns))
    from_json = read_json(json_path)
    if not all((from_json[name].astype(str) == frame[name].astype(str)).all() for name in ("correlation", "name")):
        sys.exit("reader_bench: JSON says something else")
    json_s = best_seconds(lambda: read_json(json_path), rounds=2)
    print(f"reader.table_rows_per_s  {len(frame) / ours_s:.0f}")
    print(f"reader.json_rows_per_s  {len(frame) / json_s:.0f}")
    print(f"reader.json_to_table  {json_s / ours_s:.1f}")
    return json_s / ours_s


def sqlite_bytes(path, table, names, rows):
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    database.execute(f"create table {table} ({', '.join(f'{name} integer' for name in names)})")
    database.executemany(f"insert into {table} values ({', '.join('?' * len(names))})", rows)
    database.execute("create table StringIds (id integer primary key, value text)")
    database.executemany("insert into StringIds values (?, ?)", enumerate(texts()))
    database.commit()
    database.execute("vacuum")
    database.close()
    return path.stat().st_size


def bench_sqlite(folder):
    """Of COMPARED_ROWS kernels in files of their own."""
    columns = dict(columns_of([COMPARED_ROWS], np.random.default_rng(1)))
    write_run(folder / "small.h5", columns.items(), [COMPARED_ROWS])
    ours = (folder / "small.h5").stat().st_size
    shapes = np.random.default_rng(2).integers(1, 1024, (N_SHAPES, len(SHAPE)))
    shapes[:, [1, 2, 4, 5, 7, 9]] = (1, 1, 1, 1, 0, 0)  # most launches have one dimension
    values = {name: [None if value == MISSING[column.dtype.str] and name != "flags" else value for value in column.tolist()]
              for name, column in columns.items()}
    numbered = sqlite_bytes(folder / "numbered.sqlite", "kernels", values, zip(*values.values()))
    shaped = {name: value for name, value in values.items() if name not in ("launch_config", "api", "channel", "flags")}
    shaped.update(zip(SHAPE, shapes[columns["launch_config"]].T.tolist()))
    shaped["globalPid"] = [(1 << 56) + 4242 * (1 << 24)] * COMPARED_ROWS
    as_nsys = sqlite_bytes(folder / "nsys.sqlite", "CUPTI_ACTIVITY_KIND_KERNEL", shaped, zip(*shaped.values()))
    print(f"reader.row_bytes  {ours / COMPARED_ROWS:.2f}")
    print(f"reader.sqlite_row_bytes  {as_nsys / COMPARED_ROWS:.2f}  ({numbered / COMPARED_ROWS:.2f} with numbered shapes)")
    print(f"reader.sqlite_to_file  {as_nsys / ours:.2f}")
    print(f"reader.numbered_sqlite_to_file  {numbered / ours:.2f}")
    return as_nsys / ours


def bench(n_rows, folder):
    offsets = np.linspace(COMPARED_ROWS, n_rows, N_PROCESSES).astype(np.int64).tolist()
    write_run(folder / "run.h5", columns_of(offsets, np.random.default_rng(1)), offsets)
    bench_columns(folder / "run.h5")
    json_ratio = bench_json(folder / "run.h5", folder / "trace.json")
    sqlite_ratio = bench_sqlite(folder)
    return 0 if json_ratio >= 20 and sqlite_ratio >= 6 else 1


def main():
    n_rows = int(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="reader.", dir=sys.argv[2]) as folder:
        return bench(n_rows, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
