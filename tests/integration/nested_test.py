#!/usr/bin/env python3
"""Launchers inside the profiled command: what an mpirun, a hydra or a loop of programs starts on the node is recorded,
tasks of another job or step that inherit the environment are left alone and counted.
"""

import json
import unittest
from pathlib import Path

import run_tools as tools

WRAPPER = f"{tools.EXEC} -o prof/rank%r"
PUPPET = "./puppet.sh"
PUPPET_SCRIPT = f"#!/bin/sh\nexec {tools.NVTX_PUPPET} --scenarios nested --out account.$(hostname).$$\n"
INNER_SRUN = "srun --overlap --mem=0 -N1 -n2 -w $SLURMD_NODENAME"


class Nested(tools.OwnFolderCase):
    def run_script(self, command):
        """A batch script of one node with `command`; what it wrote."""
        Path(PUPPET).write_text(PUPPET_SCRIPT)
        Path(PUPPET).chmod(0o755)
        Path("job.sh").write_text(f"#!/bin/sh\n{command}\n")
        job = tools.run("sbatch", "--wait", "-N1", "-n2", "-o", "job.out", "job.sh", env=tools.environment())
        text = Path("job.out").read_text()
        self.assert_status(job, 0)
        return text

    def spools(self):
        return sorted(path.name for path in Path("prof").glob("*.jxspool*"))

    def notes(self):
        ends = [json.loads(path.read_text()) for path in Path("prof").glob(".run-*/task.*.end.json")]
        return [note for end in ends for note in end["notes"]]

    def n_accounts(self):
        """How many puppets have run to their end."""
        return len(list(Path().glob("account.*")))

    def assert_left_alone(self, text, n_strangers):
        self.assertEqual(self.spools(), [], text)
        self.assertEqual(self.n_accounts(), n_strangers, text)
        who = "1 process" if n_strangers == 1 else f"{n_strangers} processes"
        self.assertEqual(self.notes(), [f"{who} of another job step or node had this task's environment: not recorded"],
                         text)

    def assert_reached(self, text, names):
        self.assertEqual(self.spools(), names, text)
        self.assertEqual(self.notes(), [], text)

    def test_srun_in_a_task(self):
        text = self.run_script(f"srun -n1 {WRAPPER} -- {INNER_SRUN} {PUPPET}")
        self.assert_left_alone(text, 2)

    def test_srun_in_a_batch_script(self):
        text = self.run_script(f"{WRAPPER} -- srun -n2 {PUPPET}")
        self.assert_left_alone(text, 2)
        self.assertIn("srun stands behind jaxprof-exec: nothing that it starts is profiled; write instead: srun -n2 "
                      "jaxprof-exec", text)

    def test_sbatch_in_a_batch_script(self):
        Path("inner.sh").write_text(f"#!/bin/sh\n{PUPPET}\n")
        text = self.run_script(f"{WRAPPER} -- sbatch --wait -N1 -n1 -w $SLURMD_NODENAME -o inner.out inner.sh")
        self.assert_left_alone(text, 1)

    def test_mpirun_in_a_batch_script(self):
        text = self.run_script(f"{WRAPPER} -- mpirun --allow-run-as-root -n 2 {PUPPET}")
        self.assert_reached(text, ["rank0.jxspool", "rank1.jxspool"])

    def test_mpirun_in_a_task(self):
        text = self.run_script(f"srun -n1 {WRAPPER} -- mpirun --allow-run-as-root --oversubscribe -n 2 {PUPPET}")
        self.assert_reached(text, ["rank0.jxspool", "rank1.jxspool"])

    def test_hydra_in_a_batch_script(self):
        """It starts its daemon by srun, so that its ranks are in a step of their own."""
        text = self.run_script(f"{WRAPPER} -- mpiexec.hydra -n 2 {PUPPET}")
        self.assert_reached(text, ["rank0.jxspool", "rank1.jxspool"])

    def test_programs_one_after_the_other(self):
        text = self.run_script(f"srun -n1 {WRAPPER} -- sh -c '{PUPPET}; {PUPPET}'")
        self.assertEqual(len(self.spools()), 2, text)
        self.assertEqual(self.notes(), [], text)


if __name__ == "__main__":
    unittest.main()
