#!/usr/bin/env python3
"""Does the NCCL puppet call a profiler as NCCL 2.28 does, and is its own log true?

Runs nccl_puppet under mpirun with recorders in the profiler's place and checks what they were told. Arguments: the
puppet, the two recorder libraries. Without mpirun the test is skipped (exit status 77), unless JAXPROF_REQUIRE names
mpi.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import nvtx_rules
import plugin_rules
from recording import number, of_kind, read

PUPPET, PLUGIN, NVTX = None, None, None
EVERYTHING = 0xF1F
ALL_OPERATIONS = "allreduce,allgather,reducescatter,broadcast,reduce,alltoall,gather,scatter,sendrecv,group"


class Run:
    """One run of the puppet in a folder of its own."""

    def __init__(self, *options, n_ranks=4, plugin=True, nvtx=True, environment=None):
        self.folder = tempfile.TemporaryDirectory(prefix="nccl_puppet.")
        folder = pathlib.Path(self.folder.name)
        variables = {k: v for k, v in os.environ.items() if k not in ("NCCL_PROFILER_PLUGIN", "NVTX_INJECTION64_PATH")}
        variables |= {"PROFILER_RECORDER_FILE": f"{folder}/plugin.%p", "NVTX_RECORDER_FILE": f"{folder}/nvtx.%p"}
        if plugin:
            variables["NCCL_PROFILER_PLUGIN"] = PLUGIN
        if nvtx:
            variables["NVTX_INJECTION64_PATH"] = NVTX
        environment = dict(environment or {})
        preload = environment.pop("LD_PRELOAD", None)  # for the ranks, not for mpirun
        variables |= environment
        command = ["mpirun", "-n", str(n_ranks), "--oversubscribe", "--allow-run-as-root",
                   *(["-x", f"LD_PRELOAD={preload}"] if preload else []), PUPPET, "--log", f"{folder}/log.%r", *options]
        self.result = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120, check=False)
        self.logs = [read(folder / f"log.{rank}") for rank in range(n_ranks) if (folder / f"log.{rank}").exists()]
        self.plugin = [self._recording(folder, "plugin", log) for log in self.logs]
        self.nvtx = [self._recording(folder, "nvtx", log) for log in self.logs]

    @staticmethod
    def _recording(folder, kind, log):
        path = folder / f"{kind}.{log[0]['pid']}"
        return read(path) if path.exists() else []


class PuppetTest(unittest.TestCase):
    def run_puppet(self, *options, **how):
        run = Run(*options, **how)
        self.addCleanup(run.folder.cleanup)
        return run

    def run_well(self, *options, **how):
        run = self.run_puppet(*options, **how)
        self.assertEqual(run.result.returncode, 0, run.result.stderr)
        return run

    def assert_rules(self, run, mask):
        for log, recording in zip(run.logs, run.plugin, strict=True):
            events = plugin_rules.Events(recording)
            self.assertEqual(plugin_rules.check_order(events), [])
            self.assertEqual(plugin_rules.check_against_log(events, log, mask), [])


class EveryOperation(PuppetTest):
    @classmethod
    def setUpClass(cls):
        cls.run_ = Run("--ops", ALL_OPERATIONS, "--sizes", "1K,100K,2M", "--iterations", "2", "--comms", "2",
                       "--ranks-per-node", "2", "--root", "1", "--redop", "max")

    @classmethod
    def tearDownClass(cls):
        cls.run_.folder.cleanup()

    def test_ends_well(self):
        self.assertEqual(self.run_.result.returncode, 0, self.run_.result.stderr)
        self.assertEqual(len(self.run_.logs), 4)

    def test_the_log_has_the_calls_the_command_line_asks_for(self):
        for log in self.run_.logs:
            per_size = 8 + 2 + 4  # single calls, Send and Recv, the group
            self.assertEqual(len(of_kind(log, "call")), 2 * 3 * per_size * 3)
            self.assertEqual(len(of_kind(log, "group")), 2 * 3 * 2 * 3)
            self.assertEqual({c["bytes"] for c in of_kind(log, "call")}, {"1024", "102400", str(2 << 20)})
            self.assertEqual(number(of_kind(log, "footer")[0], "n_calls"), len(of_kind(log, "call")))

    def test_stamps_enclose_the_call_and_follow_each_other(self):
        for log in self.run_.logs:
            last = 0
            for call in of_kind(log, "call"):
                self.assertLess(number(call, "before_raw_ns"), number(call, "after_raw_ns"))
                self.assertGreaterEqual(number(call, "before_raw_ns"), last)
                last = number(call, "after_raw_ns")

    def test_every_instance_has_all_its_members(self):
        members = {}
        for log in self.run_.logs:
            for call in of_kind(log, "call"):
                key = (call["comm"], call["function"], call["n_call"])
                members.setdefault(key, []).append((int(call["comm_rank"]), int(call["n_ranks"])))
        for key, ranks in members.items():
            self.assertEqual([rank for rank, _ in sorted(ranks)], list(range(ranks[0][1])), key)

    def test_the_plugin_is_called_in_nccls_order(self):
        for recording in self.run_.plugin:
            events = plugin_rules.Events(recording)
            self.assertEqual({e.type for e in events.by_handle.values()}, set(plugin_rules.STARTS_WITH))
            self.assertEqual(plugin_rules.check_order(events), [])

    def test_the_plugin_is_told_what_the_log_says(self):
        for log, recording in zip(self.run_.logs, self.run_.plugin, strict=True):
            self.assertEqual(plugin_rules.check_against_log(plugin_rules.Events(recording), log, EVERYTHING), [])

    def test_nvtx_payloads_decode_to_what_the_log_says(self):
        for log, recording in zip(self.run_.logs, self.run_.nvtx, strict=True):
            self.assertEqual(nvtx_rules.check_against_log(recording, log), [])

    def test_each_iteration_is_a_step_range(self):
        for recording in self.run_.nvtx:
            self.assertEqual(nvtx_rules.steps(recording), [0, 1])

    def test_communicators_are_announced_before_use_and_finalized_last(self):
        for log, recording in zip(self.run_.logs, self.run_.plugin, strict=True):
            inits, comms = of_kind(recording, "init"), of_kind(log, "comm")
            self.assertEqual([(i["comm"], i["comm_rank"], i["n_ranks"], i["n_nodes"]) for i in inits],
                             [(c["comm"], c["comm_rank"], c["n_ranks"], c["n_nodes"]) for c in comms])
            self.assertEqual({i["comm_name"] for i in inits}, {"(null)"})
            self.assertEqual(len({i["mask_at"] for i in inits}), 1)
            self.assertNotIn(log[0]["pid"], {i["tid"] for i in inits}, "init runs on a thread of NCCL's own")
            self.assertEqual([r["what"] for r in recording[-4:]], ["finalize"] * 3 + ["unload"])
            self.assertEqual({f["context"] for f in of_kind(recording, "finalize")}, {i["context"] for i in inits})

    def test_the_proxy_thread_names_itself(self):
        for recording in self.run_.nvtx:
            self.assertIn("NCCL Progress", of_kind(recording, "thread")[0]["name"])


    def test_the_rules_see_planted_faults(self):
        """A checker that never complains proves nothing: spoil one field of a good recording at a time."""
        log, recording = self.run_.logs[0], self.run_.plugin[0]

        def first(kind, **fields):
            return next(i for i, r in enumerate(recording)
                        if r["what"] == kind and all(r.get(k) == v for k, v in fields.items()))

        def changed(position, **fields):
            return [r | fields if i == position else r for i, r in enumerate(recording)]

        coll, launch = first("start", type="Coll"), first("start", type="KernelLaunch")
        gather = first("start", type="Coll", function="AllGather")
        spoiled = {"a stop is missing": [r for i, r in enumerate(recording) if i != first("stop")],
                   "the launch comes late": recording[:launch] + recording[launch + 2:] + recording[launch:launch + 2],
                   "the parent is another": changed(coll, parent=recording[coll]["group"]),
                   "the group is missing": changed(coll, group="0x0"),
                   "the rank is another": changed(coll, rank="3"),
                   "the depth is reported as a rank": changed(first("start", type="GroupApi"), rank="1"),
                   "a state is missing": [r for i, r in enumerate(recording) if i != first("state", state="24")],
                   "the proxy runs on the user's thread": changed(first("start", type="ProxyOp"),
                                                                 tid=recording[coll]["tid"])}
        for fault, records in spoiled.items():
            with self.subTest(fault):
                self.assertNotEqual(plugin_rules.check_order(plugin_rules.Events(records)), [])
        spoiled = {"the count is in elements": changed(gather, count="256", datatype="ncclFloat32"),
                   "a sequence number is used twice": changed(coll, sequence="1"),
                   "a peer is another": changed(first("start", type="P2p"), peer="9"),
                   "a call is not told": [r for i, r in enumerate(recording) if i != first("start", type="CollApi")]}
        for fault, records in spoiled.items():
            with self.subTest(fault):
                events = plugin_rules.Events(records)
                self.assertNotEqual(plugin_rules.check_against_log(events, log, EVERYTHING), [])
        nvtx = self.run_.nvtx[0]
        position = next(i for i, r in enumerate(nvtx) if "bytes0" in r and r["what"] == "push")
        wrong_bytes = nvtx[position] | {"bytes0": nvtx[position]["bytes0"][:16] + "01" + nvtx[position]["bytes0"][18:]}
        for records in (nvtx[:position] + [wrong_bytes] + nvtx[position + 1:], nvtx[:position] + nvtx[position + 1:]):
            self.assertNotEqual(nvtx_rules.check_against_log(records, log), [])


class Masks(PuppetTest):
    OPERATIONS = ("--ops", "allreduce,alltoall,sendrecv", "--sizes", "64K", "--iterations", "1", "--ranks-per-node",
                  "2")

    def test_parents_are_started_for_any_childs_bit(self):
        for mask, types in ((0x1, {"GroupApi", "Group"}),
                            (0x2, {"GroupApi", "CollApi", "Group", "Coll"}),
                            (0x4, {"GroupApi", "P2pApi", "Group", "P2p"}),
                            (0x8, {"GroupApi", "CollApi", "P2pApi", "Group", "Coll", "P2p", "ProxyOp"}),
                            (0x800, {"GroupApi", "KernelLaunch"}),
                            (0xF06, {"GroupApi", "CollApi", "P2pApi", "KernelLaunch", "Group", "Coll", "P2p"})):
            with self.subTest(mask=hex(mask)):
                run = self.run_well(*self.OPERATIONS, nvtx=False, environment={"PROFILER_RECORDER_MASK": hex(mask)})
                for recording in run.plugin:
                    self.assertEqual({r["type"] for r in of_kind(recording, "start")}, types)
                self.assert_rules(run, mask)

    def test_an_empty_mask_starts_nothing(self):
        run = self.run_well(*self.OPERATIONS, environment={"PROFILER_RECORDER_MASK": "0"})
        for recording in run.plugin:
            self.assertEqual({r["what"] for r in recording}, {"init", "finalize", "unload"})
        self.assertEqual({c["sequence"] for c in of_kind(run.logs[0], "call") if c["function"] == "AllReduce"}, {"0"})

    def test_without_a_context_events_come_and_finalize_does_not(self):
        run = self.run_well(*self.OPERATIONS, environment={"PROFILER_RECORDER_NULL_CONTEXT": "1",
                                                           "PROFILER_RECORDER_INIT_RESULT": "3"})
        for recording in run.plugin:
            self.assertEqual({r["context"] for r in of_kind(recording, "start")}, {"0x0"})
            self.assertEqual(plugin_rules.check_order(plugin_rules.Events(recording)), [])
            self.assertEqual(of_kind(recording, "finalize"), [])
            self.assertEqual(recording[-1]["what"], "unload")

    def test_an_unwritten_handle_comes_back_stale(self):
        run = self.run_well("--ops", "allreduce", "--sizes", "1K", "--iterations", "2", n_ranks=2,
                            environment={"PROFILER_RECORDER_LEAVE_HANDLES": "0x100"})
        starts = of_kind(run.plugin[0], "start")
        self.assertEqual({r["handle"] for r in starts if r["type"] == "GroupApi"}, {"0x0"})
        self.assertEqual({r["parent"] for r in starts if r["type"] == "CollApi"}, {"0x0"})
        second = [r for r in starts if r["type"] == "CollApi"][1]
        first = [r for r in starts if r["type"] == "CollApi"][0]
        self.assertEqual(second["stale"], first["handle"], "NCCL does not clear the CollApi handle")


class Discovery(PuppetTest):
    def status(self, value, extra=None, link=None):
        with tempfile.TemporaryDirectory() as folder:
            environment = {"NCCL_PROFILER_PLUGIN": value} if value is not None else {}
            if link:
                os.symlink(PLUGIN, f"{folder}/{link}")
                environment["LD_LIBRARY_PATH"] = folder + ":" + os.environ.get("LD_LIBRARY_PATH", "")
            run = self.run_well("--iterations", "1", "--sizes", "1K", n_ranks=1, nvtx=False, plugin=False,
                                environment=environment | (extra or {}))
            return of_kind(run.logs[0], "plugin")[0]["status"]

    def test_a_path_is_opened_as_given(self):
        self.assertEqual(self.status(PLUGIN), f"loaded recorder version 5 from {PLUGIN}")

    def test_a_name_becomes_a_library_name(self):
        self.assertEqual(self.status("rec", link="libnccl-profiler-rec.so"),
                         "loaded recorder version 5 from libnccl-profiler-rec.so")

    def test_unset_tries_the_default_library(self):
        self.assertEqual(self.status(None, link="libnccl-profiler.so"), "loaded recorder version 5 from libnccl-profiler.so")
        self.assertIn("not found", self.status(None))

    def test_none_disables(self):
        self.assertEqual(self.status("NONE"), "disabled by NCCL_PROFILER_PLUGIN")

    def test_a_prefix_of_static_plugin_means_the_program_itself(self):
        self.assertIn("no ncclProfiler_v5 or older", self.status("s"))
        self.assertIn("loaded recorder", self.status("static", extra={"LD_PRELOAD": PLUGIN}))

    def test_a_missing_library_is_not_an_error(self):
        self.assertIn("not found", self.status("/nonexistent/plugin.so"))


class Ways(PuppetTest):
    def test_the_interfaces_can_be_left_out(self):
        for api, has_plugin, has_nvtx in (("plugin", True, False), ("nvtx", False, True), ("none", False, False)):
            with self.subTest(api=api):
                run = self.run_well("--api", api, "--iterations", "1", "--sizes", "1K", n_ranks=2)
                self.assertEqual(bool(run.plugin[0]), has_plugin)
                self.assertEqual(bool(run.nvtx[0]), has_nvtx)

    def test_the_result_does_not_depend_on_the_profiler(self):
        options = ("--ops", ALL_OPERATIONS, "--sizes", "4K", "--iterations", "1", "--comms", "1")
        lines = {self.run_well(*options).result.stdout,
                 self.run_well(*options, "--api", "none", plugin=False, nvtx=False).result.stdout}
        self.assertEqual(len(lines), 1, lines)

    def test_user_threads_call_concurrently(self):
        run = self.run_well("--threads", "2", "--ops", "allreduce,sendrecv", "--sizes", "1K,64K", "--iterations", "5",
                            n_ranks=2)
        self.assertEqual(len({c["tid"] for c in of_kind(run.logs[0], "call")}), 2)
        self.assert_rules(run, EVERYTHING)
        for log, recording in zip(run.logs, run.nvtx, strict=True):
            self.assertEqual(nvtx_rules.check_against_log(recording, log), [])

    def test_uint8_has_no_name(self):
        run = self.run_well("--dtype", "uint8", "--sizes", "1K", "--iterations", "1", n_ranks=2)
        coll = next(r for r in of_kind(run.plugin[0], "start") if r["type"] == "Coll")
        self.assertEqual((coll["datatype"], coll["count"]), ("Unknown", "1024"))

    def test_a_late_rank_really_sleeps_before_its_calls(self):
        run = self.run_well("--late", "1:40", "--sizes", "1K", "--iterations", "4", n_ranks=2)
        self.assertEqual({c["slept_ns"] for c in of_kind(run.logs[0], "call")}, {"0"})
        calls, transfers = of_kind(run.logs[1], "call"), of_kind(run.logs[1], "transfer")
        for previous, call in zip(transfers, calls[1:]):
            self.assertGreaterEqual(number(call, "slept_ns"), 40_000_000)
            self.assertGreaterEqual(number(call, "before_raw_ns") - number(previous, "end_raw_ns"), 40_000_000)

    def test_every_limits_the_lateness(self):
        run = self.run_well("--late", "0:30:2", "--sizes", "1K", "--iterations", "4", n_ranks=2)
        self.assertEqual([c["slept_ns"] != "0" for c in of_kind(run.logs[0], "call")], [True, False, True, False])

    def test_a_slow_link_holds_up_everybody_and_makes_nobody_late(self):
        run = self.run_well("--slow", "1:40:2", "--work", "5", "--sizes", "1K", "--iterations", "4", n_ranks=2)
        transfers = [of_kind(log, "transfer") for log in run.logs]
        for nth, members in enumerate(zip(*transfers, strict=True)):
            last_ns = max(number(transfer, "begin_raw_ns") for transfer in members)
            for transfer in members:
                self.assertEqual(number(transfer, "end_raw_ns") - last_ns >= 40_000_000, nth % 2 == 1)
        for iteration, transfer in zip(of_kind(run.logs[0], "iteration"), transfers[0], strict=True):
            self.assertGreaterEqual(number(transfer, "begin_raw_ns") - number(iteration, "begin_raw_ns"), 5_000_000)

    def test_a_zero_count_is_dropped_by_nccl_but_seen_by_nvtx(self):
        run = self.run_well("--sizes", "0", "--iterations", "1", n_ranks=2)
        self.assertEqual(of_kind(run.plugin[0], "start"), [])
        self.assertEqual(nvtx_rules.check_against_log(run.nvtx[0], run.logs[0]), [])

    def test_a_single_rank_makes_no_collective(self):
        run = self.run_well("--ops", "allreduce,alltoall,sendrecv", "--sizes", "1K", "--iterations", "1", n_ranks=1)
        self.assertEqual({r["type"] for r in of_kind(run.plugin[0], "start")},
                         {"GroupApi", "P2pApi", "KernelLaunch", "Group", "P2p"})
        self.assert_rules(run, EVERYTHING)

    def test_exit_code(self):
        self.assertEqual(self.run_puppet("--iterations", "1", "--exit-code", "7", n_ranks=2).result.returncode, 7)

    def test_a_crash_leaves_the_log_up_to_the_last_call(self):
        run = self.run_puppet("--crash-after", "5:1", "--sizes", "1K", "--iterations", "9", n_ranks=2)
        self.assertEqual(run.result.returncode, 128 + signal.SIGSEGV, run.result.stderr)
        self.assertEqual(len(of_kind(run.logs[1], "call")), 5)
        self.assertEqual(of_kind(run.logs[1], "footer"), [])

    def test_a_wrong_option_is_refused(self):
        for words in (("--ops", "allred"), ("--sizes", "1Q"), ("--late", "1"), ("--nonsense", "1"), ("--sizes", "3G")):
            result = subprocess.run([PUPPET, *words], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((result.returncode, words[1] in result.stderr), (2, True), words)


if __name__ == "__main__":
    PUPPET, PLUGIN, NVTX = (os.path.abspath(path) for path in sys.argv[1:4])
    if shutil.which("mpirun") is None:
        is_required = "mpi" in os.environ.get("JAXPROF_REQUIRE", "").split(",")
        print(("FAILED: JAXPROF_REQUIRE names mpi, but" if is_required else "SKIPPED:"), "there is no mpirun")
        sys.exit(1 if is_required else 77)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
