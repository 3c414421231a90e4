#!/usr/bin/env python3
"""Does the NCCL puppet call a profiler as the releases of NCCL do that it can stand for: each interface version, each
way to launch, graphs, copy engines, and the hazards? Arguments and skipping as those of nccl_puppet_test.py, whose Run
this uses; that one holds version 5 against all of NCCL's rules.
"""

import collections
import os
import shutil
import sys
import unittest

import nccl_puppet_test
from nccl_puppet_test import PuppetTest
from recording import number, of_kind

# What NCCL 2.23 says instead of names.
NUMBERS_OF_VERSION_1 = {"AllReduce": "4", "AllGather": "2", "Send": "6", "Recv": "7"}
TASKS = {"Group", "Coll", "P2p"}
API = {"GroupApi", "CollApi", "P2pApi", "KernelLaunch"}


def starts(recording, *types):
    return [r for r in of_kind(recording, "start") if r["type"] in types]


class Versions(PuppetTest):
    def check(self, version):
        run = self.run_well("--api", str(version), "--ops", "allreduce,allgather,sendrecv", "--sizes", "1K",
                            "--iterations", "2", "--user-tag", "77", "--comm-name", "world", n_ranks=2)
        for log, recording in zip(run.logs, run.plugin, strict=True):
            self.assertEqual({r["version"] for r in of_kind(recording, "init")}, {str(version)})
            self.assertEqual({r["type"] for r in starts(recording, *TASKS, *API)},
                             TASKS if version <= 4 else TASKS | API)
            self.check_calls(version, log, starts(recording, "Coll", "P2p"))
            self.check_parents(version, recording)
            self.check_communicator(version, log, recording)

    def check_calls(self, version, log, tasks):
        names = NUMBERS_OF_VERSION_1 if version == 1 else {}
        told = collections.Counter((task["function"], task.get("sequence", "-")) for task in tasks)
        called = collections.Counter((names.get(call["function"], call["function"]), call["sequence"])
                                     for call in of_kind(log, "call"))
        self.assertEqual(told, called)
        self.assertEqual({task.get("tag") for task in tasks}, {"77" if version >= 7 else None})

    def check_parents(self, version, recording):
        groups = {r["handle"] for r in starts(recording, "Group")}
        apis = {r["handle"] for r in starts(recording, "CollApi", "P2pApi")}
        for task in starts(recording, "Coll", "P2p"):
            self.assertIn(task["parent"], groups if version <= 4 else apis)
            self.assertEqual(task.get("group") in groups, version >= 5)

    def check_communicator(self, version, log, recording):
        comm = of_kind(log, "comm")[0]
        told = starts(recording, "Coll", "P2p") if version <= 3 else of_kind(recording, "init")
        self.assertEqual({(r["comm"], r["comm_name"]) for r in told}, {(comm["comm"], "world")})

    def test_each(self):
        for version in range(1, 8):
            with self.subTest(version=version):
                self.check(version)

    def test_payloads_up_to_224_name_no_communicator(self):
        run = self.run_well("--api", "2", "--ops", "allreduce,sendrecv", "--sizes", "1K", "--iterations", "1",
                            "--comms", "1", n_ranks=2)
        for recording in run.nvtx:
            pushed = [r["bytes0"] for r in of_kind(recording, "push") if "bytes0" in r]
            little_1k = (1024).to_bytes(8, "little").hex()
            self.assertEqual(sum(payload.startswith(little_1k) for payload in pushed), 2 * 3)
            # The rest: two communicators made and destroyed, told on push.
            self.assertEqual(len(pushed), 2 * 3 + 2 * 2)

    def test_what_a_release_cannot_do_is_refused(self):
        for words in (("--api", "4", "--ops", "alltoall"), ("--api", "3", "--by", "symmetric"), ("--api", "8"),
                      ("--api", "4", "--by", "copy")):
            self.assertNotEqual(self.run_puppet(*words, n_ranks=1).result.returncode, 0, words)


class Carriers(PuppetTest):
    def types(self, *options):
        run = self.run_well(*options, "--sizes", "1K", "--iterations", "1", n_ranks=2)
        return collections.Counter(r["type"] for r in starts(run.plugin[0], *TASKS, *API, "CeColl"))

    def test_symmetric_kernels_are_seen_from_version_7_on(self):
        self.assertEqual(self.types("--api", "6", "--by", "symmetric"), {"GroupApi": 1, "CollApi": 1})
        self.assertEqual(self.types("--api", "7", "--by", "symmetric"),
                         {"GroupApi": 1, "CollApi": 1, "KernelLaunch": 1, "Group": 1, "Coll": 1})

    def test_copy_engines_are_seen_from_version_6_on(self):
        self.assertEqual(self.types("--api", "5", "--by", "copy", "--ops", "alltoall"), {"GroupApi": 1, "CollApi": 1})
        self.assertEqual(self.types("--api", "6", "--by", "copy", "--ops", "alltoall"),
                         {"GroupApi": 1, "CollApi": 1, "CeColl": 1})


