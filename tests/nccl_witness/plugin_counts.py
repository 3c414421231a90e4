#!/usr/bin/env python3
"""Do the files that one of NVIDIA's plugins left count the calls that the puppet's logs have?

    plugin_counts.py example|inspector FOLDER

FOLDER has the puppet's logs (log.RANK) and what the plugin wrote (dump*). The example writes Chrome trace events, one
begin ("b") of category COLL a collective; Inspector one JSON line a collective. Both by function, over all ranks.
Exit status 0: equal, 1: not.
"""

import collections
import json
import pathlib
import re
import sys

EXAMPLE_BEGIN = re.compile(r'"name": "(\w+)", "cat": "COLL", "ph": "b"')


def logged(folder):
    """Collectives by function; sends and receives are no Coll events."""
    counts = collections.Counter()
    for path in folder.glob("log.*"):
        for line in path.read_text().splitlines():
            fields = dict(field.split("=", 1) for field in line.split("\t"))
            if fields["what"] == "call" and fields["sequence"] != "-":
                counts[fields["function"]] += 1
    return counts


def example(folder):
    return collections.Counter(name for path in folder.glob("dump*") for name in
                               EXAMPLE_BEGIN.findall(path.read_text()))


def inspector(folder):
    counts = collections.Counter()
    for path in (folder / "dump").rglob("*"):
        for line in path.read_text().splitlines() if path.is_file() else []:
            counts[json.loads(line)["coll_perf"]["coll"]] += 1
    return counts


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("example", "inspector"):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[2])
    theirs, ours = {"example": example, "inspector": inspector}[sys.argv[1]](folder), logged(folder)
    for function in sorted(theirs | ours):
        print(f"         {function}: {theirs[function]} by the plugin, {ours[function]} in the log")
    return 0 if theirs == ours and sum(ours.values()) > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
