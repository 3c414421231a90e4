#!/usr/bin/env python3
"""The Python reader, h5dump and the C++ reader agree on every value and attribute of run files: of two jobs of puppets,
which fill what a machine without a network of nodes can fill, and of the unit tests' sample, which has the rest. And
the comparison sees a single wrong value, on either side.
"""

import os
import shutil
import stat
import unittest
from pathlib import Path

import run_tools as tools

tools.require_module("h5py")
tools.require_module("pandas")
tools.require("hdf5-tools", shutil.which("h5dump"), "there is no h5dump")
tools.require("mpi", shutil.which("mpirun"), "there is no mpirun")
LIB = Path(os.environ.get("JAXPROF_LIB", tools.BIN.parent / "lib"))
FAKE_CUDA = LIB / "fake_cuda"
tools.require("cupti", (FAKE_CUDA / "libcuda.so.1").exists(), f"there is no {FAKE_CUDA}/libcuda.so.1")

from reader_agreement import Comparison  # noqa: E402

DUMP = tools.BIN / "dump_run_file"
# What puppets on one node without a network card fill; some of it only the one or the other job.
OF_PUPPETS = {"/clock/anchors", "/clock/model", "/clock/nodes", "/collectives", "/collectives/members", "/comms",
              "/comms/members", "/counters/gpu", "/events/api", "/events/cuda_events", "/events/graphs", "/events/kernels",
              "/events/memops", "/events/nccl", "/events/nvtx", "/events/overhead", "/events/syncs", "/job/devices",
              "/job/nodes", "/job/observers", "/job/processes", "/job/tasks", "/launch_configs", "/nccl_work", "/segments",
              "/steps"}


def script(name, text):
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/bash\nset -o pipefail\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path.resolve()


class ReaderAgreement(tools.FolderCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        env = tools.environment(LD_LIBRARY_PATH=FAKE_CUDA, JAXPROF_LIBNVML=LIB / "fake_nvml" / "libnvidia-ml.so.1")
        nccl = tools.mpirun(tools.EXEC, "-o", "nccl/rank%r", "-t", "cuda,nvtx,nccl,nic,gpu,sync", "--step-marker",
                            "step@puppet", "--", tools.NCCL_PUPPET, "--ops", "allreduce,allgather,alltoall,sendrecv", "--sizes",
                            "1K", "--comms", "1", "--iterations", "4", "--graph", "2", n_ranks=2, env=env)
        # It lasts: CUPTI's account of its own cost is about buffers that were asked for after the first ones.
        cuda = tools.run(tools.EXEC, "-o", "cuda/rank%r", "-t", "cuda,nvtx,cuda-graph,cuda-event,sync", "--step-marker",
                         "step@puppet", "--", tools.BIN / "cuda_puppet", "--steps", "4", "--period-us", "400000",
                         "--work", "kernel:3,copy,fill,graph,event,module,sync", env=env)
        for name, job in (("nccl", nccl), ("cuda", cuda)):
            merged = tools.merge(name, output=f"{name}.h5")
            assert job.status == 0 and merged.status == 0, f"{job}\n{merged}"
        sample = tools.run(tools.BIN / "write_sample", "sample.h5")
        assert sample.status == 0, str(sample)
        cls.compared = {name: Comparison(DUMP, f"{name}.h5") for name in ("nccl", "cuda", "sample")}

    def test_all_readers_agree_on_every_value_and_attribute(self):
        for name, comparison in self.compared.items():
            print(f"{name}: {comparison.summary()}")
            self.assertEqual(comparison.faults, [], name)

    def test_there_were_values_in_every_table(self):
        filled = {name: {path for path, rows in comparison.tables.items() if rows}
                  for name, comparison in self.compared.items()}
        everything = set().union(*(comparison.tables for comparison in self.compared.values()))
        self.assertEqual(everything - set().union(*filled.values()), set())
        self.assertEqual(OF_PUPPETS - filled["nccl"] - filled["cuda"], set())
        self.assertGreater(self.compared["nccl"].n_values, 10_000)

    def test_a_single_wrong_value_of_the_cpp_reader_is_seen(self):
        wrong = script("wrong/dump", f"""exec {DUMP} "$1" | sed '/nccl.start_ns/s/1000500/1000501/'""")
        fault, other = Comparison(wrong, "sample.h5").faults
        self.assertRegex(fault, "row 2 of /events/nccl/start_ns, h5dump and C.*: 1000500 and 1000501")
        self.assertRegex(other, "row 2 of /events/nccl/start_ns, Python and C.*: 1000500 and 1000501")

    def test_a_single_wrong_attribute_of_h5dump_is_seen(self):
        script("wrong/h5dump", f"""{shutil.which("h5dump")} "$@" | sed 's/"NCCL_VERSION_CODE"/"NCCL"/'""")
        path = os.environ["PATH"]
        os.environ["PATH"] = f"{Path('wrong').resolve()}:{path}"
        try:
            fault, = Comparison(DUMP, "sample.h5").faults
        finally:
            os.environ["PATH"] = path
        self.assertRegex(fault, "LONG_NAME of /job/processes, h5py and h5dump: NCCL_VERSION_CODE and NCCL$")


if __name__ == "__main__":
    unittest.main()
