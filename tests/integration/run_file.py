"""A run file as merge/runfile/FORMAT.md tells an outsider to read it, with h5py alone.

Rows become dictionaries: words and string ids as text, what is missing as None. Meant for the thousands of rows of a
test; whoever has more reads the columns.
"""

import run_tools

run_tools.require_module("h5py")
import h5py  # noqa: E402
import numpy as np  # noqa: E402

OF_OTHER_LENGTH = ("member_", "process_", "event_", "nic_offset", "device_offset", "node_offset", "env_offset")
OF_OBSERVERS = ("node.", "nic.", "clock.", "gpu.not-watched", "gpu.watch-trouble")


class RunFile:
    def __init__(self, path):
        self.file = h5py.File(path, "r")
        assert self.file.attrs["complete"] == 1, f"{path} is not complete"
        self.strings = self.file["strings/value"].asstr()[:]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.file.close()

    @property
    def epoch_unix_ns(self):
        return int(self.file.attrs["epoch_unix_ns"])

    def rows(self, table):
        """All rows of a table, in order; a table of columns and a compound one look alike."""
        node = self.file[table]
        if isinstance(node, h5py.Dataset):
            return self._compound_rows(node)
        n_rows = int(node.attrs["n_rows"])
        # Columns of members, and offsets, have other lengths and their own readers.
        columns = {name: column for name, column in node.items()
                   if not name.startswith(OF_OTHER_LENGTH) and len(column) == n_rows}
        texts = {name: self._texts(column[:], column.dtype, column.attrs["units"], column.attrs["missing_value"])
                 for name, column in columns.items()}
        return [dict(zip(texts, values)) for values in zip(*texts.values())]

    def offsets(self, path):
        return [int(position) for position in self.file[path][:]]

    def rows_by_process(self, table):
        """The rows of each process, by process index."""
        rows, offsets = self.rows(table), self.offsets(f"{table}/process_offset")
        return [rows[begin:end] for begin, end in zip(offsets, offsets[1:])]

    def steps_by_process(self):
        """The rows of /steps of each process, by process index."""
        steps = self.rows("steps")
        return [[row for row in steps if row["process"] == process] for process in range(len(self.file["job/processes"]))]

    def ranks(self):
        """Rank of each process."""
        return [row["rank"] for row in self.rows("job/processes")]

    def members(self, instance):
        """Rows of /events/nccl that are the instance's members, in order."""
        offsets = self.file["collectives/member_offset"]
        return [int(row) for row in self.file["collectives/event_row"][offsets[instance]:offsets[instance + 1]]]

    def diagnostics(self, code):
        return [row for row in self.rows("diagnostics") if row["code"] == code]

    def findings_about_tasks(self):
        """All rows of /diagnostics but what the observers of the nodes say short of an error: that is about the machine,
        its ports, GPUs and clocks, and about other jobs on it."""
        return [row for row in self.rows("diagnostics")
                if row["severity"] == "error" or not row["code"].startswith(OF_OBSERVERS)]

    def _compound_rows(self, table):
        values = table[:]
        columns = {}
        for index, name in enumerate(values.dtype.names):
            units = table.attrs[f"FIELD_{index}_UNITS"]
            units = units.decode() if isinstance(units, bytes) else units
            missing = table.attrs[f"FIELD_{index}_MISSING"]
            columns[name] = self._texts(values[name], values.dtype[name], units, missing)
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    def _texts(self, values, dtype, units, missing):
        words = h5py.check_enum_dtype(dtype)
        if words:
            names = {value: name for name, value in words.items()}
            return [None if names[value] == "missing_value" else names[value] for value in values]
        if units == "index of /strings/value":
            return [self.strings[index] or None for index in values]
        if values.dtype.kind == "S":
            return [text.decode() or None for text in values]
        if values.dtype.kind == "f":
            return [None if np.isnan(number) else float(number) for number in values]
        return [None if number == missing else int(number) for number in values]
