#!/usr/bin/env python3
"""The checks of run.sh, and the table that it prints: check, verdict, figure.

A check is a function of a Place. It returns its figure in words, or raises Skip with what is missing or Failed with what
is wrong. Truth is what the job counted for itself and what CUDA's own events measured.
"""

import argparse
import importlib.util
import json
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

from probe_records import COLUMNS, Watched
from profiled_job import Failed, Job, Place, Skip

CHECKS = {}


def check(function):
    CHECKS[function.__name__] = function
    return function


def need_module(name):
    if importlib.util.find_spec(name) is None:
        raise Skip(f"no Python module {name}")


def expect(condition, text):
    if not condition:
        raise Failed(text)


def expect_equal(seen, wanted, what):
    expect(seen == wanted, f"{what}: {seen} instead of {wanted}")


# ---- what is here ----------------------------------------------------------------------------------------------------
@check
def device(place):
    """A GPU that runs a kernel, without any profiler."""
    job = Job(place, "device", place.python("cuda_job.py", "kernels", "--count", 10), is_profiled=False)
    if job.status != 0:
        raise Skip("no kernel runs here: " + (job.errors.strip().splitlines() or ["no word"])[-1])
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                            capture_output=True, text=True, check=False) if not place.double else None
    version = driver.stdout.strip() if driver and driver.returncode == 0 else "unknown"
    return f"{job.told['device']}, driver {version}"


@check
def others_see_kernels(place):
    """Whether any profiler sees kernels on this machine: PyTorch's, without us."""
    need_module("torch")
    job = Job(place, "others", place.python("own_profiler_job.py", "torch"), is_profiled=False)
    if job.told.get("missing"):
        raise Skip(job.told["missing"])
    if not job.told.get("seen"):
        raise Skip("torch.profiler sees no kernel here: " + job.told.get("error", "no error told"))
    return f"torch.profiler {job.told['version']} saw {job.told['seen']} records"


# ---- the node's observer ---------------------------------------------------------------------------------------------
def ask_nvidia_smi(program, fields):
    """[{field: text}], a GPU each."""
    done = subprocess.run([program, "--query-gpu=" + ",".join(fields), "--format=csv,noheader,nounits"],
                          capture_output=True, text=True, timeout=60, check=False)
    expect_equal(done.returncode, 0, "status of nvidia-smi")
    return [dict(zip(fields, (word.strip() for word in line.split(",")))) for line in done.stdout.splitlines()]


