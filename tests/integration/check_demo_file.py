#!/usr/bin/env python3
"""Is the demo's run file what the README says: open to everybody's tools, and complete?

Reads the file as a user would, with h5dump, h5py and pandas and nothing of jaxprof, by merge/runfile/FORMAT.md alone:
four processes on two nodes, nothing dropped, and what the job is known to have done in it, who was late included.

    check_demo_file.py RUN_H5 puppet     every AllReduce instance has its four members, every process the steps 0 to 9
    check_demo_file.py RUN_H5 jax N      every process has the steps 0 to N-1, in order
"""

import subprocess
import sys

import h5py
import numpy as np
import pandas as pd

RANKS = 4
NODES = 2
PUPPET_STEPS = 10
LATE_RANK = 3
LATE_NS = 10_000_000


def check_opens(path):
    listing = subprocess.run(["h5dump", "-H", path], check=True, stdout=subprocess.PIPE).stdout.decode()
    assert 'DATASET "tasks"' in listing, "h5dump shows no /job/tasks"
    for table in ("job/tasks", "job/processes", "job/nodes", "diagnostics"):
        frame = pd.read_hdf(path, table)
        assert list(frame.columns), f"pandas reads no column of {table}"
    processes = pd.read_hdf(path, "job/processes")
    assert sorted(processes["rank"]) == list(range(RANKS)), f"ranks {sorted(processes['rank'])}"
    assert processes["node"].nunique() == NODES, f"{processes['node'].nunique()} nodes"
    assert (processes["n_dropped"] == 0).all(), f"dropped: {list(processes['n_dropped'])}"
    assert (processes["is_complete"] == 1).all(), "a spool has no footer"


def check_puppet(file):
    instances = file["collectives"]
    words = {word: value for word, value in h5py.check_enum_dtype(instances["coll"].dtype).items()}
    all_reduces = np.flatnonzero(instances["coll"][:] == words["AllReduce"])
    assert len(all_reduces) > 0, "no AllReduce instance"
    offsets, rows = instances["member_offset"][:], instances["event_row"][:]
    comm_ranks = file["events/nccl/comm_rank"][:]
    for instance in all_reduces:
        members = comm_ranks[rows[offsets[instance]:offsets[instance + 1]]]
        assert sorted(members) == list(range(RANKS)), f"AllReduce instance {instance} has members {sorted(members)}"
    return f"{len(all_reduces)} AllReduce instances, each with its {RANKS} members"


def check_clocks(path, file):
    """The nodes were compared while the job ran, and so it is certain who was late."""
    nodes = pd.read_hdf(path, "clock/nodes")
    methods = h5py.check_enum_dtype(file["clock/nodes"].dtype["method"])
    expected = {methods["reference"], methods["udp_kernel_stamps"]}
    assert set(nodes["method"]) == expected, f"methods {list(nodes['method'])} of {methods}"
    assert nodes["bound_ns"].max() < LATE_NS / 10, f"bounds {list(nodes['bound_ns'])} ns"
    late = np.mean(file["collectives/last_member"][:] == LATE_RANK)
    assert late > 0.6, f"rank {LATE_RANK} was the last of only {100 * late:.0f} % of the collectives"
    return f"clocks within {nodes['bound_ns'].max() / 1e3:.1f} us, rank {LATE_RANK} last in {100 * late:.0f} %"


def check_steps(file, n_steps):
    steps = file["steps"]
    offsets, numbers, durations = steps["process_offset"][:], steps["step"][:], steps["dur_ns"][:]
    for process in range(RANKS):
        rows = slice(offsets[process], offsets[process + 1])
        assert list(numbers[rows]) == list(range(n_steps)), f"process {process} has steps {list(numbers[rows])}"
        assert (durations[rows] > 0).all(), f"process {process} has a step without an end"
    return f"{n_steps} steps in each of {RANKS} processes"


def main(arguments):
    path, job = arguments[0], arguments[1]
    check_opens(path)
    with h5py.File(path) as file:
        assert file.attrs["complete"] == 1, "the file is not complete"
        if job == "puppet":
            print(check_puppet(file))
            print(check_clocks(path, file))
        print(check_steps(file, PUPPET_STEPS if job == "puppet" else int(arguments[2])))


if __name__ == "__main__":
    main(sys.argv[1:])
