"""What a run file says of who was late and why, worked out with numpy from the definitions alone.

A second opinion for the tests of the studies: it shares no code with them, reads whole columns, and knows only jobs whose
ranks each have one GPU and do one thing at a time.
"""

from run_file import RunFile  # before numpy: it skips where h5py is missing

import numpy as np

PARTIAL_FLAG = 1
HOST, COMPUTE, COPY, OTHER = "host", "compute", "copy", "other"


def wait_and_blame(arrivals):
    """By member: how long it waited, and its share of the others' waiting: what passes between two arrivals is waited by
    those who are there and shared out among those who are not."""
    order = np.argsort(arrivals, kind="stable")
    gaps = np.diff(arrivals[order]).astype(float)
    n = len(arrivals)
    there = np.arange(1, n)
    blame = np.empty(n)
    blame[order] = np.concatenate(([0.0], np.cumsum(there * gaps / (n - there))))
    return (arrivals.max() - arrivals).astype(float), blame


class ArrivalSplit:
    """`wait_ns`, `blame_ns`: [step, rank], of instances that all members recorded; `bound_ns`: by step, the sum of what
    their clocks leave open. `parts_ns`: cause -> [step, rank], how the time before the rank's calls was spent."""

    def __init__(self, path, n_ranks, n_steps):
        self.shape = (n_steps, n_ranks)
        with RunFile(path) as run:
            self._read(run)

    def _read(self, run):
        tables = run.file
        self.ranks = np.array(run.ranks())
        nccl = {name: tables[f"events/nccl/{name}"][:] for name in ("gpu_start_ns", "gpu_dur_ns", "enqueue_ns")}
        offsets = tables["events/nccl/process_offset"][:].astype(int)
        process = np.repeat(np.arange(len(self.ranks)), np.diff(offsets))
        self.step_of_call = self._steps(tables, process, nccl["enqueue_ns"])
        self._sum_arrivals(tables, nccl, process)
        self._sum_parts(tables, nccl, offsets)

    def _steps(self, tables, process, t_ns):
        """The number of the step that each call is in."""
        found = np.empty(len(process), dtype=int)
        offsets = tables["steps/process_offset"][:].astype(int)
        begins, numbers = tables["steps/start_ns"][:], tables["steps/step"][:]
        for p in range(len(self.ranks)):
            own = slice(offsets[p], offsets[p + 1])
            at = np.searchsorted(begins[own], t_ns[process == p], side="right") - 1
            assert (at >= 0).all(), "a call before the first step"
            found[process == p] = numbers[own][at]
        return found

    def _sum_arrivals(self, tables, nccl, process):
        self.wait_ns, self.blame_ns = np.zeros(self.shape), np.zeros(self.shape)
        self.bound_ns, self.n_instances = np.zeros(self.shape[0]), 0
        self.transfers = []  # step, communicator, n-th of its step, ns from the last arrival to the last end
        seen = {}
        offsets = tables["collectives/member_offset"][:].astype(int)
        rows = tables["collectives/event_row"][:].astype(int)
        flags, comms = tables["collectives/flags"][:], tables["collectives/comm"][:]
        bounds = np.nan_to_num(tables["collectives/clock_bound_ns"][:])
        order = np.argsort(tables["collectives/first_start_ns"][:], kind="stable")
        for instance in order:
            own = rows[offsets[instance]:offsets[instance + 1]]
            step = self.step_of_call[own[0]]
            if flags[instance] & PARTIAL_FLAG:
                continue
            assert (self.step_of_call[own] == step).all(), "members in different steps"
            arrivals = nccl["gpu_start_ns"][own]
            wait, blame = wait_and_blame(arrivals)
            ranks = self.ranks[process[own]]
            self.wait_ns[step, ranks] += wait
            self.blame_ns[step, ranks] += blame
            self.bound_ns[step] += bounds[instance]
            self.n_instances += 1
            nth = seen[step, comms[instance]] = seen.get((step, comms[instance]), -1) + 1
            end = (arrivals + nccl["gpu_dur_ns"][own]).max()
            self.transfers.append((step, int(comms[instance]), nth, int(end - arrivals.max())))

    def _sum_parts(self, tables, nccl, nccl_offsets):
        self.parts_ns = {cause: np.zeros(self.shape) for cause in (HOST, COMPUTE, COPY, OTHER)}
        api_start = tables["events/api/start_ns"][:]
        is_nccl = np.zeros(len(tables["events/kernels/start_ns"]), dtype=bool)
        is_nccl[tables["nccl_work/kernel"][:].astype(int)] = True
        work = {table: {name: tables[f"events/{table}/{name}"][:] for name in ("start_ns", "dur_ns", "api")}
                for table in ("kernels", "memops")}
        offsets = {table: tables[f"events/{table}/process_offset"][:].astype(int) for table in work}
        for p, rank in enumerate(self.ranks):
            own = {table: slice(offsets[table][p], offsets[table][p + 1]) for table in work}
            start, dur, api = (np.concatenate([work[t][name][own[t]] for t in work]) for name in ("start_ns", "dur_ns", "api"))
            what = np.concatenate((np.where(is_nccl[own["kernels"]], 1, 0), np.full(own["memops"].stop - own["memops"].start, 2)))
            order = np.argsort(start, kind="stable")
            start, dur, launch, what = start[order], dur[order], api_start[api[order].astype(int)], what[order]
            before = np.concatenate(([start[0]], np.maximum.accumulate(start + dur)[:-1]))
            gap = np.maximum(start - before, 0)
            calls = slice(nccl_offsets[p], nccl_offsets[p + 1])
            # Up to the call whose kernel it is, or that comes next.
            call = np.searchsorted(nccl["gpu_start_ns"][calls], start, side="left")
            is_counted = call < calls.stop - calls.start
            step = self.step_of_call[calls][np.minimum(call, calls.stop - calls.start - 1)]
            for cause, ns in ((HOST, np.where(launch >= before, gap, 0)), (OTHER, np.where(launch >= before, 0, gap)),
                              (COMPUTE, np.where(what == 0, dur, 0)), (COPY, np.where(what == 2, dur, 0))):
                np.add.at(self.parts_ns[cause][:, rank], step[is_counted], ns[is_counted])

    def excess_ns(self, cause):
        """[step, rank], over the median rank of the step."""
        parts = self.parts_ns[cause][:, self.ranks]
        excess = np.full(self.shape, np.nan)
        excess[:, self.ranks] = parts - np.median(parts, axis=1, keepdims=True)
        return excess

    def transfer_ns(self):
        """(communicator, n-th of its step) -> by step."""
        found = {}
        for step, comm, nth, ns in self.transfers:
            found.setdefault((comm, nth), np.full(self.shape[0], np.nan))[step] = ns
        return found


def port_gains(path):
    """(node, port of the node) -> counter -> how much it grew, from the first sample to the last."""
    with RunFile(path) as run:
        table = run.file["counters/nic/mlx5_core"]
        nics = run.rows("job/nics")
        offsets = table["nic_offset"][:].astype(int)
        names = [name for name, column in table.items() if column.dtype == np.uint64 and name != "nic_offset"]
        gains, n_of_node = {}, {}
        for nic, first, end in zip(nics, offsets, offsets[1:]):
            port = n_of_node[nic["node"]] = n_of_node.get(nic["node"], -1) + 1
            gains[nic["node"], port] = {name: int(table[name][end - 1] - table[name][first]) for name in names}
        return gains


def sm_clocks(path):
    """Rank -> MHz of its GPU, by sample, with the clock-event reasons beside."""
    with RunFile(path) as run:
        table = run.file["counters/gpu"]
        offsets = table["device_offset"][:].astype(int)
        ranks = run.ranks()
        return {ranks[row["process"]]: (table["sm_clock"][first:end], table["clock_reasons"][first:end])
                for row, first, end in zip(run.rows("job/devices"), offsets, offsets[1:]) if row["process"] is not None}
