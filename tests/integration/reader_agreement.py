#!/usr/bin/env python3
"""Do all readers say the same of a run file? jaxprof_file.py (with h5py and pandas below it), h5dump, and the C++
reader, by dump_run_file, are compared on every value of every dataset and attribute.

A mistake that a writer shares with its own reader would not show in a test of both; three readers of which none knows
the others have little to share. h5dump is the one that knows nothing of jaxprof.

    reader_agreement.py DUMP_RUN_FILE RUN_H5     exit 0 all agree, 1 not; prints what was compared
"""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "merge" / "python"))
import h5py  # noqa: E402
import jaxprof_file  # noqa: E402

STRING_IDS = "index of /strings/value"
# What the writer says of every file, and the C++ reader has checked when it hands one out.
CONSTANT = {"schema": "jaxprof/1", "complete": 1, "time_unit": "ns"}


# ---------------------------------------------------------------- h5dump

class Text(str):
    """What stood in quotes."""


TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|([{}])|([^\s{},;"]+)', re.S)
# A byte beyond ASCII is printed as a negative int, a control character with three digits.
ESCAPE = re.compile(r"\\(?:37777777([0-7]{3})|([0-7]{3})|(.))", re.S)
NAMED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v"}


def unescaped(text):
    def one(match):
        byte, control, named = match.groups()
        return chr(int(byte, 8) & 0xFF) if byte else chr(int(control, 8)) if control else NAMED.get(named, named)

    return Text(ESCAPE.sub(one, text).encode("latin-1").decode("utf-8", "replace").rstrip("\0"))


def nested(text):
    """The words and texts of h5dump, with what stands in braces as a list."""
    stack = [[]]
    for match in TOKEN.finditer(text):
        quoted, brace, word = match.groups()
        if brace == "{":
            stack[-1].append([])
            stack.append(stack[-1][-1])
        elif brace:
            stack.pop()
        else:
            stack[-1].append(unescaped(quoted) if quoted is not None else word)
    return stack[0]


def value_of(word):
    if isinstance(word, list):
        return [value_of(inner) for inner in word]
    if isinstance(word, Text) or re.match("[A-Za-z_]", word) and "nan" not in word:
        return None if word == "missing_value" and not isinstance(word, Text) else str(word)
    return int(word) if re.fullmatch(r"-?\d+", word) else without_nan(float(word))


class Dumped:
    """What h5dump says: {path: values} of datasets and {path: {name: value}} of attributes."""

    def __init__(self, path):
        printed = subprocess.run(["h5dump", "-e", "-y", "-w", "0", "-m", "%.17g", str(path)], check=True,
                                 stdout=subprocess.PIPE).stdout.decode("latin-1")  # of bytes that are UTF-8
        self.values, self.attributes = {}, {}
        _hdf5, _name, (_group, _root, body) = nested(printed)
        self._visit("", body)

    def _visit(self, path, body):
        self.attributes[path or "/"] = attributes = {}
        for word, name, inner in zip(body, body[1:], body[2:]):
            if isinstance(word, Text):
                continue
            if word in ("GROUP", "DATASET"):
                self._visit(f"{path}/{name}", inner)
            elif word == "ATTRIBUTE":
                attributes[str(name)], = value_of(inner[inner.index("DATA") + 1])
        if "DATA" in body:
            self.values[path] = value_of(body[body.index("DATA") + 1])


# ---------------------------------------------------------------- the C++ reader

class Read:
    """What dump_run_file says: {name: value} of the root, {path: {...}} of tables and columns."""

    def __init__(self, program, path):
        self.root, self.tables, self.columns = {}, {}, {}
        lines = subprocess.run([str(program), str(path)], check=True, stdout=subprocess.PIPE).stdout.decode().splitlines()
        for line in map(json.loads, lines):
            if "attribute" in line:
                self.root[line["attribute"]] = line["value"]
            elif "column" in line:
                self.columns[line.pop("column")] = line
            else:
                self.tables.setdefault(line.pop("table"), {}).update(line)


# ---------------------------------------------------------------- the Python reader

def without_nan(value):
    return None if isinstance(value, float) and math.isnan(value) else value


def plain(value):
    """What h5py has as what h5dump prints: texts end before their padding."""
    value = value.item() if hasattr(value, "item") else value
    value = value.decode() if isinstance(value, bytes) else value
    return value.rstrip("\0") if isinstance(value, str) else without_nan(value)


def attributes_of(item):
    """{name: value} as h5dump has them, words included."""
    found = {}
    for name, value in item.attrs.items():
        words = h5py.check_enum_dtype(item.attrs.get_id(name).dtype)
        if words:
            value, = (word for word, number in words.items() if number == value)
        found[name] = None if value == "missing_value" else plain(value)
    return found


def values_of(series):
    """A column of a DataFrame as a list with None for what is missing, and bool as int."""
    missing = series.isna()
    return [None if gone else int(value) if isinstance(value, bool) else value
            for value, gone in zip(series.astype(object).tolist(), missing)]


class Comparison:
    """Of the three readers on one file: `faults` are lines, `tables` the rows of each table."""

    def __init__(self, program, path):
        self.dumped, self.read = Dumped(path), Read(program, path)
        self.faults, self.n_values, self.n_attributes = [], 0, 0
        with jaxprof_file.open(path) as self.run:
            self.tables = self.run.tables()
            self._compare_attributes()
            self._compare_values()

    def _expect(self, what, ours, theirs):
        if ours == theirs:
            return
        if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
            row = next(row for row, (one, other) in enumerate(zip(ours, theirs)) if one != other)
            what, ours, theirs = f"row {row} of {what}", ours[row], theirs[row]
        self.faults.append(f"{what}: {str(ours)[:200]} and {str(theirs)[:200]}")

    def _compare_attributes(self):
        objects = {"/": self.run.file}
        self.run.file.visititems(lambda name, item: objects.update({f"/{name}": item}))
        for path, item in objects.items():
            ours, theirs = attributes_of(item), self.dumped.attributes.get(path, {})
            for name in {**ours, **theirs}:
                self._expect(f"attribute {name} of {path}, h5py and h5dump", ours.get(name, "none"),
                             theirs.get(name, "none"))
            self.n_attributes += len(ours)
        ours, theirs = self.run.attributes, {**CONSTANT, **self.read.root}
        for name in {**ours, **theirs}:
            self._expect(f"attribute {name} of the root, Python and C++", without_nan(ours.get(name, "none")),
                         theirs.get(name, "none"))
        for path, told in self.read.tables.items():
            ours = {name: plain(objects[path].attrs[name]) for name in told}
            self._expect(f"attributes of {path}, h5py and C++", ours, told)

    def _compare_values(self):
        dumped = {}
        for path, values in self.dumped.values.items():
            fields = getattr(self.run.file[path].dtype, "names", None)
            if fields:
                rows = list(zip(*values)) if values else [()] * len(fields)
                dumped.update({f"{path}/{field}": list(column) for field, column in zip(fields, rows)})
            else:
                dumped[path] = values
        self._expect("datasets, h5dump and C++", sorted(dumped), sorted(map(self._path_of, self.read.columns)))
        for name, told in self.read.columns.items():
            path = self._path_of(name)
            self._expect(f"{path}, h5dump and C++", dumped.get(path), told["values"])
            self.n_values += len(told["values"])
        strings = self.read.columns["/strings/value"]["values"]
        self._expect("/strings/value, Python and C++", self.run.strings.tolist(), strings)
        compared = {"/strings/value"}
        for table in self.tables:
            compared |= self._compare_table(table, strings)
        for path in sorted({self._path_of(name) for name in self.read.columns} - compared):
            self.faults.append(f"{path}: not in any table of the Python reader")

    def _path_of(self, name):
        """The dataset of a column; a counter whose name was taken has another."""
        group, _, last = name.rpartition("/")
        if not group.startswith("/counters/") or "name" not in self.read.columns[name]:
            return name
        here = self.run.file[group]
        return next((f"{group}/{found}" for found in here if here[found].attrs.get("name") == last), name)

    def _compare_table(self, table, strings):
        """Paths of the datasets that were compared."""
        group = table[:-len("/members")] if table.endswith("/members") else table
        columns = {self._path_of(name): told for name, told in self.read.columns.items()}
        frame, meanings, compared = self.run.table(table), self.run.describe(table), set()
        for name in frame:
            path = f"{group}/{name}"
            if name not in meanings.index:  # what offsets say
                compared |= self._compare_part(group, name, frame[name])
                continue
            told = columns.get(path)
            if told is None:
                self.faults.append(f"{path}: not told by the C++ reader")
                continue
            missing = "none" if told["units"] == "bits" and told["missing_value"] == 0 else told["missing_value"]
            expected = [None if value == missing else value for value in told["values"]]
            if told["units"] == STRING_IDS:
                expected = [None if value is None else strings[value] for value in expected]
            self._expect(f"{path}, Python and C++", values_of(frame[name]), expected)
            for key in ("units", "long_name", "kind", "scale", "bits", "is_error"):
                if key in told:
                    self._expect(f"{key} of {path}, Python and C++", plain(meanings.at[name, key]), told[key])
            compared.add(path)
        return compared

    def _compare_part(self, group, name, series):
        """The column that the Python reader makes of offsets; `rank` is that of the process."""
        offset = "process_offset" if name in ("process", "rank") else (
            "member_offset" if name in ("comm", "instance") else f"{name}_offset")
        borders = self.read.columns[f"{group}/{offset}"]["values"]
        expected = [part for part, (begin, end) in enumerate(zip(borders, borders[1:])) for _ in range(begin, end)]
        if name == "rank":
            ranks = self.read.columns["/job/processes/rank"]["values"]
            expected = [None if ranks[part] == -1 else ranks[part] for part in expected]
        self._expect(f"{name} of {group}, Python and C++", values_of(series), expected)
        return {f"{group}/{offset}"}

    def summary(self):
        n_columns = len(self.read.columns)
        return (f"{self.n_values} values in {n_columns} columns and {self.n_attributes} attributes: "
                + (f"{len(self.faults)} differences" if self.faults else "all readers agree"))


def main(arguments):
    comparison = Comparison(*arguments)
    print(*comparison.faults[:20], comparison.summary(), sep="\n")
    return 1 if comparison.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
