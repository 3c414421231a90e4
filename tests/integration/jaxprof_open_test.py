#!/usr/bin/env python3
"""merge/python/jaxprof_file.py on files that are written here: what it refuses and how it says so, locks, and that of a
large file only those rows are read that were asked for.
"""

import contextlib
import fcntl
import os
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

import run_tools as tools

tools.require_module("h5py")
tools.require_module("pandas")
tools.require_module("tables")

import h5py  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

MODULE_FOLDER = Path(__file__).resolve().parents[2] / "merge" / "python"
sys.path.insert(0, str(MODULE_FOLDER))
import jaxprof_file  # noqa: E402


def write_run(path, processes, names=("", "a", "b"), complete=True, steps=()):
    """A run file by hand: NVTX rows (start_ns, name) of each process, steps (process, number, start_ns, dur_ns)."""
    with h5py.File(path, "w") as file:
        file.attrs.update({"schema": "jaxprof/1", "schema_version": "1.3.0", "epoch_unix_ns": 10**18})
        if complete:
            file.attrs["complete"] = np.uint8(1)
        ranks = np.array([(rank,) for rank in range(len(processes))], [("rank", "<i4")])
        file.create_dataset("job/processes", data=ranks).attrs.update(
            {"n_rows": len(processes), "FIELD_0_UNITS": "1", "FIELD_0_LONG_NAME": "rank", "FIELD_0_MISSING": np.int32(-1)})
        file.create_dataset("strings/value", data=np.array(names, object), dtype=h5py.special_dtype(vlen=str))

        def add(group, sorted_by, offset, **columns):
            offset = list(offset)
            file.require_group(group).attrs.update({"n_rows": sum(offset), "sorted_by": sorted_by})
            file[group].create_dataset("process_offset", data=np.cumsum([0, *offset]).astype("<u8"))
            for name, (values, units, missing) in columns.items():
                dataset = file[group].create_dataset(name, data=values, chunks=(jaxprof_file.CHUNK_ROWS,), maxshape=(None,))
                dataset.attrs.update({"units": units, "long_name": name, "missing_value": values.dtype.type(missing)})

        rows = [row for process in processes for row in process]
        add("events/nvtx", "process, start_ns", map(len, processes),
            start_ns=(np.array([start for start, _ in rows], "<i8"), "ns", -1),
            name=(np.array([name for _, name in rows], "<u4"), "index of /strings/value", 0))
        columns = [np.array([step[at] for step in steps], "<i8") for at in range(4)] or [np.zeros(0, "<i8")] * 4
        add("steps", "process, start_ns", np.bincount(columns[0], minlength=len(processes)),
            step=(columns[1], "1", -2**63), start_ns=(columns[2], "ns", -1), dur_ns=(columns[3], "ns", -1))


@contextlib.contextmanager
def rows_read():
    """How many rows of each dataset are read inside, by the last word of its path."""
    counts, read = {}, h5py.Dataset.__getitem__

    def counted(dataset, rows, **options):
        values = read(dataset, rows, **options)
        name = dataset.name.rpartition("/")[2]
        counts[name] = counts.get(name, 0) + np.size(values)
        return values

    with mock.patch.object(h5py.Dataset, "__getitem__", counted):
        yield counts


class LargeFiles(tools.FolderCase):
    """That only what was asked for is read."""

    N_ROWS = 1_000_000

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # 100 rows without a start, then one each 10 ns, and a process with three.
        many = [(-1, 1)] * 100 + [(10 * i, 1 + i % 2) for i in range(cls.N_ROWS)]
        steps = [(0, 1, 5_000_000, 100), (0, 1, 5_000_050, 100), (0, 2, 5_000_200, 1_000), (0, 3, 9_999_900, -1),
                 (1, 1, 0, 15)]
        write_run("large.h5", [many, [(-1, 2), (10, 2), (20, 0)]], steps=steps)
        cls.run_file = jaxprof_file.open("large.h5")

    @classmethod
    def tearDownClass(cls):
        cls.run_file.close()
        super().tearDownClass()

    def test_a_span_of_time(self):
        with rows_read() as counts:
            frame = self.run_file.events("nvtx", between=(4_000_005, 4_000_101), columns=["name", "start_ns"])
        self.assertEqual(frame["start_ns"].tolist(), list(range(4_000_010, 4_000_110, 10)))
        self.assertEqual(frame.index[0], 100 + 400_001)
        self.assertEqual(frame["name"].tolist(), ["b", "a"] * 5)
        self.assertEqual(counts["name"], 10)
        self.assertLess(counts["start_ns"], 4 * jaxprof_file.CHUNK_ROWS)

    def test_steps_of_two_threads_that_overlap_count_once(self):
        frame = self.run_file.events("nvtx", step=1)
        self.assertEqual(frame["start_ns"].tolist(), list(range(5_000_000, 5_000_150, 10)) + [10])
        self.assertEqual(frame["process"].tolist(), [0] * 15 + [1])
        self.assertEqual(len(self.run_file.events("nvtx", process=0, step=[1, 2])), 15 + 100)

    def test_a_step_that_never_ended_reaches_to_the_end(self):
        self.assertEqual(self.run_file.events("nvtx", step=3)["start_ns"].tolist(), list(range(9_999_900, 10_000_000, 10)))

    def test_a_rank_is_its_rows_and_events_without_a_start_are_among_them(self):
        with rows_read() as counts:
            frame = self.run_file.events("nvtx", rank=1)
        self.assertEqual(counts["name"], 3)
        self.assertEqual(str(frame["start_ns"].dtype), "Int64")
        self.assertEqual(frame["start_ns"].isna().tolist(), [True, False, False])
        self.assertEqual(frame["name"].isna().tolist(), [False, False, True])
        self.assertEqual(self.run_file.events("nvtx", rank=1, between=(0, 15))["start_ns"].tolist(), [10])
        self.assertEqual(len(self.run_file.events("nvtx")), self.N_ROWS + 103)


