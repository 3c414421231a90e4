"""Training jobs that never ran, with a straggler of a known place and cause: one of these scenarios and a seed make a run
file and its truth. Who is slow, how much and in which steps follows from the seed.

Whoever tests a study takes `make(name, seed, folder)`; which scenarios there are says SCENARIOS. What a study may say of
a run is in the truth that synthetic_run printed: `truth["training"]["steps"][k]["injected"]` are the causes of step k.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from random import Random

import run_tools
from run_tools import BIN, DONE, PARTIAL

N_RANKS, N_NODES, N_STEPS = 8, 4, 20
RANKS_A_NODE = N_RANKS // N_NODES
# A step that samples of counters can tell from the next one: 0.15 s with ten samples a second. Twenty steps of 24 ms are
# over before a counter has been read often enough.
STEP_US, LONG_STEP_US = 20_000, 120_000  # of kernels
LONG_STEP = ("--step-us", LONG_STEP_US, "--counters")


@dataclass
class Scenario:
    """`slow` are the slowdowns, `options` what else the run has; `status` is what its merge ends with."""

    slow: tuple = ()
    options: tuple = ()
    status: int = DONE


@dataclass
class MadeRun:
    name: str
    seed: int
    scenario: Scenario
    run_file: Path
    truth: dict  # as synthetic_run printed it

    @property
    def steps(self):
        return self.truth["training"]["steps"]

    @property
    def step_ns(self):
        return 1000 * (LONG_STEP_US if "--step-us" in self.scenario.options else STEP_US)

    def injected(self, step):
        """The cause of that step; None where it is sound."""
        causes = self.steps[step]["injected"]
        return causes[0] if causes else None


def one_of_all(random):
    return f"rank{random.randrange(N_RANKS)}"


def bad_steps(random, n_steps=3):
    """Some steps behind the first ones, which a study may take for warm-up, and before the last one."""
    first = random.randrange(4, N_STEPS - n_steps - 1)
    return f"{first}-{first + n_steps - 1}"


def clean(random):
    return Scenario()


def clean_in_nodes(random):
    return Scenario(options=("--comms", "mixed"))


def host(random):
    """The host stalls before each unit."""
    return Scenario((f"host-stall:{one_of_all(random)}:{random.randint(900, 1500)}",))


def host_once(random):
    """The host waits for the input of each step."""
    return Scenario((f"host-stall-once:{one_of_all(random)}:{random.randint(4000, 6000)}",))


def kernels(random):
    return Scenario((f"slow-kernels:{one_of_all(random)}:{random.uniform(1.25, 1.5):.3f}",), ("--counters",))


def copy(random):
    return Scenario((f"slow-copy:{one_of_all(random)}:{random.randint(4000, 6000)}",))


def node(random):
    return Scenario((f"slow-kernels:node{random.randrange(N_NODES)}:{random.uniform(1.25, 1.5):.3f}",), ("--counters",))


def nic(random):
    place = f"node{random.randrange(N_NODES)}.{random.randrange(2)}"
    return Scenario((f"slow-nic:{place}:{random.uniform(2, 4):.2f}",), LONG_STEP)


def network(random):
    return Scenario((f"slow-network:network:{random.uniform(2, 4):.2f}:{bad_steps(random, 4)}",), LONG_STEP)


def rotating(random):
    """Another rank in each step."""
    return Scenario((f"host-stall:rotating{random.randrange(N_RANKS)}:{random.randint(900, 1500)}",))


def three_steps(random):
    return Scenario((f"slow-kernels:{one_of_all(random)}:{random.uniform(1.5, 2):.3f}:{bad_steps(random)}",))


def host_in_nodes(random):
    """A late rank makes the others of its node late to the world's collectives."""
    return Scenario((f"host-stall:{one_of_all(random)}:{random.randint(1000, 1500)}",), ("--comms", "mixed"))


def sub_comms(random):
    """No communicator has all ranks."""
    return Scenario((f"slow-kernels:{one_of_all(random)}:{random.uniform(1.3, 1.5):.3f}",), ("--comms", "sub"))


def skew(random):
    """Late by less than the clocks can tell apart: the nodes answer each other slowly."""
    return Scenario((f"skew:{one_of_all(random)}:{random.randint(30, 60)}",), ("--probe-us", 400))


def crooked(random):
    """Nobody is late, but the clock of a node is wrong: probes take longer to it than from it."""
    return Scenario(options=("--probe-us", 200, "--crooked", f"{random.randrange(N_NODES)}:{random.randint(100, 300)}"))


def lost_call(random):
    """The straggler, or another rank, lost the record of a call."""
    scenario = host(random)
    return Scenario(scenario.slow, ("--fault", f"lose:{random.randrange(N_RANKS)}"))


def late_step(random):
    """A rank, maybe the straggler, is recorded from step 1 on."""
    scenario = host(random)
    return Scenario(scenario.slow, ("--fault", f"late-step:{random.randrange(N_RANKS)}"))


def missing_rank(random):
    """A rank left nothing: no instance is complete."""
    return Scenario(host(random).slow, ("--fault", f"missing:{random.randrange(N_RANKS)}"), PARTIAL)


def one_traced(random):
    return Scenario(host(random).slow, ("--ranks", str(random.randrange(N_RANKS))))


SCENARIOS = {make.__name__: make for make in (
    clean, clean_in_nodes, host, host_once, kernels, copy, node, nic, network, rotating, three_steps, host_in_nodes, sub_comms,
    skew, crooked, lost_call, late_step, missing_rank, one_traced)}


def plan(name, seed):
    """What the scenario is with that seed, and the words for synthetic_run."""
    scenario = SCENARIOS[name](Random(f"{name} {seed}"))
    words = ["--training", "--processes", N_RANKS, "--nodes", N_NODES, "--steps", N_STEPS, "--seed", seed, *scenario.options]
    if "--probe-us" not in scenario.options:
        words += ["--clocks"]
    else:  # the clocks are the point
        words += ["--clocks", "--jitter-us", 10]
    for slow in scenario.slow:
        words += ["--slow", slow]
    return scenario, words


def make(name, seed, folder="."):
    """Writes, merges and returns the run; its files are `folder`/NAME.SEED and NAME.SEED.h5."""
    scenario, words = plan(name, seed)
    directory = Path(folder) / f"{name}.{seed}"
    generated = run_tools.run(BIN / "synthetic_run", directory, "--threads", 1, *words)
    assert generated.status == DONE, f"{words}\n{generated}"
    run_file = directory.with_suffix(f".{seed}.h5")
    merged = run_tools.merge(directory, "-f", output=run_file)
    assert merged.status == scenario.status, f"{words}\n{merged}"
    return MadeRun(name, seed, scenario, run_file, json.loads(generated.out))
