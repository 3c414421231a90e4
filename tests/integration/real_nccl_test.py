#!/usr/bin/env python3
"""The real libnccl under the profiler: its own NVTX ranges, decoded by the schemas that it registers itself, against
what slurm/examples/nccl_calls.py says it called. No GPU: see there how that can be. And the puppet against the real
library: what both tell NVTX must be the same, or the tests that use the puppet would be about a NCCL of our own.
"""

import json
import os
import unittest
from collections import Counter, defaultdict

import run_tools as tools
from real_programs import EXAMPLES, nccl_library
from run_file import RunFile
from truth_log import PER_RANK, read_log

LIBRARY = nccl_library()
RECORDER = os.path.join(os.environ["JAXPROF_LIB"], "libnvtx_recorder.so")
N_RANKS = 4
ITERATIONS = 2
PYTHON = "/usr/bin/python3"
JOB = (PYTHON, "-B", EXAMPLES / "nccl_calls.py", "--library", LIBRARY)
INVALID_ARGUMENT = 4
ALL_FUNCTIONS = {"ncclAllReduce", "ncclReduceScatter", "ncclReduce", "ncclBroadcast", "ncclAllGather", "ncclAlltoAll",
                 "ncclGather", "ncclScatter", "ncclSend", "ncclRecv"}


def operation_of(function):
    name = function.removeprefix("nccl")
    return "AllToAll" if name == "AlltoAll" else name


