#!/usr/bin/env python3
"""A job that profiles itself: torch.profiler or jax.profiler around some matrix products, and how many kernels it saw.

Usage: own_profiler_job.py torch|jax [--delay SECONDS]    Prints one JSON object, with the profiler's own error if any.
"""

import argparse
import glob
import gzip
import json
import sys
import tempfile
import time


def with_torch():
    import torch
    from torch.profiler import ProfilerActivity, profile

    a = torch.randn(512, 512, device="cuda")
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        for _ in range(20):
            a = a @ a / 512
        torch.cuda.synchronize()
    seen = sum(1 for event in profiler.events() if str(event.device_type).endswith("CUDA"))
    return {"version": torch.__version__, "seen": seen}


def with_jax():
    import jax
    import jax.numpy as jnp

    product = jax.jit(lambda a: a @ a / 512)
    a = product(jnp.ones((512, 512)))
    a.block_until_ready()
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            for _ in range(20):
                a = product(a)
            a.block_until_ready()
        seen = 0
        for path in glob.glob(folder + "/**/*.trace.json.gz", recursive=True):
            with gzip.open(path) as file:
                events = json.load(file)["traceEvents"]
            streams = {(e["pid"], e["tid"]) for e in events
                       if e.get("name") == "thread_name" and "Stream" in e["args"].get("name", "")}
            seen += sum(1 for e in events if e.get("ph") == "X" and (e["pid"], e.get("tid")) in streams)
    return {"version": jax.__version__, "seen": seen}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("profiler", choices=("torch", "jax"))
    parser.add_argument("--delay", type=float, default=0, help="so long after the start, in seconds")
    given = parser.parse_args()
    began = time.monotonic()
    try:
        if given.profiler == "torch":
            import torch  # noqa: F401  what takes long comes before the delay
        else:
            import jax

            jax.devices()
        time.sleep(max(0.0, given.delay - (time.monotonic() - began)))
        told = with_torch() if given.profiler == "torch" else with_jax()
    except ImportError as error:
        told = {"missing": str(error)}
    except Exception as error:  # whatever its profiler does is what is to be shown
        told = {"seen": 0, "error": f"{type(error).__name__}: {error}"}
    print(json.dumps({"profiler": given.profiler, **told}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
