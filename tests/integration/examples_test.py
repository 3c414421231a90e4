#!/usr/bin/env python3
"""Parts of the examples that need no job: which launcher's numbers count, and what cudaProfilerStart and Stop are called
around. The C functions are those of a double in place of the CUDA runtime.
"""

import os
import sys
import unittest
from pathlib import Path

import run_tools as tools
from real_programs import EXAMPLES
from truth_log import read_log

sys.path.insert(0, str(EXAMPLES))
import cuda_profiler  # noqa: E402
from launcher_variables import place_in_job  # noqa: E402

DOUBLES = Path(os.environ["JAXPROF_LIB"]) / "doubles"

BATCH_SCRIPT = {"SLURM_JOB_ID": "7", "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NTASKS": "4"}
SRUN = {**BATCH_SCRIPT, "SLURM_STEP_ID": "0", "SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "4", "SLURM_LOCALID": "1"}
OPEN_MPI = {"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}
HYDRA = {"PMI_RANK": "1", "PMI_SIZE": "4", "MPI_LOCALRANKID": "1"}
TORCHRUN = {"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "TORCHELASTIC_RUN_ID": "none"}


class PlaceInJob(unittest.TestCase):
    def test_the_innermost_launcher_counts(self):
        for launcher, variables, numbers in (
                ("Slurm", SRUN, (3, 4, 1)), ("Open MPI", OPEN_MPI, (2, 4, 0)),
                ("Open MPI", {**BATCH_SCRIPT, **OPEN_MPI}, (2, 4, 0)),
                ("hydra", {**SRUN, **HYDRA}, (1, 4, 1)), ("torchrun", {**SRUN, **OPEN_MPI, **TORCHRUN}, (5, 8, 1))):
            self.assertEqual(tuple(place_in_job(variables)), (launcher, *numbers))

    def test_a_batch_script_is_no_rank(self):
        self.assertEqual(tuple(place_in_job(BATCH_SCRIPT)), ("none", 0, 1, 0))

    def test_numbers_by_hand_come_last(self):
        self.assertEqual(place_in_job({"RANK": "1", "WORLD_SIZE": "2"}), ("by hand", 1, 2, None))
        self.assertEqual(place_in_job({**SRUN, "RANK": "0", "WORLD_SIZE": "2"}).launcher, "Slurm")


class CudaProfiler(tools.OwnFolderCase):
    def calls(self, steps, n_steps, library=DOUBLES / "libcudart.so.13"):
        """What the CUDA runtime was told, and between which steps."""
        script = f"""
import sys
sys.path.insert(0, {str(EXAMPLES)!r})
import cuda_profiler
profiler = cuda_profiler.CudaProfiler(cuda_profiler.steps_from_words({steps!r}), 0)
for number in range({n_steps}):
    profiler.before_step(number)
    open("record", "a").write(f"what=step\\tnumber={{number}}\\n")
    profiler.after_step(number)
profiler.close()
"""
        job = tools.run("/usr/bin/python3", "-B", "-c", script,
                        env=tools.environment(LD_PRELOAD=library, CUDART_RECORDER_FILE="record"))
        self.assert_status(job, 0)
        self.assertEqual(job.err, "")
        return [line.get("number", line["what"]) for line in read_log("record")]

    def test_the_range_holds_the_steps_and_no_other(self):
        self.assertEqual(self.calls("1-2", 4), [0, "cudaProfilerStart", 1, 2, "cudaProfilerStop", 3])

    def test_one_step(self):
        self.assertEqual(self.calls("0", 2), ["cudaProfilerStart", 0, "cudaProfilerStop", 1])

    def test_a_range_beyond_the_end_is_closed(self):
        self.assertEqual(self.calls("1-9", 2), [0, "cudaProfilerStart", 1, "cudaProfilerStop"])

    def test_wrong_words_are_refused(self):
        for wrong in ("", "a", "3-1", "-1", "1-", "1:2"):
            with self.assertRaises(cuda_profiler.argparse.ArgumentTypeError):
                cuda_profiler.steps_from_words(wrong)


if __name__ == "__main__":
    unittest.main()
