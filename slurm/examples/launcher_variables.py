"""Rank and size of this process as its launcher tells them, for programs that call no MPI.

Each launcher numbers its processes in variables of its own, and variables are inherited: under sbatch + mpirun all
ranks also have the batch script's SLURM_PROCID=0. So the innermost launcher has to be asked first, and rank and size have to
come from the same one. Slurm is the outermost one in practice and comes last of the launchers, before numbers that were
exported by hand.
"""

import os
import sys
from typing import NamedTuple, Optional

# (launcher, rank, size, local rank, what else has to be set), innermost first
LAUNCHERS = (
    ("torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_RUN_ID"),
    ("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", None),
    ("hydra", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALRANKID"),
    ("PALS", "PALS_RANKID", "PMI_SIZE", "PALS_LOCAL_RANKID", None),
    ("jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK", None),
    ("Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", None),
    ("Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", None),
    ("by hand", "RANK", "WORLD_SIZE", "LOCAL_RANK", None),
)


class Place(NamedTuple):
    launcher: str
    rank: int
    size: int
    local_rank: Optional[int]


def place_in_job(environment=None) -> Place:
    """Rank 0 of 1 where no launcher is found. Ends the program where the variables of one make no sense."""
    environment = os.environ if environment is None else environment
    for launcher, rank, size, local_rank, marker in LAUNCHERS:
        if rank in environment and size in environment and (marker is None or marker in environment):
            local = _number(environment, local_rank) if local_rank in environment else None
            place = Place(launcher, _number(environment, rank), _number(environment, size), local)
            if place.rank >= place.size:
                sys.exit(f"{rank}={place.rank} and {size}={place.size} ({launcher}): no rank of a job")
            return place
    return Place("none", 0, 1, 0)


def _number(environment, name):
    word = environment[name]
    if not (word.isascii() and word.isdigit()):
        sys.exit(f"{name}={word!r} in the environment is no number of a rank or of ranks")
    return int(word)
