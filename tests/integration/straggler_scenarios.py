"""Training jobs that never ran, with a straggler of a known place and cause: the scenarios of `synthetic_run`, merged.

Whoever tests a study takes `make(name, seed)` and gets a run file and its truth. `synthetic_run --help` says what each
scenario is; who is slow, how much and in which steps follows from the seed, and is in the truth alone.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import run_tools
from run_tools import BIN, DONE, PARTIAL

# By tests/synthetic/scenario.cpp.
SCENARIOS = ("clean", "clean-in-nodes", "host", "host-once", "kernels", "copy", "node", "nic", "network", "rotating",
             "three-steps", "host-in-nodes", "sub-comms", "skew", "crooked", "lost-call", "late-step", "missing-rank",
             "one-traced", "warm-up")
WITH_COUNTERS = ("kernels", "node", "nic", "network")
# Where no instance has all its members, and none can be judged.
INCOMPLETE = ("missing-rank", "one-traced")
N_RANKS, N_NODES, N_STEPS = 8, 4, 20


@dataclass
class MadeRun:
    name: str
    seed: int
    directory: Path
    run_file: Path
    truth: dict  # as synthetic_run printed it

    @property
    def training(self):
        return self.truth["training"]

    @property
    def steps(self):
        """Of each step: `injected` causes, none in a sound one; `excess_ns`, `wait_ns` and `blame_ns` by rank."""
        return self.training["steps"]

    def injected(self, step):
        """The cause of that step; None where it is sound."""
        causes = self.steps[step]["injected"]
        return causes[0] if causes else None


def make(name, seed, folder="."):
    """Writes, merges and returns the run; its files are NAME.SEED and NAME.SEED.h5 in `folder`."""
    directory = Path(folder) / f"{name}.{seed}"
    run_file = Path(folder) / f"{name}.{seed}.h5"
    generated = run_tools.run(BIN / "synthetic_run", directory, "--threads", 1, "--scenario", name, "--seed", seed)
    assert generated.status == DONE, f"{name} {seed}: {generated}"
    merged = run_tools.merge(directory, "-f", output=run_file)
    assert merged.status == (PARTIAL if name == "missing-rank" else DONE), f"{name} {seed}: {merged}"
    return MadeRun(name, seed, directory, run_file, json.loads(generated.out))
