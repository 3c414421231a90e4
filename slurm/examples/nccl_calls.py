#!/usr/bin/env python3
"""Calls the real NCCL with known arguments, also on machines without a GPU, and prints what it called.

NCCL tells every call of its interface to NVTX before it looks at its arguments. So a call on a communicator that does
not exist is refused with "invalid argument", but only after NCCL's own range, with its own payload by its own schema,
has reached whoever listens. That is what this program is for: to see what a profiler makes of a real libnccl. It
transfers nothing, and has no real communicator even where there are GPUs.

What names the communicator in a payload is read from the communicator's memory. In the one release for which the place
is known here, blocks of zeros with an identifier in that place stand for two communicators, of all ranks and of pairs;
in any other release all calls go to the communicator NULL, which NCCL reports as 0.

Output: one JSON object a line, first "nccl", then one "call" each; `status` is NCCL's answer (4: invalid argument).

    srun -N2 --ntasks-per-node=2 jaxprof-exec -- python3 nccl_calls.py --library /usr/local/cuda/lib64/libnccl.so.2
"""

import argparse
import ctypes
import json
import sys

from counts import count
from launcher_variables import place_in_job

UNIQUE_ID_BYTES = 128
COMM_BYTES = 4 << 20
ID_OFFSETS = {22809: 1_066_184}  # NCCL_VERSION_CODE: where the identifier is in ncclComm
WORLD_ID = 0x1D00_0000_0000_0001
PAIR_ID = 0x1D00_0000_0000_0100  # and the number of the pair

DTYPES = {"int8": (0, 1), "uint8": (1, 1), "int32": (2, 4), "uint32": (3, 4), "int64": (4, 8), "uint64": (5, 8),
          "float16": (6, 2), "float32": (7, 4), "float64": (8, 8), "bfloat16": (9, 2)}  # number in nccl.h, bytes
REDUCTIONS = {"sum": 0, "prod": 1, "max": 2, "min": 3, "avg": 4}

# What lies between the data type and the communicator in the arguments; Send and Recv have one buffer, the others two.
FUNCTIONS = {"ncclAllReduce": ("reduction",), "ncclReduceScatter": ("reduction",), "ncclReduce": ("reduction", "root"),
             "ncclBroadcast": ("root",), "ncclAllGather": (), "ncclAlltoAll": (), "ncclGather": ("root",),
             "ncclScatter": ("root",), "ncclSend": ("peer",), "ncclRecv": ("peer",)}
ONE_BUFFER = ("ncclSend", "ncclRecv")


class Nccl:
    """The library, its functions with their C types, and the communicators that stand for real ones."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        version = ctypes.c_int()
        self.library.ncclGetVersion(ctypes.byref(version))
        self.version = version.value
        for name, words in FUNCTIONS.items():
            buffers = [ctypes.c_void_p] * (1 if name in ONE_BUFFER else 2)
            if hasattr(self.library, name):  # AlltoAll, Gather and Scatter are functions since 2.28
                getattr(self.library, name).argtypes = [*buffers, ctypes.c_size_t, ctypes.c_int,
                                                        *[ctypes.c_int] * len(words), ctypes.c_void_p, ctypes.c_void_p]
        self.memory = []

    def initialise(self):
        """As every program with NCCL begins: with a unique id, for which NCCL starts itself up. Only then does it tell
        NVTX the names of the reductions. Returns NCCL's answer."""
        return self.library.ncclGetUniqueId(ctypes.create_string_buffer(UNIQUE_ID_BYTES))

    def functions(self):
        return [name for name in FUNCTIONS if hasattr(self.library, name)]

    def communicator(self, identifier):
        """(address, identifier that NCCL will report)"""
        if self.version not in ID_OFFSETS:
            return None, 0
        block = ctypes.create_string_buffer(COMM_BYTES)
        ctypes.c_uint64.from_buffer(block, ID_OFFSETS[self.version]).value = identifier
        self.memory.append(block)
        return ctypes.addressof(block), identifier

    def call(self, name, address, count, dtype, **more):
        """NCCL's answer. Buffers are NULL: no call gets as far as that."""
        words = [REDUCTIONS[more[word]] if word == "reduction" else more[word] for word in FUNCTIONS[name]]
        buffers = [None] * (1 if name in ONE_BUFFER else 2)
        return getattr(self.library, name)(*buffers, count, DTYPES[dtype][0], *words, address, None)


class Caller:
    """Makes calls and prints them as they were made."""

    def __init__(self, nccl, rank, world_size):
        self.nccl = nccl
        self.rank = rank
        self.world_size = world_size

    def print_line(self, what, **words):
        sys.stdout.write(json.dumps({"what": what, "rank": self.rank, **words}) + "\n")
        sys.stdout.flush()

    def call(self, name, comm, count, dtype, group=None, **more):
        address, identifier = comm
        status = self.nccl.call(name, address, count, dtype, **more)
        self.print_line("call", function=name, comm=identifier, count=count, dtype=dtype,
                        bytes=count * DTYPES[dtype][1], reduction=more.get("reduction"), root=more.get("root"), peer=more.get("peer"), group=group,
                        status=status)

    def call_all(self, comm, n_ranks):
        """Every function, the reducing ones with every reduction; count and type differ from call to call."""
        types = list(DTYPES)
        for index, name in enumerate(self.nccl.functions()):
            words = FUNCTIONS[name]
            for number, reduction in enumerate(REDUCTIONS if "reduction" in words else (None,)):
                values = {"reduction": reduction, "root": (index + number) % n_ranks, "peer": (self.rank + 1) % n_ranks}
                self.call(name, comm, (index + 1) * 1000 + number, types[(index + number) % len(types)],
                          **{word: values[word] for word in words})

    def exchange(self, comm, n_ranks, group):
        """A group of sends and receives, as an exchange with both neighbours makes it."""
        self.nccl.library.ncclGroupStart()
        for peer in ((self.rank + 1) % n_ranks, (self.rank - 1) % n_ranks):
            for name in ("ncclSend", "ncclRecv"):
                self.call(name, comm, 4096 + peer, "bfloat16", group=group, peer=peer)
        self.nccl.library.ncclGroupEnd()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default="libnccl.so.2", help="NCCL's library (default %(default)s)")
    parser.add_argument("--iterations", type=count, default=3, help="how often all is called (default %(default)s)")
    options = parser.parse_args()

    place = place_in_job()
    try:
        nccl = Nccl(options.library)
    except OSError as error:
        sys.exit(f"nccl_calls.py: {error}; name the file with --library (`bash tests/setup.sh --path nccl` prints one)")
    caller = Caller(nccl, place.rank, place.size)
    caller.print_line("nccl", version=nccl.version, status=nccl.initialise(), functions=nccl.functions(),
                      world_size=place.size)
    world = nccl.communicator(WORLD_ID)
    pair = nccl.communicator(PAIR_ID + place.rank // 2)
    for iteration in range(options.iterations):
        caller.call_all(world, place.size)
        caller.call_all(pair, 2)
        caller.exchange(world, place.size, group=iteration)


if __name__ == "__main__":
    main()