class Launching(PuppetTest):
    OPERATIONS = ("--ops", "allreduce,group,sendrecv", "--sizes", "1K", "--iterations", "2")

    def threads(self, launch):
        run = self.run_well(*self.OPERATIONS, "--launch", launch, n_ranks=2)
        user = of_kind(run.logs[0], "call")[0]["tid"]
        return user, *({r["tid"] for r in starts(run.plugin[0], *types)}
                       for types in (("CollApi", "P2pApi"), ("KernelLaunch",), ("Group", "Coll", "P2p")))

    def test_on_the_calling_thread(self):
        user, *others = self.threads("user")
        self.assertEqual(others, [{user}] * 3)

    def test_on_a_thread_of_nccls_own(self):
        user, apis, launches, tasks = self.threads("async")
        self.assertEqual(apis, {user})
        self.assertNotIn(user, launches | tasks)

    def test_reported_by_cudas_callback_thread(self):
        user, apis, launches, tasks = self.threads("callback")
        self.assertEqual(apis | launches, {user})
        self.assertEqual(len(tasks - {user}), 1)

    def test_a_kernels_channels_are_reported_where_they_are_asked_for(self):
        run = self.run_well("--sizes", "64K", "--iterations", "2", n_ranks=2, nvtx=False,
                            environment={"PROFILER_RECORDER_MASK": "0x42"})
        for log, recording in zip(run.logs, run.plugin, strict=True):
            colls = {r["handle"]: r for r in starts(recording, "Coll")}
            seen = collections.Counter(r["parent"] for r in starts(recording, "KernelCh"))
            self.assertEqual(seen, {handle: number(r, "n_channels") for handle, r in colls.items()})
            self.assertEqual(len(colls), len(of_kind(log, "call")))


class Graphs(PuppetTest):
    OPERATIONS = ("--graph", "3", "--ops", "allreduce,sendrecv", "--sizes", "1K", "--iterations", "2")

    def test_within_a_node_tell_of_the_capture_only(self):
        run = self.run_well(*self.OPERATIONS, n_ranks=2)
        self.assertEqual(len(starts(run.plugin[0], "Coll")), 2)
        self.assertEqual({r["captured"] for r in starts(run.plugin[0], "GroupApi", "CollApi", "P2pApi")}, {"1"})

    def test_over_nodes_tell_of_each_launch_with_the_parents_of_the_capture(self):
        run = self.run_well(*self.OPERATIONS, "--ranks-per-node", "1", n_ranks=2)
        for recording in run.plugin:
            stopped = set()
            for record in recording:
                if record["what"] == "stop":
                    stopped.add(record["handle"])
                elif record["what"] == "start" and record["type"] in ("Coll", "P2p"):
                    self.assertIn(record["parent"], stopped)
            colls = starts(recording, "Coll")
            self.assertEqual(len(colls), 2 * 3)
            self.assertEqual({r["sequence"] for r in colls}, {"0"}, "what is captured does not advance it")

    def test_move_data_with_each_launch(self):
        log = self.run_well(*self.OPERATIONS, n_ranks=2).logs[0]
        replays = collections.Counter((t["function"], t["n_call"]) for t in of_kind(log, "transfer"))
        self.assertEqual(set(replays.values()), {3})
        self.assertEqual({c["captured"] for c in of_kind(log, "call")}, {"1"})


class Hazards(PuppetTest):
    def test_each_happens_and_is_logged(self):
        names = "foreign,null-context,strays,mask,late,reload,fork"
        run = self.run_well("--hazard", names, "--comms", "1", "--sizes", "1K", "--iterations", "6", n_ranks=2)
        for log, recording in zip(run.logs, run.plugin, strict=True):
            logged = {h["name"]: number(h, "n_events") for h in of_kind(log, "hazard")}
            self.assertEqual(logged, {"foreign": 2, "null-context": 1, "strays": 1, "fork": 3, "late": 1, "reload": 1})
            self.assertTrue(any(r["op_pid"] != r["pid"] for r in starts(recording, "ProxyOp")))
            self.assertIn("0x0", {r["context"] for r in starts(recording, "Coll")})
            self.assertEqual([r["what"] for r in recording].count("unload"), 2)
            # Of three kinds of iterations one is without events.
            told = {r["sequence"] for r in starts(recording, "Coll") if r["pid"] == log[0]["pid"]}
            called = {c["sequence"] for c in of_kind(log, "call") if c["sequence"] != "-"}
            self.assertEqual(called - told, {"1", "4"})


if __name__ == "__main__":
    nccl_puppet_test.PUPPET, nccl_puppet_test.PLUGIN, nccl_puppet_test.NVTX = map(os.path.abspath, sys.argv[1:4])
    if shutil.which("mpirun") is None:
        is_required = "mpi" in os.environ.get("JAXPROF_REQUIRE", "").split(",")
        print(("FAILED: JAXPROF_REQUIRE names mpi, but" if is_required else "SKIPPED:"), "there is no mpirun")
        sys.exit(1 if is_required else 77)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
