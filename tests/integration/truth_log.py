"""The log of nccl_puppet: what the job really did, stamped by itself (tests/puppets/README.md).

Also says which rows a profiler can make of it, which depends on what it was told: NVTX shows the functions that were
called, NCCL's profiler plugin shows what NCCL made of them.
"""

import statistics
from collections import Counter, defaultdict

# Words of the log to those of the run file.
FUNCTIONS = {"AlltoAll": "AllToAll"}
DTYPES = {"int8": "i8", "uint8": "u8", "int32": "i32", "uint32": "u32", "int64": "i64", "uint64": "u64",
          "float16": "f16", "float32": "f32", "float64": "f64", "bfloat16": "bf16"}
REDOPS = {"Sum": "sum", "Product": "prod", "Max": "max", "Min": "min", "Avg": "avg"}
DECOMPOSED = ("AllToAll", "Gather", "Scatter")  # which NCCL runs as sends and receives
PER_RANK = ("AllGather", "ReduceScatter") + DECOMPOSED  # size_bytes is that of all ranks


def read_log(path):
    """Lines as dictionaries; numbers as int, hex included, and '-' as None."""
    lines = []
    with open(path) as log:
        for line in log:
            lines.append({key: value_of(text) for key, _, text in
                          (field.partition("=") for field in line.rstrip("\n").split("\t"))})
    return lines


def value_of(text):
    if text == "-":
        return None
    try:
        return int(text, 0)
    except ValueError:
        return text


class TruthLog:
    """One rank's log."""

    def __init__(self, path):
        lines = read_log(path)
        self.rank = lines[0]["rank"]
        self.comms = {line["comm"]: line for line in lines if line["what"] == "comm"}
        self.plugin = [line["status"] for line in lines if line["what"] == "plugin"]
        self.calls = [line for line in lines if line["what"] == "call"]
        self.iterations = [line for line in lines if line["what"] == "iteration"]
        self.has_footer = any(line["what"] == "footer" for line in lines)
        for call in self.calls:
            call["function"] = FUNCTIONS.get(call["function"], call["function"])
        # Both stamps of a call are taken one after the other; the median is free of those that were interrupted between.
        self._offset_ns = int(statistics.median(call["before_realtime_ns"] - call["before_raw_ns"]
                                                for call in self.calls))

    def realtime_ns(self, raw_ns):
        return raw_ns + self._offset_ns

    def parts(self, call):
        """Sends and receives that NCCL makes of a decomposed call: Counter of (function, peer). Self is among them."""
        everybody, root, rank = range(call["n_ranks"]), call["root"], call["comm_rank"]
        if call["function"] == "AllToAll":
            return Counter([("Send", peer) for peer in everybody] + [("Recv", peer) for peer in everybody])
        is_root = rank == root
        fan, other = ("Recv", "Send") if call["function"] == "Gather" else ("Send", "Recv")
        return Counter([(other, root)] + ([(fan, peer) for peer in everybody] if is_root else []))

    def calls_by_key(self):
        """Calls of each (communicator, function), in the order of the calls."""
        calls = defaultdict(list)
        for call in sorted(self.calls, key=lambda call: call["before_raw_ns"]):
            calls[call["comm"], call["function"]].append(call)
        return calls
