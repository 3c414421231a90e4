"""Runs with known truth and known faults, merged: what the run file says against what synthetic_run wrote.

Of each fault two things matter: that the file holds what is there, no more and no less, and that what is wrong is said.
Nothing may be shifted to make calls fit.
"""

import json
import unittest
from pathlib import Path
from random import Random

import run_tools
from run_file import RunFile  # before h5py: it skips where that is missing
from run_tools import BIN, DONE, PARTIAL, FolderCase

import h5py
import numpy as np

N_RANKS, N_NODES = 8, 2
USUAL = ("--processes", N_RANKS, "--nodes", N_NODES, "--kernels", 4000, "--nccl", 1600, "--nvtx", 800, "--api", "--steps", 5)
PARTIAL_FLAG, MISMATCH_FLAG = 1, 4
# Members of a call come within this if none is late, and a clock's model may be off by the rest.
JITTER_NS, ROUNDING_NS = 20_000, 50


class SyntheticRun:
    """A run, its truth, and the columns that the tests look at."""

    def __init__(self, name, faults=(), options=USUAL):
        words = [word for fault in faults for word in ("--fault", fault)]
        self.generated = run_tools.run(BIN / "synthetic_run", name, *options, *words)
        assert self.generated.status == DONE, self.generated
        self.truth = json.loads(self.generated.out)
        self.merged = run_tools.merge(name, "-f", output=f"{name}.h5")
        self.file = RunFile(f"{name}.h5")
        tables = self.file.file
        self.nccl = {column: tables[f"events/nccl/{column}"][:] for column in
                     ("comm", "comm_rank", "coll", "seq", "gpu_start_ns", "instance", "path", "timing")}
        ranks = np.array(self.file.ranks())
        rows_of_processes = np.diff(tables["events/nccl/process_offset"][:])
        self.nccl["rank"] = np.repeat(ranks, rows_of_processes.astype(int))
        self.instances = {column: tables[f"collectives/{column}"][:] for column in
                          ("comm", "seq", "coll", "flags", "n_ranks", "n_seen", "first_start_ns", "last_start_ns",
                           "last_arrival")}
        self.hashes = tables["comms/hash"][:]
        self.member_row = tables["collectives/event_row"][:]
        self.member_instance = np.repeat(np.arange(len(self.instances["seq"])), np.diff(tables["collectives/member_offset"][:]).astype(int))

    def with_flag(self, flag):
        return np.flatnonzero(self.instances["flags"] & flag)

    def instance_of(self, call):
        """The one of a call as the truth names it."""
        words = words_of(self.file.file["collectives/coll"])
        at = np.flatnonzero((self.hashes[self.instances["comm"]] == call["comm_hash"]) &
                            (self.instances["seq"] == call["seq"]) & (self.instances["coll"] == words[call["coll"]]))
        assert len(at) == 1, f"{call} is {len(at)} instances"
        return int(at[0])

    def ranks_in(self, instance):
        return sorted(self.nccl["rank"][self.member_row[self.member_instance == instance]].tolist())

    def last_ranks(self):
        """How often each rank came last."""
        member_is_last = (self.nccl["comm_rank"][self.member_row] == self.instances["last_arrival"][self.member_instance])
        return np.bincount(self.nccl["rank"][self.member_row[member_is_last]], minlength=N_RANKS).tolist()

    def lateness_ns(self):
        """Of each rank, the mean over its collectives of how long after the first member it came."""
        late = self.nccl["gpu_start_ns"][self.member_row] - self.instances["first_start_ns"][self.member_instance]
        ranks = self.nccl["rank"][self.member_row]
        return [float(late[ranks == rank].mean()) if (ranks == rank).any() else None for rank in range(N_RANKS)]

    def warnings_about(self, rank):
        return [row for row in self.file.rows("diagnostics") if row["rank"] == rank and row["severity"] != "info"]


def words_of(column):
    """The values of a column's words."""
    return h5py.check_enum_dtype(column.dtype)


