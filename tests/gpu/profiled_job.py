"""One job of the GPU checks under jaxprof-exec, and the run file that comes of it."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
JOB_SECONDS = 90  # no job here takes a quarter of it


class Skip(Exception):
    """What a check lacks."""


class Failed(Exception):
    """What a check found wrong."""


class Place:
    """Where programs, Python and output are, and what every job's environment has."""

    def __init__(self, bin_folder, lib_folder, out, double):
        self.bin = Path(bin_folder).resolve()
        self.agent = Path(lib_folder).resolve() / "libjaxprof-agent.so"
        self.out = Path(out).resolve()
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "JAXPROF_"))}
        self.environment["JAXPROF_AGENT"] = str(self.agent)
        self.double = double
        self.nvidia_smi = None  # the one on the path
        self.probe_environment = dict(self.environment)
        if double:
            self.nvidia_smi = HERE.parent / "doubles/nvml/nvidia-smi"
            self.probe_environment["JAXPROF_LIBNVML"] = str(Path(double).resolve().parent / "fake_nvml/libnvidia-ml.so.1")
            self.environment["LD_LIBRARY_PATH"] = str(Path(double).resolve())
            self.environment["FAKE_CUDA_KERNEL_NS"] = "200000"  # it does not read PTX: how long `spin` is asked to be

    def example(self, name):
        return HERE.parents[1] / "slurm/examples" / name

    def python(self, script, *words):
        path = script if Path(script).is_absolute() else HERE / script
        return [sys.executable, str(path), *map(str, words)]


class Job:
    """Ran to its end: `told` is the JSON object that it printed last, `run` its profile unless it had none."""

    def __init__(self, place, name, command, options=(), is_profiled=True, environment=(), signal_after=None):
        self.folder = place.out / name
        self.folder.mkdir(parents=True, exist_ok=True)
        wrapper = [str(place.bin / "jaxprof-exec"), "-f", "-o", str(self.folder / "prof/rank0"), *map(str, options), "--"]
        began = time.monotonic()
        with open(self.folder / "job.log", "w", encoding="utf-8") as log:
            process = subprocess.Popen([*(wrapper if is_profiled else []), *command], stdout=subprocess.PIPE, stderr=log,
                                       text=True, env={**place.environment, **dict(environment)}, cwd=self.folder)
            if signal_after:
                time.sleep(signal_after[0])
                process.send_signal(signal_after[1])
            try:
                self.out, _ = process.communicate(timeout=JOB_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                raise Failed(f"did not end within {JOB_SECONDS} s; see {self.folder}/job.log") from None
        self.seconds = time.monotonic() - began
        self.status = process.returncode
        self.errors = (self.folder / "job.log").read_text(encoding="utf-8")
        self.lines = re.findall(r"^jaxprof.*$", self.errors, re.M)
        objects = [line for line in self.out.splitlines() if line.startswith("{")]
        self.told = json.loads(objects[-1]) if objects else {}
        self._place = place

    def expect(self, status=0):
        if self.status != status:
            last = (self.errors.strip().splitlines() or ["nothing on stderr"])[-1]
            raise Failed(f"status {self.status} instead of {status}: {last}")
        return self

    def merge(self):
        """The run file's columns; partial runs too."""
        path = self.folder / "run.h5"
        done = subprocess.run([self._place.bin / "jaxprof-merge", "-f", self.folder / "prof", "-o", path],
                              capture_output=True, text=True, timeout=JOB_SECONDS)
        if done.returncode not in (0, 4):
            raise Failed(f"jaxprof-merge: {done.stderr.strip() or done.returncode}")
        return Profile(path)


class Profile:
    """Columns of a run file as arrays; h5py alone."""

    def __init__(self, path):
        import h5py

        self.file = h5py.File(path, "r")
        self.strings = self.file["strings/value"].asstr()[:]

    def column(self, table, name):
        return self.file[f"{table}/{name}"][:]

    def processes(self, name):
        """A column of /job/processes, which is one table of compounds; index columns as text."""
        rows = self.file["job/processes"]
        index = rows.dtype.names.index(name)
        units = rows.attrs[f"FIELD_{index}_UNITS"]
        is_text = (units.decode() if isinstance(units, bytes) else units) == "index of /strings/value"
        return [self.strings[i] if is_text else i for i in rows[:][name]]

    def count(self, table):
        return int(self.file[table].attrs["n_rows"])

    def texts(self, table, name):
        return [self.strings[i] for i in self.column(table, name)]

    def words(self, table, name):
        import h5py

        column = self.file[f"{table}/{name}"]
        names = {v: k for k, v in h5py.check_enum_dtype(column.dtype).items()}
        return [names[v] for v in column[:]]

    def diagnostics(self):
        rows = self.file["diagnostics"][:]
        return {self.strings[row["code"]]: self.strings[row["text"]] for row in rows}
