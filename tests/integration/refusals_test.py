#!/usr/bin/env python3
"""What is wrong on all ranks alike is refused by all of them, once and before the job; what may be wrong on any of 64 is
found by one `--check` and told in one table.
"""

import unittest
from pathlib import Path

import run_tools as tools

MANY = ("-N2", "-n64", "--overcommit")
# Five ranks of 64 with something to tell, each with another cause.
PREPARE = """
case $SLURM_PROCID in
5) export NVTX_INJECTION64_PATH=/opt/other/libnvtx.so ;;
9) export CUDA_INJECTION64_PATH=/opt/other/libcuda.so ;;
20) export JAXPROF_AGENT=/nowhere/libagent.so ;;
33) export JAXPROF_TMPDIR=/nowhere/tmp ;;
esac
[ "$SLURM_PROCID" = 3 ] || export X=here
exec "$@"
"""


class Refusals(tools.OwnFolderCase):
    def test_per_rank_macro_in_the_directory_is_refused_by_all_with_one_line(self):
        for macro in ("%r", "%h", "%q{SLURM_PROCID}"):
            job = tools.srun(tools.EXEC, "-o", f"prof.{macro}/rank", "--", "touch", "ran", options=MANY)
            self.assert_status(job, tools.REFUSED)
            self.assertEqual(len(job.lines_of_jaxprof()), 1, str(job))
            self.assertIn("must be the same on all", job.err)
            self.assertRegex(job.err, r"tasks? 0-31: Exited with exit code 125")
            self.assertRegex(job.err, r"tasks? 32-63: Exited with exit code 125")
            self.assertEqual(list(Path().iterdir()), [])

    def test_check_of_64_ranks_lists_all_faults_in_one_table(self):
        Path("taken").mkdir()
        Path("taken/rank7.here.jxspool").write_text("mine")
        check = tools.srun("sh", "-c", PREPARE, "sh", tools.EXEC, "--check", "-o", "taken/rank%r.%q{X}", "--", "true",
                           options=MANY)
        self.assert_status(check, tools.NOT_READY)
        table = check.out.splitlines()
        self.assertEqual(check.lines_of_jaxprof(), [], str(check))
        self.assertEqual(table[0], "jaxprof check: 60 of 64 ranks ready, output taken/")
        found = {(row.split()[0], row.split()[1]): row for row in table[2:] if "records to" not in row}
        expected = {("fault", "5"): "NVTX_INJECTION64_PATH=/opt/other/libnvtx.so",
                    ("fault", "9"): "CUDA_INJECTION64_PATH=/opt/other/libcuda.so",
                    ("fault", "20"): "/nowhere/libagent.so", ("fault", "33"): "/nowhere/tmp",
                    ("remark", "3"): "X is not set", ("remark", "7"): "the rank's file exists"}
        self.assertEqual(set(found), set(expected), check.out)
        for key, text in expected.items():
            self.assertIn(text, found[key])
        self.assertEqual([path.name for path in Path("taken").iterdir()], ["rank7.here.jxspool"])

    def test_check_without_a_fault_leaves_nothing(self):
        check = tools.srun(tools.EXEC, "--check", "-o", "prof/rank%r", "--", "true", options=MANY)
        self.assert_status(check, tools.DONE)
        first, _, *rows = check.out.splitlines()
        self.assertEqual(first, "jaxprof check: 64 of 64 ranks ready, output prof/")
        for row in rows:  # where each rank records, with the numbers; they may change between two ranks' looks
            self.assertRegex(row, r"^remark  [0-9,-]+ +n[12,n]+ +records to /tmp \(.+ free of .+\), at most ")
        self.assertEqual(list(Path().iterdir()), [])


if __name__ == "__main__":
    unittest.main()
