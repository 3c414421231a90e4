#!/usr/bin/env python3
"""Processes that drive several GPUs each: members of one communicator, their calls and their GPUs stay apart, within a
process and between processes. The truth is the log of members_puppet.
"""

import unittest
from collections import Counter

import run_tools as tools
from run_file import RunFile
from truth_log import TruthLog

PUPPET = tools.BIN / "members_puppet"
N_MEMBERS, N_CALLS = 8, 5


class Members(tools.OwnFolderCase):
    def run_file_of(self, way, n_processes, *before):
        job = tools.mpirun(tools.EXEC, "-o", "prof/rank%r", "--", *before, PUPPET, N_MEMBERS, N_CALLS, way, "log.%p",
                           n_ranks=n_processes)
        self.assert_status(job, 0)
        self.assert_status(tools.merge("prof"), tools.DONE)
        return RunFile("run.h5")

    def assert_process_is_told_apart(self, run, process):
        """Of one process: each call has the member that made it, with its GPU, as the log says."""
        log = TruthLog(f"log.{run.rows('job/processes')[process]['pid']}")
        hashes = [comm["hash"] for comm in run.rows("comms")]
        devices = run.rows("job/devices")
        rows = run.rows_by_process("events/nccl")[process]
        for row in rows:
            self.assertEqual(devices[row["device"]]["process"], process)
        # The puppet's member I is on GPU I.
        self.assertEqual(Counter((hashes[row["comm"]], row["comm_rank"], devices[row["device"]]["ordinal"], row["seq"],
                                  row["bytes"]) for row in rows),
                         Counter((call["comm"], call["comm_rank"], call["comm_rank"], call["sequence"], call["bytes"])
                                 for call in log.calls))
        self.assertEqual(len(rows), N_MEMBERS * N_CALLS)

    def assert_members(self, run, n_processes):
        self.assertEqual([(row["n_ranks"], row["n_nodes"]) for row in run.rows("comms")], [(N_MEMBERS, 1)] * n_processes)
        members = zip(*(run.file[f"comms/member_{name}"][:].tolist() for name in ("process", "comm_rank", "device")))
        devices = run.rows("job/devices")
        self.assertEqual({(process, rank, devices[device]["process"], devices[device]["ordinal"])
                          for process, rank, device in members},
                         {(process, rank, process, rank) for process in range(n_processes)
                          for rank in range(N_MEMBERS)})
        self.assertEqual(len(devices), n_processes * N_MEMBERS)
        self.assertEqual([(row["n_seen"], row["n_ranks"]) for row in run.rows("collectives")],
                         [(N_MEMBERS, N_MEMBERS)] * N_CALLS * n_processes)
        self.assertEqual([row["code"] for row in run.findings_about_tasks()], ["step.none"])  # it marks no steps

    def check(self, way, n_processes):
        with self.run_file_of(way, n_processes) as run:
            self.assertEqual(run.ranks(), list(range(n_processes)))
            self.assert_members(run, n_processes)
            for process in range(n_processes):
                self.assert_process_is_told_apart(run, process)
            return [row["tid"] for row in run.rows("events/nccl")]

    def test_a_thread_a_member(self):
        self.assertEqual(len(set(self.check("threads", 1))), N_MEMBERS)

    def test_all_members_in_one_group(self):
        self.assertEqual(len(set(self.check("group", 1))), 1)

    def assert_numbered_by_nvtx(self, way):
        """Without NCCL's plugin nothing tells which member calls, and one count runs over all of them. Each call still
        has its number, and each collective its members."""
        with self.run_file_of(way, 1, "env", "NCCL_PROFILER_PLUGIN=none") as run:
            log = TruthLog(f"log.{run.rows('job/processes')[0]['pid']}")
            rows = run.rows("events/nccl")
            self.assertEqual({(row["src"], row["comm_rank"]) for row in rows}, {("nvtx", None)})
            self.assertEqual(Counter((row["tid"], row["seq"], row["bytes"]) for row in rows),
                             Counter((call["tid"], call["n_call"], call["bytes"]) for call in log.calls))
            self.assertEqual([(row["n_seen"], row["n_ranks"]) for row in run.rows("collectives")],
                             [(N_MEMBERS, N_MEMBERS)] * N_CALLS)

    def test_a_thread_a_member_by_nvtx_alone(self):
        self.assert_numbered_by_nvtx("threads")

    def test_all_members_in_one_group_by_nvtx_alone(self):
        self.assert_numbered_by_nvtx("group")

    def test_two_processes_with_eight_members_each(self):
        self.check("threads", 2)


if __name__ == "__main__":
    unittest.main()
