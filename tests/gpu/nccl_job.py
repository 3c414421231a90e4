#!/usr/bin/env python3
"""A communicator of one rank on the real libnccl and a real GPU: grouped sends and receives to itself, and AllReduce.

Grouped send and recv to oneself is the one thing for which NCCL launches a kernel of its own with a single GPU. Prints
one JSON object. NCCL is found by its name, or in the wheel nvidia-nccl of this Python.
"""

import ctypes
import glob
import json
import os
import site
import sys
from ctypes import byref, c_int, c_size_t, c_void_p

from cuda_driver import Driver

FLOAT32, SUM = 7, 0


def load_nccl():
    names = ["libnccl.so.2"]
    for folder in [*site.getsitepackages(), *sys.path]:
        names += glob.glob(os.path.join(folder, "nvidia/*/lib/libnccl.so.2"))
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    sys.exit("nccl_job: no libnccl.so.2 here")


class Nccl:
    def __init__(self):
        self.library = load_nccl()
        self.library.ncclGetErrorString.restype = ctypes.c_char_p

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            sys.exit(f"nccl_job: {name}: {self.library.ncclGetErrorString(c_int(status)).decode()}")


class UniqueId(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 128)]


def main():
    n_groups, count = 50, 1 << 18
    driver, nccl = Driver(), Nccl()
    version = c_int()
    nccl.call("ncclGetVersion", byref(version))
    unique = UniqueId()
    nccl.call("ncclGetUniqueId", byref(unique))
    comm = c_void_p()
    nccl.library.ncclCommInitRank.argtypes = [c_void_p, c_int, UniqueId, c_int]
    nccl.call("ncclCommInitRank", byref(comm), 1, unique, 0)
    stream = driver.stream()
    send, receive = driver.memory(4 * count), driver.memory(4 * count)
    address = [c_void_p(send.value), c_void_p(receive.value)]
    for _ in range(n_groups):
        nccl.call("ncclGroupStart")
        nccl.call("ncclSend", address[0], c_size_t(count), c_int(FLOAT32), c_int(0), comm, stream)
        nccl.call("ncclRecv", address[1], c_size_t(count), c_int(FLOAT32), c_int(0), comm, stream)
        nccl.call("ncclGroupEnd")
        nccl.call("ncclAllReduce", address[0], address[1], c_size_t(count), c_int(FLOAT32), c_int(SUM), comm, stream)
    driver.synchronize(stream)
    nccl.call("ncclCommDestroy", comm)
    print(json.dumps({"version": version.value, "groups": n_groups, "bytes": 4 * count}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