class Opening(tools.OwnFolderCase):
    def refusal(self, path, **options):
        with self.assertRaises(jaxprof_file.RunFileError) as caught:
            jaxprof_file.open(path, **options)
        self.assertIn(str(path), str(caught.exception))
        return str(caught.exception)

    def test_what_is_no_run_file(self):
        with self.assertRaises(FileNotFoundError):
            jaxprof_file.open("nowhere.h5")
        with self.assertRaises(IsADirectoryError):
            jaxprof_file.open(".")
        Path("empty.h5").write_bytes(b"")
        self.assertEqual(self.refusal("empty.h5"), "empty.h5 is empty")
        Path("text.h5").write_text("{}")
        self.assertEqual(self.refusal("text.h5"), "text.h5 is not a run file (not HDF5)")
        with h5py.File("other.h5", "w") as file:
            file["x"] = 1
        self.assertEqual(self.refusal("other.h5"), "other.h5 is HDF5 but not a run file: its schema is None")
        write_run("whole.h5", [[(1, 1)]])
        Path("cut.h5").write_bytes(Path("whole.h5").read_bytes()[:-100])
        self.assertRegex(self.refusal("cut.h5"), "^HDF5 cannot open cut.h5: .*truncated")

    def test_another_major_version(self):
        write_run("new.h5", [[(1, 1)]])
        with h5py.File("new.h5", "a") as file:
            file.attrs.update({"schema": "jaxprof/2", "tool_version": "7.8"})
        self.assertEqual(self.refusal("new.h5"), "new.h5 has schema jaxprof/2, this reader knows jaxprof/1: take the "
                         "jaxprof_file.py of the jaxprof that wrote it (7.8)")

    def test_an_incomplete_file_only_if_asked_for(self):
        write_run("part.h5", [[(1, 1)]], complete=False)
        self.assertRegex(self.refusal("part.h5"), "not complete: .* merge again, or open it with allow_incomplete=True")
        with h5py.File("part.h5", "a") as file:
            del file["events/nvtx"].attrs["n_rows"]
        with jaxprof_file.open("part.h5", allow_incomplete=True) as run:
            self.assertEqual(run.events("nvtx")["name"].tolist(), ["a"])

    def test_nobody_needs_a_lock(self):
        write_run("run.h5", [[(1, 1)]])
        opened = h5py.File

        def before_3_5(path, mode, **options):
            if options:
                raise TypeError("'locking' is an invalid keyword argument for this function")
            return opened(path, mode)

        with open("run.h5", "rb") as holder, mock.patch.dict(os.environ):
            os.environ.pop("HDF5_USE_FILE_LOCKING", None)
            fcntl.flock(holder, fcntl.LOCK_EX)
            with self.assertRaises(OSError):
                h5py.File("run.h5", "r")
            for file_class in (opened, before_3_5):
                with mock.patch.object(h5py, "File", file_class), jaxprof_file.open("run.h5") as run:
                    self.assertEqual(run.events("nvtx")["name"].tolist(), ["a"])

    def test_beside_other_readers_of_the_same_process(self):
        tools.run(tools.BIN / "write_sample", "run.h5")
        with jaxprof_file.open("run.h5"), h5py.File("run.h5", "r") as file:
            self.assertEqual(file.attrs["complete"], 1)
            self.assertEqual(len(pd.read_hdf("run.h5", "job/tasks")), 4)
            with jaxprof_file.open("run.h5") as run:
                self.assertEqual(len(run.table("/job/tasks")), 4)

    def test_attributes_and_arrays_need_no_pandas(self):
        write_run("run.h5", [[(1, 1)]])
        program = ("import sys; sys.modules['pandas'] = None; import jaxprof_file\n"
                   "with jaxprof_file.open('run.h5') as run: print(run.attributes['schema'], run.tables()['/events/nvtx'],"
                   " run.file['events/nvtx/start_ns'][:])")
        ended = subprocess.run([sys.executable, "-B", "-c", program], stdout=subprocess.PIPE, check=True,
                               env=tools.environment(PYTHONPATH=MODULE_FOLDER))
        self.assertEqual(ended.stdout.decode(), "jaxprof/1 1 [1]\n")

    def test_two_texts_that_became_one(self):
        write_run("twins.h5", [[(1, 1), (2, 2), (3, 0)]], names=("", "\ufffd", "\ufffd"))
        with jaxprof_file.open("twins.h5") as run:
            names = run.table("/events/nvtx")["name"]
            self.assertEqual(names.astype(object).where(names.notna(), None).tolist(), ["\ufffd", "\ufffd", None])


if __name__ == "__main__":
    unittest.main()
