#!/usr/bin/env python3
"""With the tests' CUDA driver the NCCL puppet's transfers are kernels: launched inside the plugin's KernelLaunch, one a
plan, replayed by graphs, and with NCCL's symbols. Arguments as those of nccl_puppet_test.py and the driver's folder.
"""

import collections
import os
import shutil
import sys
import unittest

import nccl_puppet_test
from nccl_puppet_test import ALL_OPERATIONS, PuppetTest
from recording import number, of_kind

DRIVER = None


class Kernels(PuppetTest):
    def run_on_gpus(self, *options, **how):
        return self.run_well(*options, environment={"LD_LIBRARY_PATH": DRIVER}, **how)

    def test_one_a_plan_with_nccls_symbol(self):
        run = self.run_on_gpus("--ops", "allreduce,group,sendrecv", "--sizes", "1K,2M", "--iterations", "2", n_ranks=2)
        for log in run.logs:
            kernels = collections.defaultdict(list)
            for transfer in of_kind(log, "transfer"):
                kernels[transfer["correlation"]].append(transfer)
            self.assertEqual(sorted(map(len, kernels.values())), [1] * 4 + [2] * 4 + [4] * 4)
            for transfers in kernels.values():
                self.assertEqual(len({(t["kernel"], t["kernel_begin_raw_ns"], t["kernel_end_raw_ns"])
                                      for t in transfers}), 1)
                expected = "SendRecv" if transfers[0]["function"] in ("Send", "Recv") else "AllReduce_Sum_f32"
                self.assertRegex(transfers[0]["kernel"], rf"^_Z\d+ncclDevKernel_{expected}")
                for transfer in transfers:
                    self.assertLessEqual(number(transfer, "kernel_begin_raw_ns"), number(transfer, "begin_raw_ns"))
                    self.assertLessEqual(number(transfer, "end_raw_ns"), number(transfer, "kernel_end_raw_ns"))

    def test_launched_between_the_plugins_start_and_stop(self):
        run = self.run_on_gpus("--ops", "allreduce,sendrecv", "--sizes", "1K", "--iterations", "3", n_ranks=2)
        for log, recording in zip(run.logs, run.plugin, strict=True):
            launches = [r for r in of_kind(recording, "start") if r["type"] == "KernelLaunch"]
            begins = sorted({number(t, "kernel_begin_raw_ns") for t in of_kind(log, "transfer")})
            self.assertEqual(len(launches), len(begins))
            for launch, begin in zip(launches, begins):
                self.assertLess(number(launch, "t_ns"), begin)

    def test_nodes_of_a_graph_run_with_each_launch(self):
        run = self.run_on_gpus("--graph", "3", "--sizes", "1K", "--iterations", "1", "--ranks-per-node", "1", n_ranks=2)
        transfers = of_kind(run.logs[0], "transfer")
        self.assertEqual([t["replay"] for t in transfers], ["0", "1", "2"])
        self.assertEqual(len({t["correlation"] for t in transfers}), 3)
        self.assertEqual(len({t["graph_node"] for t in transfers} - {"0"}), 1)

    def test_data_is_what_it_is_without_a_driver(self):
        options = ("--ops", ALL_OPERATIONS, "--sizes", "4K", "--iterations", "1", "--comms", "1")
        self.assertEqual(self.run_on_gpus(*options).result.stdout, self.run_well(*options).result.stdout)


if __name__ == "__main__":
    *nccl_puppet_arguments, DRIVER = (os.path.abspath(path) for path in sys.argv[1:5])
    nccl_puppet_test.PUPPET, nccl_puppet_test.PLUGIN, nccl_puppet_test.NVTX = nccl_puppet_arguments
    if shutil.which("mpirun") is None:
        is_required = "mpi" in os.environ.get("JAXPROF_REQUIRE", "").split(",")
        print(("FAILED: JAXPROF_REQUIRE names mpi, but" if is_required else "SKIPPED:"), "there is no mpirun")
        sys.exit(1 if is_required else 77)
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