class SyntheticTest(FolderCase):
    def setUp(self):
        self.name = self._testMethodName

    def run_with(self, *faults, options=USUAL):
        run = SyntheticRun(self.name, faults, options)
        self.addCleanup(run.file.close)
        return run

    def assert_holds_the_run(self, run, status, path="external"):
        """Everything that was recorded, once, instances of the right members, and kernels found by `path`."""
        self.assert_status(run.merged, status)
        truth, tables = run.truth, run.file.file
        rows = {table: int(tables[path].attrs["n_rows"]) for table, path in
                (("kernels", "events/kernels"), ("api", "events/api"), ("nvtx", "events/nvtx"), ("nccl", "events/nccl"),
                 ("nccl_work", "nccl_work"), ("steps", "steps"), ("collectives", "collectives"))}
        rows["members"] = len(run.member_row)
        self.assertEqual(rows, truth["rows"])
        processes = run.file.rows("job/processes")
        self.assertEqual(len(processes), truth["processes"])
        self.assertEqual(sum(process["n_events"] for process in processes), truth["events"])
        self.assertEqual(sum(process["n_dropped"] for process in processes), truth["dropped"])
        self.assertEqual(len(run.with_flag(PARTIAL_FLAG)), truth["partial"])
        self.assertEqual(len(run.with_flag(MISMATCH_FLAG)), truth["mismatched"])
        words = words_of(tables["events/nccl/path"])
        self.assertEqual(set(run.nccl["path"].tolist()), {words[path]})

    def assert_arrivals(self, run, tolerance_ns=ROUNDING_NS):
        truth = {rank["rank"]: rank for rank in run.truth["ranks"]}
        for rank, late_ns in enumerate(run.lateness_ns()):
            if late_ns is not None:
                self.assertAlmostEqual(late_ns, truth[rank]["lateness_mean_ns"], delta=tolerance_ns, msg=f"rank {rank}")
        self.assertEqual(run.last_ranks(), [truth.get(rank, {}).get("came_last", 0) for rank in range(N_RANKS)])

    def assert_nothing_shifted(self, run):
        """Members of an instance are those of one call: no member came a call earlier or later."""
        spread = run.instances["last_start_ns"] - run.instances["first_start_ns"]
        self.assertLessEqual(int(spread.max()), JITTER_NS + ROUNDING_NS)

    # ---- sound

    def test_a_sound_run_is_found_as_it_was(self):
        run = self.run_with()
        self.assert_holds_the_run(run, DONE)
        self.assert_arrivals(run)
        self.assert_nothing_shifted(run)
        self.assertEqual(run.truth["partial"] + run.truth["mismatched"], 0)
        self.assertGreater(run.truth["rows"]["collectives"], 100)
        self.assertEqual([row for row in run.file.rows("diagnostics") if row["severity"] != "info"], [])

    def test_the_plugin_alone_tells_the_same_instances(self):
        run = self.run_with("late:5:300", options=(*USUAL, "--nccl-by", "plugin"))
        self.assert_holds_the_run(run, DONE)
        self.assert_arrivals(run)

    def test_ranges_alone_tell_the_same_instances(self):
        run = self.run_with("late:5:300", "lose:2", options=(*USUAL, "--nccl-by", "nvtx"))
        self.assert_holds_the_run(run, DONE, path="scope")
        self.assert_arrivals(run)
        (call,) = run.truth["missing_calls"]
        self.assertEqual(run.with_flag(PARTIAL_FLAG).tolist(), [run.instance_of(call)])

    def test_the_same_options_give_the_same_bytes(self):
        for name, n_threads in ((f"{self.name}.1", 1), (f"{self.name}.2", 3)):
            self.assert_status(run_tools.run(BIN / "synthetic_run", name, *USUAL, "--threads", n_threads), DONE)
        for rank in range(N_RANKS):
            one, other = (Path(f"{self.name}.{n}/rank{rank}.jxspool").read_bytes() for n in (1, 2))
            self.assertTrue(one == other, f"rank {rank} differs")

    # ---- faults

    def test_a_late_rank_is_last_by_as_much_as_it_was(self):
        run = self.run_with("late:5:300")
        self.assert_holds_the_run(run, DONE)
        self.assert_arrivals(run)
        self.assertGreater(run.lateness_ns()[5], 300_000)

    def test_a_late_rank_is_last_by_clocks_that_were_compared(self):
        run = self.run_with("late:5:300", options=(*USUAL, "--clocks"))
        self.assert_holds_the_run(run, DONE)
        bound_ns = float(np.nanmax(run.file.file["collectives/clock_bound_ns"][:]))
        self.assertLess(bound_ns, 100_000)
        late_ns = run.lateness_ns()[5]
        self.assertGreater(late_ns, 300_000 - bound_ns)
        self.assertLess(late_ns, 300_000 + JITTER_NS + bound_ns)
        of_its_own = run.truth["ranks"][5]["collectives"]
        self.assertEqual(run.last_ranks()[5], of_its_own)

    def test_a_missing_rank_is_named_and_its_instances_are_partial(self):
        run = self.run_with("missing:3")
        self.assert_holds_the_run(run, PARTIAL)
        self.assert_arrivals(run)
        self.assert_nothing_shifted(run)
        self.assertEqual([row["rank"] for row in run.file.diagnostics("rank.missing")], [3])

    def test_a_torn_spool_counts_to_its_last_whole_block(self):
        run = self.run_with("torn:2")
        self.assert_holds_the_run(run, PARTIAL)
        self.assert_arrivals(run)
        self.assert_nothing_shifted(run)
        self.assertTrue(run.warnings_about(2))
        self.assertIn(2, [row["rank"] for row in run.file.diagnostics("spool.cut") + run.file.diagnostics("spool.torn")])

    def test_a_copied_spool_counts_once(self):
        run = self.run_with("duplicate:1")
        self.assert_holds_the_run(run, DONE)
        self.assert_arrivals(run)
        self.assertEqual(len(run.file.diagnostics("spool.duplicate")), 1)

    def test_two_swapped_calls_are_a_mismatch_where_they_are(self):
        run = self.run_with("swap:4")
        self.assert_holds_the_run(run, DONE)
        self.assert_arrivals(run)
        self.assert_nothing_shifted(run)
        moved = sorted(run.instance_of(call) for call in run.truth["moved_calls"])
        self.assertEqual(moved, run.with_flag(MISMATCH_FLAG).tolist())
        self.assertEqual(len(moved), 2)
        self.assertEqual(sum(row["count"] for row in run.file.diagnostics("collective.mismatch")), 2)

    def test_a_lost_call_leaves_its_place_empty(self):
        run = self.run_with("lose:6")
        self.assert_holds_the_run(run, DONE)
        self.assert_arrivals(run)
        self.assert_nothing_shifted(run)
        (call,) = run.truth["missing_calls"]
        self.assertEqual(run.with_flag(PARTIAL_FLAG).tolist(), [run.instance_of(call)])
        self.assertNotIn(6, run.ranks_in(run.instance_of(call)))
        self.assertEqual([row["rank"] for row in run.file.diagnostics("drop.ring-full")], [6])

    def test_a_call_that_was_never_made_is_missing_at_the_end(self):
        run = self.run_with("skip:7")
        self.assert_holds_the_run(run, DONE)
        self.assert_arrivals(run)
        (call,) = run.truth["missing_calls"]
        self.assertEqual(run.with_flag(PARTIAL_FLAG).tolist(), [run.instance_of(call)])
        self.assertNotIn(7, run.ranks_in(run.instance_of(call)))
        self.assertGreater(run.truth["mismatched"], 0)

    def test_a_rank_that_is_recorded_a_step_later_is_not_moved_to_fit(self):
        run = self.run_with("late-step:2")
        self.assert_holds_the_run(run, DONE)
        self.assert_arrivals(run)
        self.assert_nothing_shifted(run)
        self.assertGreater(run.truth["partial"], 0)
        self.assertIn(2, [row["rank"] for row in run.file.diagnostics("step.range") + run.file.diagnostics("step.missing")])

    def test_several_faults_at_once_are_kept_apart(self):
        for seed in range(1, 7):
            random = Random(seed)
            kinds = [f"late:%d:{random.randint(1, 2000)}", "missing:%d", "torn:%d", "duplicate:%d", "swap:%d", "skip:%d",
                     "lose:%d", "late-step:%d"]
            faults = [random.choice(kinds) % rank for rank in random.sample(range(N_RANKS), random.randint(2, 5))]
            options = ("--processes", N_RANKS, "--nodes", random.choice((1, 2, 4, 8)), "--kernels", random.randint(0, 3000),
                       "--nccl", random.randint(400, 3000), "--nvtx", random.randint(80, 900), "--seed", seed)
            self.name = f"{self._testMethodName}.{seed}"
            with self.subTest(seed=seed, faults=faults):
                run = self.run_with(*faults, options=options)
                is_partial = any(fault.startswith(("missing", "torn")) for fault in faults)
                self.assert_holds_the_run(run, PARTIAL if is_partial else DONE)
                self.assert_arrivals(run)

    def test_two_calls_of_different_functions_in_the_other_order_keep_their_numbers(self):
        run = self.run_with("reorder:4")
        self.assert_holds_the_run(run, DONE)
        for call in run.truth["moved_calls"]:
            self.assertIn(4, run.ranks_in(run.instance_of(call)))

    # Each has the number of its function, so that they look like two late calls.
    def test_two_calls_of_different_functions_in_the_other_order_are_told(self):
        run = self.run_with("reorder:4")
        self.assertTrue(run.warnings_about(4))


if __name__ == "__main__":
    unittest.main()
