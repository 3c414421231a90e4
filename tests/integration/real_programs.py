"""Where the programs are that nobody here wrote, and ours that use them: JAX's Python, Debian's torch, NCCL.

tests/setup.sh puts them there and knows the places; a test that lacks one skips, or fails where JAXPROF_REQUIRE names it.
"""

import subprocess
from pathlib import Path

import run_tools as tools

TREE = Path(__file__).resolve().parents[2]
EXAMPLES = TREE / "slurm" / "examples"
ANNOTATIONS = TREE / "launcher" / "python"


def set_up_path(name):
    """What `tests/setup.sh --path NAME` says; the file or folder may not be there."""
    answer = subprocess.run(["bash", TREE / "tests" / "setup.sh", "--path", name], stdout=subprocess.PIPE, check=True)
    return Path(answer.stdout.decode().strip())


def python_with_jax():
    """A Python with JAX and nvtx."""
    python = set_up_path("python")
    tools.require("jax", python.exists(), f"there is no {python}; run: bash tests/setup.sh jax")
    return python


def nccl_library():
    """NCCL's own library, which needs no GPU to be called."""
    library = set_up_path("nccl")
    tools.require("nccl", library.exists(), f"there is no {library}; run: bash tests/setup.sh nccl")
    return library


def python_with_torch():
    """Debian's Python with Debian's torch, and nvtx."""
    python = set_up_path("torch")
    tools.require("torch", python.exists(), f"there is no {python}; run: bash tests/setup.sh torch")
    return python
