#!/usr/bin/env python3
"""A job of one GPU whose work is known: what the GPU checks profile.

Prints one JSON object a scenario: what was launched, and what CUDA's own events measured. Ends as it is told to.

Usage: cuda_job.py SCENARIO [--count N] [--spin-us N] [--end return|_exit|abort|wait]
"""

import argparse
import json
import os
import signal
import statistics
import sys
import time

from cuda_driver import Driver


def kernels(driver, given):
    """So many kernels on two streams, a copy and a fill for every tenth."""
    streams = [driver.stream(), driver.stream()]
    size = 1 << 20
    memory = [driver.memory(size), driver.memory(size)]
    n_copies = n_fills = 0
    for i in range(given.count):
        stream = streams[i % 2]
        driver.launch(stream, given.spin_us * 1000)
        if i % 10 == 0:
            driver.copy(memory[0], memory[1], size, streams[0])
            driver.fill(memory[1], size, streams[0])
            n_copies += 1
            n_fills += 1
        if given.wait_every and i % given.wait_every == 0:
            driver.synchronize()
    driver.synchronize()
    return {"kernels": given.count, "copies": n_copies, "copy_bytes": n_copies * size, "fills": n_fills}


def durations(driver, given):
    """Kernels one by one, each between two events of CUDA's."""
    stream = driver.stream()
    begin, end = driver.event(), driver.event()
    measured = []
    for _ in range(given.count):
        driver.record(begin, stream)
        driver.launch(stream, given.spin_us * 1000)
        driver.record(end, stream)
        measured.append(driver.elapsed_ns(begin, end))
    return {"kernels": given.count, "median_ns": statistics.median(measured), "smallest_ns": min(measured)}


def graph(driver, given):
    """A graph of ten kernels, replayed."""
    stream = driver.stream()
    n_nodes = 10
    executable = driver.capture(stream, lambda: [driver.launch(stream, given.spin_us * 1000) for _ in range(n_nodes)])
    for _ in range(given.count):
        driver.launch_graph(executable, stream)
    driver.synchronize()
    return {"kernels": n_nodes * given.count, "nodes": n_nodes, "replays": given.count}


def profiler_ranges(driver, given):
    """Kernels outside and inside of cudaProfilerStart and Stop, three times; the second half of the job is outside."""
    stream = driver.stream()

    def work():
        for _ in range(given.count):
            driver.launch(stream, given.spin_us * 1000)
        driver.synchronize()

    for _ in range(3):
        work()
        driver.profiler_start()
        work()
        driver.profiler_stop()
        time.sleep(0.5)
    work()
    return {"kernels": 7 * given.count, "inside": 3 * given.count, "ranges": 3}


def steps(driver, given):
    """A step is a push and pop of the range `step`, with its kernel; its times are printed for the overhead checks."""
    import nvtx

    domain = nvtx.get_domain("jaxprof")
    attributes = domain.get_event_attributes(message="step")
    stream = driver.stream()
    times = []
    for _ in range(given.count):
        began = time.perf_counter_ns()
        domain.push_range(attributes)
        for _ in range(20):
            driver.launch(stream, given.spin_us * 1000)
        driver.synchronize(stream)
        domain.pop_range()
        times.append(time.perf_counter_ns() - began)
    late = sorted(times[len(times) // 2:])
    return {"kernels": 20 * given.count, "steps": given.count, "step_ns": late[len(late) // 2]}


SCENARIOS = {f.__name__: f for f in (kernels, durations, graph, profiler_ranges, steps)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenario", choices=SCENARIOS)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--spin-us", type=int, default=20)
    parser.add_argument("--wait-every", type=int, default=0, help="wait for the GPU after so many kernels")
    parser.add_argument("--end", choices=("return", "_exit", "abort", "wait"), default="return")
    given = parser.parse_args()
    driver = Driver()
    told = {"scenario": given.scenario, "device": driver.name(), **SCENARIOS[given.scenario](driver, given)}
    print(json.dumps(told), flush=True)
    if given.end == "_exit":
        os._exit(7)
    if given.end == "abort":
        signal.signal(signal.SIGABRT, signal.SIG_DFL)
        os.abort()
    if given.end == "wait":
        time.sleep(600)
    return 0


if __name__ == "__main__":
    sys.exit(main())
