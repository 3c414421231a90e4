#!/usr/bin/env python3
"""The whole chain against the truth: a two-node Slurm job is profiled and merged, and its run file says exactly what the
puppet wrote in its own log - with NVTX and the profiler plugin, and with each alone.

What is a row depends on who speaks. Where NVTX does, each call of the user is one; where only the plugin does, AllToAll,
Gather and Scatter are the sends and receives that NCCL makes of them. Times are compared on the wall clock, which the
nodes of the local cluster share.
"""

import json
import shutil
import subprocess
import unittest
from collections import Counter, defaultdict

import run_tools as tools
from run_file import RunFile, h5py
from truth_log import DECOMPOSED, DTYPES, PER_RANK, REDOPS, TruthLog

tools.require_module("pandas")
tools.require("hdf5-tools", shutil.which("h5dump"), "there is no h5dump")
import pandas as pd  # noqa: E402

N_RANKS = 4
ALL_OPERATIONS = "allreduce,allgather,reducescatter,broadcast,reduce,alltoall,gather,scatter,sendrecv,group"
# Between the puppet's stamps and ours lie two conversions to the wall clock, each from pairs of stamps that were taken
# one after the other. Measured while others compiled: 2 us are enough, 0 are not.
CLOCK_TOLERANCE_NS = 200_000


def size_bytes(call):
    """In nccl-tests' convention."""
    return call["bytes"] * (call["n_ranks"] if call["function"] in PER_RANK else 1)


class ChainCase(tools.FolderCase):
    """One profiled job and its run file; the classes below say what the job speaks and test it."""

    api = ""
    exec_options = ()
    options = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.job = tools.srun(tools.EXEC, "-o", "prof/rank%r", *cls.exec_options, "--", tools.NCCL_PUPPET,
                             "--api", cls.api, "--log", "log.%r", *cls.options)
        cls.merged = tools.merge("prof")
        assert cls.job.status == 0 and cls.merged.status == 0, f"{cls.job}\n{cls.merged}"
        cls.truths = [TruthLog(f"log.{rank}") for rank in range(N_RANKS)]
        cls.run_file = RunFile("run.h5")
        cls.comms = cls.run_file.rows("comms")
        cls.rows = cls.run_file.rows("events/nccl")
        for index, row in enumerate(cls.rows):
            row["row"] = index
        cls.rows_of_rank = cls.split_by_rank(cls.rows)
        cls.instances = cls.run_file.rows("collectives")

    @classmethod
    def tearDownClass(cls):
        cls.run_file.close()
        super().tearDownClass()

    @classmethod
    def split_by_rank(cls, rows):
        offsets = cls.run_file.offsets("events/nccl/process_offset")
        return {rank: rows[begin:end] for rank, begin, end in zip(cls.run_file.ranks(), offsets, offsets[1:])}

    def calls_by_key(self, rank):
        """The rank's rows but for parts, by (communicator, function), in order of time."""
        calls = defaultdict(list)
        for row in self.rows_of_rank[rank]:
            if row["parent"] is None:
                calls[self.comms[row["comm"]]["hash"], row["coll"]].append(row)
        return calls

    def pairs(self):
        """(truth, row) of every call that is one row. Fails if the numbers of calls differ anywhere."""
        for truth in self.truths:
            expected, found = truth.calls_by_key(), self.calls_by_key(truth.rank)
            self.assertEqual({key: len(calls) for key, calls in found.items()},
                             {key: len(calls) for key, calls in expected.items()}, f"calls of rank {truth.rank}")
            for key, calls in expected.items():
                yield from zip(calls, found[key])

    def at(self, truth, raw_ns):
        """A stamp of the puppet's on the run's time axis."""
        return truth.realtime_ns(raw_ns) - self.run_file.epoch_unix_ns

    def assert_times_lie_in_the_call(self, pairs):
        for call, row in pairs:
            truth = self.truths[call["rank"]]
            begin = self.at(truth, call["before_raw_ns"]) - CLOCK_TOLERANCE_NS
            end = self.at(truth, call["after_raw_ns"]) + CLOCK_TOLERANCE_NS
            self.assertEqual(row["start_ns"], row["enqueue_ns"])
            self.assertLessEqual(begin, row["enqueue_ns"], f"{call}\n{row}")
            self.assertLessEqual(row["enqueue_ns"], row["end_api_ns"], f"{call}\n{row}")
            self.assertLessEqual(row["end_api_ns"], end, f"{call}\n{row}")

    def assert_groups_agree(self, pairs):
        """Numbers of groups are our own; that the same calls share one is not."""
        ours = {}
        for call, row in pairs:
            key = (call["rank"], call["group"])
            if call["group"] is None:
                self.assertIsNone(row["group"], f"{call}\n{row}")
            else:
                self.assertIsNotNone(row["group"], f"{call}\n{row}")
                self.assertEqual(ours.setdefault(key, row["group"]), row["group"], f"{call}\n{row}")
        self.assertEqual(len({(rank, group) for (rank, _), group in ours.items()}), len(ours))

    def assert_instances_are_whole(self, functions):
        """Each call of `functions` is one instance with all members of its communicator, in their order."""
        expected = Counter((call["comm"], call["function"]) for truth in self.truths for call in truth.calls
                           if call["function"] in functions and call["comm_rank"] == 0)
        found = Counter((self.comms[instance["comm"]]["hash"], instance["coll"]) for instance in self.instances)
        self.assertEqual(found, expected)
        for index, instance in enumerate(self.instances):
            comm = self.comms[instance["comm"]]
            members = [self.rows[row] for row in self.run_file.members(index)]
            self.assertEqual([row["comm_rank"] for row in members], list(range(comm["n_ranks"])))
            for row in members:
                for column in ("comm", "seq", "coll", "size_bytes"):
                    self.assertEqual(row[column], instance[column], column)
                self.assertEqual(row["instance"], index)
            enqueued = [row["enqueue_ns"] for row in members]
            self.assertEqual(instance["first_enqueue_ns"], min(enqueued))
            self.assertEqual(instance["last_enqueue_ns"], max(enqueued))
            self.assertEqual(members[instance["last_member"]]["enqueue_ns"], max(enqueued))
            self.assertEqual((instance["n_ranks"], instance["n_seen"]), (comm["n_ranks"], comm["n_ranks"]))