@check
def gpu_values(place):
    """jaxprof-probe against nvidia-smi: identities and facts alike, clocks and temperature as near as they hold still."""
    smi = place.nvidia_smi or shutil.which("nvidia-smi")
    if smi is None:
        raise Skip("no nvidia-smi to compare with")
    facts = ("uuid", "pci.bus_id", "driver_version", "memory.total", "enforced.power.limit", "clocks.max.sm")
    theirs = {gpu["uuid"]: gpu for gpu in ask_nvidia_smi(smi, facts)}
    seen = Watched(place.bin / "jaxprof-probe", place.probe_environment, hz=5, n_rows=6)
    if seen.has_no_gpu:
        raise Failed("; ".join(seen.notes))
    boards = [board for board in seen.boards if board["parent"] is None]
    expect_equal({board["uuid"] for board in boards}, set(theirs), "UUIDs")
    for board in boards:
        gpu = theirs[board["uuid"]]
        expect_equal(board["pci"], gpu["pci.bus_id"].lower(), "PCI address of " + board["uuid"])
        expect_equal(board["driver"], gpu["driver_version"], "driver")
        for name, ours in (("memory.total", board["memory_bytes"] // 2**20), ("clocks.max.sm", board["sm_clock_max_mhz"]),
                           ("enforced.power.limit", board["power_limit_mw"] / 1000)):
            if re.fullmatch(r"[\d.]+", gpu[name]):
                expect(abs(float(gpu[name]) - ours) < 1, f"{name} of {board['uuid']}: {ours} instead of {gpu[name]}")

    # What changes all the time: whatever nvidia-smi reads in between, one of our readings is near it.
    names = {"clocks.sm": ("sm_clock", 0.05), "clocks.mem": ("memory_clock", 0.01), "temperature.gpu": ("temperature", 0.1)}
    before = ask_nvidia_smi(smi, ("uuid", *names))
    seen = Watched(place.bin / "jaxprof-probe", place.probe_environment, hz=5, n_rows=6)
    after = ask_nvidia_smi(smi, ("uuid", *names))
    numbers = {board["uuid"]: board["number"] for board in seen.boards}
    for field, (column, slack) in names.items():
        for uuid in theirs:
            told = [float(gpu[field]) for gpu in before + after if gpu["uuid"] == uuid and gpu[field].isdigit()]
            read = [row[column] for row in seen.rows[numbers[uuid]] if column in row]
            near = any(abs(ours - value) <= slack * value for value in told for ours in read)
            expect(near or not told, f"{column} of {uuid}: {read} where nvidia-smi has {told}")
    rows = [row for rows in seen.rows.values() for row in rows]
    missing = [name for name in COLUMNS if not any(name in row for row in rows)]
    spent = statistics.median(row["read_ns"] for row in rows)
    return (f"{len(boards)} boards alike, a row takes {spent / 1e3:.0f} us; missing: {', '.join(missing) or 'nothing'}"
            + "".join("; " + note for note in dict.fromkeys(seen.notes)))


# ---- attach, exit ----------------------------------------------------------------------------------------------------
def kernels_of(profile, job):
    expect_equal(profile.count("events/kernels"), job.told["kernels"], "kernels")


@check
def attach(place):
    """Every kernel, copy and fill of a job that ends normally."""
    job = Job(place, "attach", place.python("cuda_job.py", "kernels")).expect()
    profile = job.merge()
    kernels_of(profile, job)
    sizes = profile.column("events/memops", "bytes")
    expect_equal(len(sizes), job.told["copies"] + job.told["fills"], "copies and fills")
    version, note = profile.processes("cupti_version")[0], profile.processes("gpu_note")[0]
    return f"{job.told['kernels']} kernels, {len(sizes)} copies and fills; CUPTI {version}, {note or 'nothing to say'}"


def ends(place, name, end, status, signal_after=None):
    job = Job(place, "exit" + name, place.python("cuda_job.py", "kernels", "--end", end), signal_after=signal_after)
    expect_equal(job.status, status, f"status after {end}")
    n_seen = job.merge().count("events/kernels")
    return f"{end}: {n_seen} of {job.told.get('kernels', 1000)} kernels, {job.seconds:.1f} s"


@check
def exit_paths(place):
    """_exit, abort and SIGTERM: the job's own end, and what had been flushed by then."""
    return "; ".join([ends(place, "0", "_exit", 7), ends(place, "1", "abort", -signal.SIGABRT),
                      ends(place, "2", "wait", -signal.SIGTERM, (8, signal.SIGTERM))])


# ---- times -----------------------------------------------------------------------------------------------------------
@check
def durations(place):
    """Lengths of kernels against CUDA's events around them, which are longer by what an event costs."""
    job = Job(place, "durations", place.python("cuda_job.py", "durations", "--count", 500, "--spin-us", 200)).expect()
    profile = job.merge()
    kernels_of(profile, job)
    ours = statistics.median(profile.column("events/kernels", "dur_ns"))
    theirs = job.told["median_ns"]
    expect(200_000 <= ours <= theirs + 2_000, f"median {ours / 1e3:.1f} us, by events {theirs / 1e3:.1f} us")
    return f"median {ours / 1e3:.1f} us, by CUDA's events {theirs / 1e3:.1f} us, asked for 200 us"


@check
def clock(place):
    """Every kernel lies after its launch began; how CUPTI's clock was joined to ours."""
    job = Job(place, "clock", place.python("cuda_job.py", "kernels", "--count", 5000, "--spin-us", 2)).expect()
    profile = job.merge()
    kernels_of(profile, job)
    early = int((profile.column("events/kernels", "flags") & 4).astype(bool).sum())
    expect_equal(early, 0, "kernels before their launch")
    starts = profile.column("events/kernels", "start_ns")
    calls = profile.column("events/kernels", "api")
    launched = profile.column("events/api", "start_ns")
    delays = sorted(starts[i] - launched[calls[i]] for i in range(len(starts)) if calls[i] < len(launched))
    expect(delays, "no kernel has its launch")
    clocks = "; ".join(text for code, text in profile.diagnostics().items() if "gpu-clock" in code)
    return f"launch to start: smallest {delays[0] / 1e3:.1f} us, median {delays[len(delays) // 2] / 1e3:.1f} us; {clocks}"


# ---- windows ---------------------------------------------------------------------------------------------------------
@check
def profiler_ranges(place):
    """cudaProfilerStart and Stop, three times, in one file."""
    job = Job(place, "ranges", place.python("cuda_job.py", "profiler_ranges", "--count", 200),
              ("-c", "cudaProfilerApi", "--capture-range-end", "repeat:3")).expect()
    profile = job.merge()
    expect_equal(profile.count("segments"), 3, "segments")
    expect_equal(profile.count("events/kernels"), job.told["inside"], "kernels inside")
    return f"3 segments, {job.told['inside']} of {job.told['kernels']} kernels, all of them inside"


@check
def step_window(place):
    """A window of eleven steps."""
    need_module("nvtx")
    job = Job(place, "steps", place.python("cuda_job.py", "steps", "--count", 100), ("-c", "steps:50-60")).expect()
    profile = job.merge()
    expect_equal(sorted(profile.column("steps", "step")), list(range(50, 61)), "steps")
    expect_equal(profile.count("events/kernels"), 11 * 20, "kernels of 11 steps")
    return "steps 50 to 60: 220 kernels of 220"


@check
def time_window(place):
    """--delay and --duration."""
    command = place.python("cuda_job.py", "kernels", "--count", 20000, "--spin-us", 200, "--wait-every", 100)
    job = Job(place, "time", command, ("--delay", 1, "--duration", 1)).expect()
    profile = job.merge()
    expect_equal(profile.count("segments"), 1, "segments")
    length = int(profile.column("segments", "close_ns")[0] - profile.column("segments", "open_ns")[0])
    expect(abs(length - 1e9) < 5e7, f"the window was open for {length / 1e9:.3f} s")
    seen = profile.count("events/kernels")
    expect(0 < seen < 20000, f"{seen} kernels of 20000")
    return f"open for {length / 1e9:.4f} s, {seen} kernels"


# ---- graphs ----------------------------------------------------------------------------------------------------------
@check
def graph_nodes(place):
    """CUDA graphs node by node."""
    job = Job(place, "graphs", place.python("cuda_job.py", "graph", "--count", 100)).expect()
    profile = job.merge()
    kernels_of(profile, job)
    nodes = profile.column("events/kernels", "graph_node")
    expect_equal(len(set(nodes)), job.told["nodes"], "nodes")
    return f"{job.told['kernels']} kernels of {job.told['nodes']} nodes, {job.told['replays']} replays"


@check
def whole_graphs(place):
    """CUDA graphs as a whole (-t cuda-graph)."""
    job = Job(place, "whole-graphs", place.python("cuda_job.py", "graph", "--count", 100),
              ("-t", "cuda,nvtx,cuda-graph")).expect()
    profile = job.merge()
    expect_equal(profile.count("events/graphs"), job.told["replays"], "graphs")
    expect_equal(profile.count("events/kernels"), 0, "kernels")
    return f"{job.told['replays']} graphs, no kernels"


# ---- NCCL ------------------------------------------------------------------------------------------------------------
@check
def nccl(place):
    """A communicator of one rank: each grouped send and receive finds its kernel by NCCL's own launch (path A)."""
    if place.double:
        raise Skip("the double's driver is not enough for NCCL")
    job = Job(place, "nccl", place.python("nccl_job.py"), environment={"NCCL_DEBUG": "WARN"})
    if job.status != 0 and "nccl_job: no libnccl" in job.errors:
        raise Skip("no libnccl.so.2 here")
    job.expect()
    profile = job.merge()
    calls = profile.words("events/nccl", "coll")
    sends = [i for i, word in enumerate(calls) if word in ("Send", "Recv")]
    expect_equal(len(sends), 2 * job.told["groups"], "sends and receives")
    paths = profile.words("nccl_work", "path")
    with_work = set(profile.column("nccl_work", "call"))
    n_joined = sum(1 for i in sends if i in with_work)
    expect_equal(n_joined, len(sends), "sends and receives with a kernel")
    used = {word: paths.count(word) for word in sorted(set(paths))}
    return f"NCCL {job.told['version']}: {n_joined} of {len(sends)} calls with their kernel, by {json.dumps(used)}"


# ---- programs --------------------------------------------------------------------------------------------------------
def losses(job):
    return [line for line in job.out.splitlines() if line.startswith("step ")]


@check
def jax_training(place):
    """slurm/examples/train.py on the GPU: same losses, numbered steps, kernels in every step."""
    need_module("jax")
    command = place.python(place.example("train.py"), "--steps", 30)
    plain = Job(place, "train-plain", command, is_profiled=False)
    if plain.status != 0:
        raise Skip("the training does not run here: " + (plain.errors.strip().splitlines() or ["no word"])[-1])
    job = Job(place, "train", command).expect()
    expect_equal(losses(job), losses(plain), "lines of losses")
    profile = job.merge()
    n_steps = profile.count("steps")
    starts = profile.column("steps", "start_ns")
    lengths = profile.column("steps", "dur_ns")
    kernels = profile.column("events/kernels", "start_ns")
    expect(len(kernels) > 0, "no kernels")
    filled = sum(1 for s, d in zip(starts, lengths) if ((kernels >= s) & (kernels < s + d)).any())
    expect(filled >= n_steps - 1, f"kernels in {filled} of {n_steps} steps")
    return f"{len(kernels)} kernels, {n_steps} steps, {filled} of them with kernels, losses alike"


@check
def own_profiler(place):
    """The job's own profiler beside us: works, or fails with its own words while we go on; outside a window it is free."""
    told = []
    for name in ("torch", "jax"):
        if importlib.util.find_spec(name) is None:
            continue
        alone = Job(place, f"own-{name}-alone", place.python("own_profiler_job.py", name), is_profiled=False).expect()
        if not alone.told.get("seen"):
            told.append(f"{name}: sees nothing even without us ({alone.told.get('error', 'no error told')})")
            continue
        beside = Job(place, f"own-{name}", place.python("own_profiler_job.py", name)).expect()
        expect(beside.merge().count("events/kernels") > 0, f"we saw no kernel beside {name}.profiler")
        outside = Job(place, f"own-{name}-out", place.python("own_profiler_job.py", name), ("--delay", 600)).expect()
        expect(outside.told.get("seen", 0) > 0, f"{name}.profiler saw nothing outside of our window: {outside.told}")
        told.append(f"{name}: beside us {beside.told.get('seen')}, outside our window {outside.told['seen']} records")
    if not told:
        raise Skip("neither torch nor jax here")
    return "; ".join(told)


@check
def overhead(place):
    """Time of a step of 20 kernels: without us, with a window that never opens, and recorded."""
    need_module("nvtx")
    command = place.python("cuda_job.py", "steps", "--count", 400, "--spin-us", 10)
    absent = Job(place, "step-absent", command, is_profiled=False).expect().told["step_ns"]
    armed = Job(place, "step-armed", command, ("-c", "steps:100000-100001")).expect().told["step_ns"]
    recorded = Job(place, "step-recorded", command).expect().told["step_ns"]
    return (f"median {absent / 1e3:.0f} us alone, armed x {armed / absent:.3f}, recorded x {recorded / absent:.3f}")


# ---- the table -------------------------------------------------------------------------------------------------------
def run_check(function, place):
    began = time.monotonic()
    try:
        verdict, text = "ok", function(place)
    except Skip as reason:
        verdict, text = "skipped", str(reason)
    except Failed as fault:
        verdict, text = "FAILED", str(fault)
    except Exception as fault:  # a check that breaks is a check that failed
        verdict, text = "FAILED", f"{type(fault).__name__}: {fault}"
    return verdict, re.sub(r"\s+", " ", text), time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--lib", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--double", help="folder with a driver and CUPTI that play a GPU")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("checks", nargs="*")
    given = parser.parse_args()
    if given.list:
        for name, function in CHECKS.items():
            print(f"{name:20} {function.__doc__.splitlines()[0]}")
        return 0
    unknown = [name for name in given.checks if name not in CHECKS]
    if unknown:
        parser.error(f"no check {unknown[0]}; --list names them")
    if importlib.util.find_spec("h5py") is None:
        parser.error(f"{sys.executable} has no h5py, which reads the run files")
    place = Place(given.bin, given.lib, given.out, given.double)
    counts = {"ok": 0, "skipped": 0, "FAILED": 0}
    for name in given.checks or CHECKS:
        verdict, text, seconds = run_check(CHECKS[name], place)
        counts[verdict] += 1
        print(f"{name:20} {verdict:8} {seconds:5.1f} s  {text}", flush=True)
        if name == "device" and verdict == "skipped":
            print("nothing else can be shown here")
            break
    print(f"{counts['ok']} ok, {counts['skipped']} skipped, {counts['FAILED']} failed; logs in {given.out}"
          + ("; NOT a GPU: a double played it" if given.double else ""))
    return 1 if counts["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
