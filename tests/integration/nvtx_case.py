"""A profile of nvtx_puppet, and the puppet's own account of what it emitted, in one shape with what a run file has."""

import json
from collections import Counter

import run_tools as tools
from run_file import RunFile

# Kinds of the puppet's account that open a range, by the kind of the rows that they make.
OPENING = {"push": "push_pop", "push_payload": "push_pop", "start": "start_end", "start_payload": "start_end",
           "mark": "mark", "mark_payload": "mark"}
# What ends a range: pops on the thread of the push, ends on any.
CLOSING = {"pop": "push_pop", "pop_payload": "push_pop", "end": "start_end", "end_payload": "start_end"}


def account(path="truth.json"):
    """The puppet's images in order, each a dictionary (nvtx_puppet.cpp)."""
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def counts(image, kinds):
    """(domain, thread, kind of row): number of calls."""
    result = Counter()
    for entry in image["counts"]:
        if entry["kind"] in kinds:
            result[entry["domain"], entry["tid"], kinds[entry["kind"]]] += entry["count"]
    return result


class NvtxCase(tools.OwnFolderCase):
    def profile(self, *options, status=0, merge_status=tools.DONE, exec_options=()):
        """Runs the puppet and merges; the puppet's account lies in truth.json."""
        self.job = tools.run(tools.EXEC, "-o", "prof/rank", *exec_options, "--", tools.NVTX_PUPPET, "--out", "truth.json", *options)
        self.assert_status(self.job, status)
        self.merged = tools.merge("prof")
        self.assert_status(self.merged, merge_status)
        run = RunFile("run.h5")
        self.addCleanup(run.close)
        return run

    def counted(self, rows):
        return Counter((row["domain"] or "", row["tid"], row["kind"]) for row in rows)

    def drops(self, run):
        """Cause: count, of the run file; the sum is told in both other places too."""
        drops = {row["code"][len("drop."):]: row["count"] for row in run.rows("diagnostics")
                 if row["code"].startswith("drop.")}
        total = sum(drops.values())
        self.assertEqual(run.file.attrs["n_dropped"], total)
        self.assertEqual(sum(process["n_dropped"] for process in run.rows("job/processes")), total)
        self.assertIn(f"{total} dropped", self.merged.out)
        self.assertIn(f"{total:,} dropped".replace(",", " "), self.job.err)
        return drops