class EveryCall:
    """What holds however a job speaks; mixed into cases whose job does all operations."""

    def test_communicators_are_those_of_the_job(self):
        expected = {comm["comm"]: comm["n_ranks"] for truth in self.truths for comm in truth.comms.values()}
        self.assertEqual({comm["hash"]: comm["n_ranks"] for comm in self.comms}, expected)
        offsets = self.run_file.offsets("comms/member_offset")
        processes = self.run_file.file["comms/member_process"][:]
        ranks = self.run_file.ranks()
        for comm, begin, end in zip(self.comms, offsets, offsets[1:]):
            members = {truth.comms[comm["hash"]]["comm_rank"]: truth.rank for truth in self.truths
                       if comm["hash"] in truth.comms}
            self.assertEqual([ranks[process] for process in processes[begin:end]],
                             [members[comm_rank] for comm_rank in sorted(members)])

    def test_nothing_was_dropped_or_found_wanting(self):
        self.assertEqual(self.run_file.file.attrs["n_dropped"], 0)
        self.assertEqual([row for row in self.run_file.findings_about_tasks() if row["severity"] != "info"], [])
        self.assertTrue(all(truth.has_footer for truth in self.truths))

    def test_standard_error_has_two_lines(self):
        self.assertEqual(len(self.job.lines_of_jaxprof()), 2, str(self.job))

    def test_spread_counts_each_call_once_and_prints_no_bandwidth(self):
        answer = tools.study("spread", "run.h5", "--format", "json")
        self.assert_status(answer, tools.DONE)
        spread = json.loads(answer.out)
        expected = Counter((call["function"], call["n_ranks"], size_bytes(call)) for call, _ in self.pairs())
        functions = {function for function, _, _ in expected}
        found = Counter()
        for row in spread["rows"]:
            if row["op"] in functions:
                found[row["op"], row["ranks"], row["size_bytes"]] += row["count"]
            self.assertEqual((row["time"], row["algbw_gb_per_s"], row["busbw_gb_per_s"]), ("host", None, None))
        self.assertEqual(found, expected)
        self.assertTrue([note for note in spread["notes"] if "busbw are empty" in note], spread["notes"])
        self.assertIn("host time: enqueue, not transfer", tools.study("spread", "run.h5").out)

    def assert_sizes(self, call, row):
        self.assertEqual((row["bytes"], row["size_bytes"]), (call["bytes"], size_bytes(call)), f"{call}\n{row}")


