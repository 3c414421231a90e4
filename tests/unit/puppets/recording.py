"""Reads what the recorders and the puppet's log wrote: lines of tab-separated key=value fields.

A record is a dict of strings; `number` and `handle` in the checks turn them into integers. Nothing is interpreted here.
"""

import pathlib


def read(path):
    """The records of one file, in file order, which for one thread is time order."""
    records = []
    for line in pathlib.Path(path).read_text().splitlines():
        records.append(dict(field.split("=", 1) for field in line.split("\t")))
    return records


def of_kind(records, *kinds):
    return [record for record in records if record["what"] in kinds]


def number(record, key):
    return int(record[key], 0)
