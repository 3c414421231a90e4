#!/usr/bin/env python3
"""NCCL of each profiler interface version under the real agent: every call with its number, its communicator and its
bytes. And all that NCCL and its surroundings have been seen to do to a plugin: the job does not notice, and its own calls
are told as if nothing else had happened. The truth is the log of nccl_puppet.
"""

import re
import unittest
from collections import Counter

import run_tools as tools
from run_file import RunFile
from truth_log import TruthLog, read_log

PUPPET = tools.BIN / "nccl_puppet"
HAZARDS = "foreign,null-context,strays,late,reload,fork"
N_RANKS = 2
FIRST_HAZARD = 1_000_000  # sequence numbers of what is called beside the job


class NcclVersions(tools.OwnFolderCase):
    def traced(self, name, *options):
        """(the job, its run file, the ranks' logs)."""
        job = tools.mpirun(tools.EXEC, "-o", f"{name}/rank%r", "--", PUPPET, *options, "--log", f"{name}.%r",
                           n_ranks=N_RANKS)
        self.assert_status(job, 0)
        self.assert_status(tools.merge(name, output=f"{name}.h5"), tools.DONE)
        run = RunFile(f"{name}.h5")
        self.addCleanup(run.close)
        return job, run, [TruthLog(f"{name}.{rank}") for rank in range(N_RANKS)]

    def assert_calls(self, run, logs):
        """Each process's numbered rows are the collectives of its rank's log."""
        hashes = [comm["hash"] for comm in run.rows("comms")]
        for log, rows in zip(logs, run.rows_by_process("events/nccl"), strict=True):
            told = Counter((row["coll"], hashes[row["comm"]], row["seq"], row["bytes"]) for row in rows
                           if row["seq"] is not None and row["seq"] < FIRST_HAZARD and row["comm"] is not None
                           and row["coll"] not in ("Send", "Recv"))
            called = Counter((call["function"], call["comm"], call["sequence"], call["bytes"]) for call in log.calls
                             if call["sequence"] is not None)
            self.assertEqual(told, called)

    def check_version(self, version):
        name = f"v{version}"
        _, run, logs = self.traced(name, "--api", version, "--ops", "allreduce,allgather,reduce", "--sizes", "1K,64K",
                                   "--iterations", 2)
        self.assertIn(f"version {version} from", logs[0].plugin[0])
        self.assert_calls(run, logs)
        self.assertEqual({(row["n_seen"], row["n_ranks"]) for row in run.rows("collectives")}, {(N_RANKS, N_RANKS)})
        self.assertEqual(len(run.rows("collectives")), 2 * 2 * 3)

    def assert_one_row_a_call(self, run, logs):
        """Rows of both sources, one a call, each with what only the one or only the other tells; Send and Recv too."""
        for log, rows in zip(logs, run.rows_by_process("events/nccl"), strict=True):
            self.assertEqual({row["src"] for row in rows}, {"nccl_plugin_and_nvtx"})
            self.assertEqual(Counter((row["coll"], row["bytes"], row["peer"]) for row in rows),
                             Counter((call["function"], call["bytes"], call["peer"] if call["sequence"] is None else None)
                                     for call in log.calls))
            for row in rows:
                self.assertEqual(row["api"], f"nccl{row['coll']}")
                if row["coll"] == "AllReduce":
                    self.assertEqual((row["redop"], row["algo"] is None, row["group"] is None), ("sum", False, False))

    def test_calls_of_a_group_are_one_row_each(self):
        for version in (1, 2, 3, 4, 5):
            with self.subTest(version=version):
                _, run, logs = self.traced(f"g{version}", "--api", version, "--ops", "group,sendrecv", "--sizes",
                                           "1K,64K", "--iterations", 2)
                self.assert_one_row_a_call(run, logs)
                self.assert_calls(run, logs)

    def test_every_version(self):
        for version in range(1, 8):
            with self.subTest(version=version):
                self.check_version(version)

    def test_hazards_change_neither_the_job_nor_its_calls(self):
        words = ("--ops", "allreduce", "--sizes", "1K", "--iterations", 4, "--comms", 1)
        plain = tools.mpirun(PUPPET, *words, n_ranks=N_RANKS)
        for version in (1, 4, 5, 7):
            with self.subTest(version=version):
                name = f"h{version}"
                job, run, logs = self.traced(name, "--api", version, *words, "--hazard", HAZARDS)
                self.assertEqual(job.out, plain.out)
                hazards = {line["name"] for line in read_log(f"{name}.0") if line["what"] == "hazard"}
                self.assertEqual(hazards, set(HAZARDS.split(",")))
                self.assert_calls_beside_a_reload(run, logs)

    def recorded_and_dropped(self, *options):
        """By the job's last line."""
        job = tools.mpirun(tools.EXEC, "-o", f"{len(options)}/rank%r", "--", PUPPET, "--iterations", 1, "--sizes", "1K",
                           *options, n_ranks=1)
        self.assert_status(job, 0)
        found = re.search(r"written, ([\d\s]+) events?, ([\d\s]+) dropped", job.err)
        self.assertIsNotNone(found, job)
        return [int(re.sub(r"\s", "", number)) for number in found.groups()]

    def test_a_million_events_as_fast_as_they_come_are_recorded_or_counted(self):
        quiet = sum(self.recorded_and_dropped())
        recorded, dropped = self.recorded_and_dropped("--hazard", "flood")
        self.assertEqual(recorded + dropped - quiet, 2 * 1_000_000, "a start and a stop each")
        self.assertGreater(recorded, 100_000)

    def assert_calls_beside_a_reload(self, run, logs):
        """The communicator that the reload makes is in the log, its one call is no call of the job."""
        hashes = [comm["hash"] for comm in run.rows("comms")]
        for log, rows in zip(logs, run.rows_by_process("events/nccl"), strict=True):
            jobs = {call["comm"] for call in log.calls}
            told = {(hashes[row["comm"]], row["seq"]) for row in rows
                    if row["comm"] is not None and hashes[row["comm"]] in jobs and row["seq"] is not None}
            called = {(call["comm"], call["sequence"]) for call in log.calls if call["sequence"] is not None}
            self.assertLessEqual(called, told)
            self.assertEqual({key for key in told - called if key[1] < FIRST_HAZARD}, set())


if __name__ == "__main__":
    unittest.main()
