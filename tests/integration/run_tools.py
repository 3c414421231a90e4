"""Programs of a build as a test starts them: jobs on the tests' Slurm cluster or under mpirun, merge and studies.

A test is one process of ctest, in an empty folder of its own that all nodes see; $JAXPROF_BIN holds the programs. Every
program that a test starts has a time limit, and what it printed is kept, so that a failed assertion can show it.
Reading what the programs left is run_file.py and truth_log.py.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from dataclasses import dataclass
from pathlib import Path

BIN = Path(os.environ["JAXPROF_BIN"])
EXEC = str(BIN / "jaxprof-exec")
NCCL_PUPPET = str(BIN / "nccl_puppet")
NVTX_PUPPET = str(BIN / "nvtx_puppet")
LIMIT_SECONDS = 60

# Exit codes of the README.
DONE, USAGE, UNREADABLE, PARTIAL, NOT_WRITTEN, NOT_READY, REFUSED = 0, 2, 3, 4, 5, 6, 125

# What belongs to a surrounding job or run must not reach ours.
FOREIGN_PREFIXES = ("JAXPROF_RANK", "JAXPROF_RUN", "JAXPROF_OPTIONS", "JAXPROF_AGENT", "JAXPROF_SESSION", "NCCL_",
                    "NVTX_", "CUDA_INJECTION", "OMPI_", "PMIX_", "PMI_")


@dataclass
class Ended:
    """A program that has ended. `status` is negative for a death by signal, as in subprocess."""

    status: int
    out: str
    err: str

    def lines_of_jaxprof(self):
        return [line for line in self.err.splitlines() if line.startswith("jaxprof")]

    def __str__(self):
        return f"exit status {self.status}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


def environment(**changes):
    """Ours without foreign hooks; a change to None removes a variable."""
    result = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN_PREFIXES)}
    if "SLURM_CONF" in result:  # slurm/cluster.sh has left no Open MPI setting but those that its nodes need
        result.update({name: value for name, value in os.environ.items() if name.startswith("OMPI_MCA_")})
    result["OMPI_MCA_mpi_yield_when_idle"] = "1"  # ranks that spin on fewer cores starve each other
    result.update({name: str(value) for name, value in changes.items() if value is not None})
    return {name: value for name, value in result.items() if changes.get(name, "") is not None}


def start(*words, env=None, cwd=None):
    """A program in the background; end it with finish()."""
    return subprocess.Popen([str(word) for word in words], env=env or environment(), cwd=cwd,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process, limit_s=LIMIT_SECONDS):
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        process.terminate()
        out, err = process.communicate()
        raise AssertionError(f"{process.args} did not end in {limit_s} s\n{out.decode()}\n{err.decode()}") from None
    return Ended(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


def run(*words, env=None, cwd=None, limit_s=LIMIT_SECONDS):
    return finish(start(*words, env=env, cwd=cwd), limit_s)


def srun(*words, options=("-N2", "--ntasks-per-node=2"), env=None):
    """A job step of four tasks on two nodes unless `options` say otherwise; Open MPI programs find each other."""
    return run("srun", "--mpi=pmix", *options, *words, env=env)


def mpirun(*words, n_ranks=4, env=None):
    return run("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", n_ranks, *words, env=env)


def merge(directory, *options, output="run.h5"):
    return run(BIN / "jaxprof-merge", directory, "-o", output, *options)


def study(name, run_file, *options):
    return run(BIN / "jaxprof-study", name, run_file, *options)


def wait_until(holds, what, limit_s=LIMIT_SECONDS):
    """What `holds` returns, once that is true."""
    deadline = time.monotonic() + limit_s
    while not (found := holds()):
        if time.monotonic() >= deadline:
            raise AssertionError(f"{what}: not in {limit_s} s")
        time.sleep(0.02)
    return found


def require(resource, is_there, reason):
    """Skips unless `is_there`; where JAXPROF_REQUIRE names the resource, fails (require.sh says the same for shells)."""
    if is_there:
        return
    if resource in os.environ.get("JAXPROF_REQUIRE", "").split(","):
        sys.exit(f"FAILED: JAXPROF_REQUIRE names {resource}, but {reason}")
    print(f"skipped: {reason}")
    sys.exit(77)


def require_module(name):
    require(name, importlib.util.find_spec(name) is not None, f"{sys.executable} has no module {name}")


def remove_tree(folder):
    """A node's observer outlives its job by a moment, and may make its file just now."""
    def is_gone():
        shutil.rmtree(folder, ignore_errors=True)
        return not folder.exists()

    wait_until(is_gone, f"the removal of {folder}")


class FolderCase(unittest.TestCase):
    """Tests that share one empty folder, which is also their working directory."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix=cls.__name__ + ".", dir=os.getcwd()))
        cls.outside = os.getcwd()
        os.chdir(cls.folder)

    @classmethod
    def tearDownClass(cls):
        os.chdir(cls.outside)
        remove_tree(cls.folder)

    def assert_status(self, ended, status):
        self.assertEqual(ended.status, status, f"\n{ended}")

    def assert_becomes_empty(self, folder):
        """Which the node's observer may be the last to clean."""
        wait_until(lambda: not list(Path(folder).iterdir()), f"{folder} is empty")

    def assert_one_clear_line(self, ended, *words):
        """Standard error holds one line of the program itself that says `words`, and nothing from a library."""
        lines = ended.err.splitlines()
        self.assertEqual(len(lines), 1, f"\n{ended}")
        self.assertTrue(lines[0].startswith("jaxprof-"), f"\n{ended}")
        for word in words:
            self.assertIn(word, lines[0])


class OwnFolderCase(FolderCase):
    """Each test in an empty folder of its own."""

    def setUp(self):
        path = self.folder / self._testMethodName
        path.mkdir()
        os.chdir(path)