class NvtxAndPlugin(EveryCall, ChainCase):
    api = "plugin,nvtx"
    exec_options = ("--step-marker", "step@puppet")
    options = ("--ops", ALL_OPERATIONS, "--sizes", "1K,64K,1M", "--comms", "2", "--iterations", "3")

    def test_each_call_is_one_row_with_all_that_the_two_tell(self):
        for call, row in self.pairs():
            self.assert_sizes(call, row)
            is_decomposed = call["function"] in DECOMPOSED
            self.assertEqual(row["src"], "nvtx" if is_decomposed else "nccl_plugin_and_nvtx", str(row))
            self.assertEqual(row["api"], "nccl" + ("AlltoAll" if call["function"] == "AllToAll" else call["function"]))
            self.assertEqual((row["root"], row["peer"], row["comm_rank"]),
                             (call["root"] if call["root"] != -1 else None, call["peer"] if call["peer"] != -1 else None,
                              call["comm_rank"]), f"{call}\n{row}")
            self.assertEqual(row["redop"], REDOPS.get(call["redop"]), f"{call}\n{row}")
            self.assertTrue(row["tid"], str(row))
            if not is_decomposed:
                self.assertEqual((row["count"], row["dtype"]), (call["count"], DTYPES[call["dtype"]]), str(row))
            if call["algorithm"] is not None:
                self.assertEqual((row["algo"], row["proto"], row["channels"], row["seq"]),
                                 (call["algorithm"].lower(), call["protocol"].lower(), call["n_channels"],
                                  call["sequence"]), f"{call}\n{row}")

    def test_calls_that_nccl_takes_apart_have_their_parts_as_children(self):
        children = defaultdict(list)
        for row in self.rows:
            if row["parent"] is not None:
                children[row["parent"]].append(row)
        n_parts = 0
        for call, row in self.pairs():
            parts = children[row["row"]]
            expected = self.truths[call["rank"]].parts(call) if call["function"] in DECOMPOSED else Counter()
            self.assertEqual(Counter((part["coll"], part["peer"]) for part in parts), expected, f"{call}\n{parts}")
            self.assertEqual({part["bytes"] for part in parts} - {call["bytes"]}, set(), f"{call}\n{parts}")
            n_parts += len(parts)
        self.assertEqual(n_parts, sum(len(parts) for parts in children.values()))
        self.assertGreater(n_parts, 0)

    def test_times_lie_between_the_puppets_own_stamps(self):
        self.assert_times_lie_in_the_call(self.pairs())

    def test_calls_of_one_group_share_its_number(self):
        self.assert_groups_agree(self.pairs())

    def test_each_instance_has_all_members(self):
        self.assert_instances_are_whole(("AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce") + DECOMPOSED)

    def test_steps_are_the_iterations_of_the_job(self):
        self.assertEqual(self.run_file.file.attrs["step_marker"], "step@puppet")
        ranges = self.run_file.rows_by_process("events/nvtx")
        for process, steps in enumerate(self.run_file.rows_by_process("steps")):
            truth = self.truths[self.run_file.ranks()[process]]
            self.assertEqual([row["step"] for row in steps], [line["iteration"] for line in truth.iterations])
            self.assertEqual([row["step"] for row in steps], [0, 1, 2])
            for row, line in zip(steps, truth.iterations):
                self.assertEqual((row["process"], row["source"]), (process, "payload"))
                calls = [call for call in truth.calls if call["iteration"] == line["iteration"]]
                self.assertGreater(len(calls), 0)
                start, end = row["start_ns"], row["start_ns"] + row["dur_ns"]
                self.assertLessEqual(self.at(truth, line["begin_raw_ns"]) - CLOCK_TOLERANCE_NS, start)
                self.assertLessEqual(start, self.at(truth, min(call["before_raw_ns"] for call in calls)) + CLOCK_TOLERANCE_NS)
                self.assertLessEqual(self.at(truth, max(call["after_raw_ns"] for call in calls)) - CLOCK_TOLERANCE_NS, end)
                self.assertLessEqual(end, self.at(truth, line["end_raw_ns"]) + CLOCK_TOLERANCE_NS)
            own = [(row["payload"], row["tid"], row["start_ns"], row["dur_ns"]) for row in ranges[process]
                   if row["domain"] == "puppet" and row["name"] == "step"]
            self.assertEqual([(row["step"], row["tid"], row["start_ns"], row["dur_ns"]) for row in steps], own)

    def test_the_summary_tells_of_the_steps(self):
        rows = {row["item"]: row for row in json.loads(tools.study("summary", "run.h5", "--format", "json").out)["rows"]
                if row["section"] == "steps"}
        self.assertEqual((rows["steps"]["value"], rows["steps"]["detail"]), (3, "numbers 0 to 2, by payload"))
        self.assertEqual((rows["ranks with steps"]["value"], rows["ranks with steps"]["detail"]), (4, "ranks 0-3"))
        durations = [row["dur_ns"] for row in self.run_file.rows("steps")]
        self.assertEqual((rows["duration, shortest"]["value"], rows["duration, longest"]["value"]),
                         (min(durations), max(durations)))

    def test_everybodys_tools_open_the_run_file(self):
        dump = subprocess.run(["h5dump", "run.h5"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((dump.returncode, dump.stderr), (0, b""))
        self.assertIn(b"ncclAllReduce", dump.stdout)
        with h5py.File("run.h5") as file:
            datasets = []
            file.visititems(lambda name, node: datasets.append(name) if isinstance(node, h5py.Dataset) else None)
            for name in datasets:
                self.assertEqual(len(file[name][()]), file[name].shape[0], name)
                self.assertTrue(file[name].attrs["long_name"], name)
            tables = [f"job/{name}" for name, node in file["job"].items() if isinstance(node, h5py.Dataset)]
            tables.append("diagnostics")
        self.assertGreater(len(datasets), 60)
        for table in tables:
            frame = pd.read_hdf("run.h5", table)
            self.assertEqual(len(frame), len(self.run_file.rows(table)), table)
        self.assertEqual(list(pd.read_hdf("run.h5", "job/tasks")["rank"]), [0, 1, 2, 3])


class PluginAlone(EveryCall, ChainCase):
    api = "plugin"
    options = ("--ops", ALL_OPERATIONS, "--sizes", "2K,128K", "--comms", "2", "--iterations", "2", "--dtype", "bfloat16",
               "--redop", "max")

    def pairs(self):
        """Of the collectives that NCCL runs as such."""
        for truth in self.truths:
            expected, found = truth.calls_by_key(), self.calls_by_key(truth.rank)
            for key, calls in expected.items():
                if key[1] in DECOMPOSED + ("Send", "Recv"):
                    continue
                self.assertEqual(len(found[key]), len(calls), f"rank {truth.rank}: {key}")
                yield from zip(calls, found[key])

    def test_each_collective_is_one_row_with_all_that_the_plugin_tells(self):
        for call, row in self.pairs():
            self.assert_sizes(call, row)
            self.assertEqual((row["src"], row["api"], row["redop"]), ("nccl_plugin", None, None), str(row))
            self.assertEqual((row["count"], row["dtype"], row["seq"]),
                             (call["count"], DTYPES[call["dtype"]], call["sequence"]), f"{call}\n{row}")
            self.assertEqual((row["algo"], row["proto"], row["channels"]),
                             (call["algorithm"].lower(), call["protocol"].lower(), call["n_channels"]), f"{call}\n{row}")
            if call["root"] != -1:
                self.assertEqual(row["root"], call["root"], f"{call}\n{row}")

    def test_without_nvtx_there_are_no_steps_and_this_is_said(self):
        self.assertEqual(self.run_file.rows("steps"), [])
        reason, = self.run_file.diagnostics("step.none")
        self.assertIn('no NVTX range "step" was begun in the default domain or in "jaxprof"', reason["text"])

    def test_the_rest_are_sends_and_receives(self):
        """Per rank, communicator, function, peer and size, those of the user and those that NCCL makes."""
        for truth in self.truths:
            expected = Counter()
            for call in truth.calls:
                if call["function"] in ("Send", "Recv"):
                    expected[call["comm"], call["function"], call["peer"], call["bytes"]] += 1
                elif call["function"] in DECOMPOSED:
                    for (function, peer), count in truth.parts(call).items():
                        expected[call["comm"], function, peer, call["bytes"]] += count
            found = Counter((self.comms[row["comm"]]["hash"], row["coll"], row["peer"], row["bytes"])
                            for row in self.rows_of_rank[truth.rank] if row["coll"] in ("Send", "Recv"))
            self.assertEqual(found, expected, f"rank {truth.rank}")
            self.assertEqual([row for row in self.rows_of_rank[truth.rank] if row["coll"] in DECOMPOSED], [])

    def test_times_lie_between_the_puppets_own_stamps(self):
        self.assert_times_lie_in_the_call(self.pairs())

    def test_calls_of_one_group_share_its_number(self):
        self.assert_groups_agree(self.pairs())

    def test_each_instance_has_all_members(self):
        self.assert_instances_are_whole(("AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce"))


class NvtxAlone(EveryCall, ChainCase):
    api = "nvtx"
    options = ("--ops", ALL_OPERATIONS, "--sizes", "4K,256K", "--comms", "2", "--iterations", "2", "--dtype", "int64",
               "--redop", "prod")

    def test_each_call_is_one_row_with_all_that_nvtx_tells(self):
        for call, row in self.pairs():
            self.assert_sizes(call, row)
            self.assertEqual(row["src"], "nvtx")
            self.assertEqual((row["root"], row["peer"], row["comm_rank"]),
                             (call["root"] if call["root"] != -1 else None, call["peer"] if call["peer"] != -1 else None,
                              call["comm_rank"]), f"{call}\n{row}")
            self.assertEqual(row["redop"], REDOPS.get(call["redop"]), f"{call}\n{row}")
            if call["function"] not in ("Send", "Recv"):
                self.assertEqual(row["seq"], call["n_call"])
            # NCCL's payloads do not tell these
            self.assertEqual((row["dtype"], row["algo"], row["proto"], row["channels"]), (None, None, None, None))

    def test_times_lie_between_the_puppets_own_stamps(self):
        self.assert_times_lie_in_the_call(self.pairs())

    def test_calls_of_one_group_share_its_number(self):
        self.assert_groups_agree(self.pairs())

    def test_each_instance_has_all_members(self):
        self.assert_instances_are_whole(("AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce") + DECOMPOSED)


class LateRank(ChainCase):
    """Rank 2 sleeps 100 ms before each call. What counts is what the puppet's stamps say came of it: on a busy machine
    others come late as well."""

    api = "plugin,nvtx"
    options = ("--ops", "allreduce", "--sizes", "1K", "--iterations", "12", "--late", "2:100")

    def test_is_last_in_every_instance_that_it_was_late_for(self):
        n_late = 0
        for instance in self.instances:
            calls = [next(call for call in truth.calls if call["sequence"] == instance["seq"]) for truth in self.truths]
            stamps = [truth.realtime_ns(call["before_raw_ns"]) for truth, call in zip(self.truths, calls)]
            others = [truth.realtime_ns(call["after_raw_ns"]) for truth, call in zip(self.truths, calls)
                      if truth.rank != 2]
            lateness_ns = stamps[2] - max(others)
            if lateness_ns < 30_000_000:
                continue  # another rank was late by itself
            n_late += 1
            self.assertEqual(instance["last_member"], 2)
            self.assertGreaterEqual(instance["last_enqueue_ns"] - instance["first_enqueue_ns"],
                                    lateness_ns - 2 * CLOCK_TOLERANCE_NS)
        self.assertEqual(len(self.instances), 12)
        self.assertGreaterEqual(n_late, 3, "the machine was too busy for a late rank")


if __name__ == "__main__":
    unittest.main()