class FourRanks(tools.FolderCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.job = tools.srun(tools.EXEC, "-o", "prof/rank%r", "--", *JOB, "--iterations", ITERATIONS)
        cls.merged = tools.merge("prof")
        assert cls.job.status == 0 and cls.merged.status == 0, f"{cls.job}\n{cls.merged}"
        lines = [json.loads(line) for line in cls.job.out.splitlines()]
        cls.starts = [line for line in lines if line["what"] == "nccl"]
        cls.calls = defaultdict(list)
        for line in lines:
            if line["what"] == "call":
                cls.calls[line["rank"]].append(line)
        cls.run_file = RunFile("run.h5")
        cls.comms = cls.run_file.rows("comms")
        cls.rows = dict(zip(cls.run_file.ranks(), cls.run_file.rows_by_process("events/nccl")))

    @classmethod
    def tearDownClass(cls):
        cls.run_file.close()
        super().tearDownClass()

    def pairs(self):
        """(what the program called, row) in the order of the calls."""
        for rank in range(N_RANKS):
            rows = sorted(self.rows[rank], key=lambda row: row["start_ns"])
            self.assertEqual(len(rows), len(self.calls[rank]), f"rank {rank}")
            yield from zip(self.calls[rank], rows)

    def test_the_program_called_all_that_there_is(self):
        self.assertEqual(sorted(start["rank"] for start in self.starts), list(range(N_RANKS)))
        self.assertEqual({start["status"] for start in self.starts}, {0})
        for calls in self.calls.values():
            self.assertEqual({call["function"] for call in calls}, ALL_FUNCTIONS)
            self.assertEqual({call["reduction"] for call in calls}, {"sum", "prod", "max", "min", "avg", None})
            self.assertEqual({call["status"] for call in calls}, {INVALID_ARGUMENT})
            self.assertEqual(len(calls), ITERATIONS * (2 * (3 * 5 + 7) + 4))

    def test_every_argument_that_nccl_tells_is_in_the_run_file(self):
        for call, row in self.pairs():
            self.assertEqual(
                (row["api"], row["coll"], row["bytes"], row["redop"], row["root"], row["peer"], row["src"]),
                (call["function"], operation_of(call["function"]), call["bytes"], call["reduction"], call["root"],
                 call["peer"], "nvtx"), f"{call}\n{row}")
            # NVTX tells neither the data type nor how many ranks a communicator has
            self.assertEqual((row["dtype"], row["count"]), (None, None))
            is_known = operation_of(call["function"]) not in PER_RANK
            self.assertEqual(row["size_bytes"], call["bytes"] if is_known else None, str(row))

    def test_communicators_are_told_apart(self):
        identifiers = {call["comm"] for calls in self.calls.values() for call in calls}
        self.assertEqual(len(identifiers), 3)  # of all ranks, and of each pair
        self.assertEqual({comm["hash"] for comm in self.comms}, identifiers)
        for call, row in self.pairs():
            self.assertEqual(self.comms[row["comm"]]["hash"], call["comm"], f"{call}\n{row}")

    def test_calls_of_one_group_share_its_number(self):
        groups = defaultdict(set)
        for call, row in self.pairs():
            if call["group"] is None:
                self.assertIsNone(row["group"], str(row))
            else:
                groups[call["rank"], call["group"]].add(row["group"])
        self.assertEqual(len(groups), N_RANKS * ITERATIONS)
        for numbers in groups.values():
            self.assertEqual(len(numbers - {None}), 1, groups)

    def test_collectives_are_matched_over_the_ranks_that_made_them(self):
        expected = Counter((call["comm"], operation_of(call["function"])) for calls in self.calls.values() for call in calls
                           if call["peer"] is None)
        found = Counter()
        for instance in self.run_file.rows("collectives"):
            found[self.comms[instance["comm"]]["hash"], instance["coll"]] += instance["n_seen"]
        self.assertEqual(found, expected)

    def test_nothing_was_lost(self):
        self.assertEqual(self.run_file.file.attrs["n_dropped"], 0)
        # NVTX tells no communicator's size here, and the job marks no steps; whether the clocks of the nodes decide who
        # came last is the moment's.
        codes = {row["code"] for row in self.run_file.findings_about_tasks()}
        self.assertEqual(codes - {"collective.unresolved"}, {"comm.size-unknown", "step.none", "transfer.unnumbered"})


class PuppetAgainstNccl(tools.FolderCase):
    """Both in front of the recorder, which writes down what it is told."""

    def recorded(self, name, *command):
        job = tools.run(*command, env=tools.environment(NVTX_INJECTION64_PATH=RECORDER, NVTX_RECORDER_FILE=name))
        self.assert_status(job, 0)
        lines = read_log(name)
        nccl, = (line["handle"] for line in lines if line["what"] == "domain" and line["name"] == "NCCL")
        return [line for line in lines if line.get("domain") == nccl]

    def schemas(self, lines):
        return {line["id"]: {key: value for key, value in line.items() if key not in ("t_ns", "pid", "tid", "domain", "id")}
                for line in lines if line["what"] in ("schema", "enum")}

    def ranges(self, lines):
        """Function: schema and attributes of its ranges, but for what the payload holds."""
        names = {line["handle"]: line["text"] for line in lines if line["what"] == "string"}
        left_out = ("t_ns", "pid", "tid", "domain", "message", "bytes0", "payload")
        return {names[line["message"]]: {key: value for key, value in line.items() if key not in left_out}
                for line in lines if line["what"] == "push"}

    def test_what_both_tell_nvtx_is_the_same(self):
        nccl = self.recorded("nccl", *JOB, "--iterations", "1")
        puppet = self.recorded("puppet", tools.NCCL_PUPPET, "--api", "nvtx", "--iterations", "1", "--sizes", "1K", "--ops",
                               "allreduce,allgather,reducescatter,broadcast,reduce,alltoall,gather,scatter,sendrecv")
        real, ours = self.schemas(nccl), self.schemas(puppet)
        self.assertEqual(len(real), len(ALL_FUNCTIONS) + 1)  # and the names of the reductions
        self.assertEqual({number: ours.get(number) for number in real}, real)
        real, ours = self.ranges(nccl), self.ranges(puppet)
        self.assertEqual(real.keys() - {"ncclGroupStart", "ncclGroupEnd"}, ALL_FUNCTIONS)
        self.assertEqual({name: ours.get(name) for name in real}, real)


if __name__ == "__main__":
    unittest.main()
