#!/usr/bin/env python3
"""Data-parallel training in JAX over all processes of a job, on CPUs or GPUs.

The smallest job that has what a profiled job has: several processes on several nodes, a gradient all-reduce in every
step, steps and phases marked. A student network learns the function of a fixed random teacher, so there is a real loss
that falls and no data set to fetch. Everything is seeded: on one platform two runs print the same "step" lines, byte
for byte, which is how the tests know that profiling did not change the result (gloo's own lines come in any order).

    srun -N2 --ntasks-per-node=2 jaxprof-exec -- python train.py --steps 20
    mpirun -n 4 jaxprof-exec -- python train.py
    mpiexec.hydra -n 4 jaxprof-exec -- python train.py --coordinator node1:29500

JAX's processes find each other through one address, where rank 0 listens. JAX works it out by itself under srun and
under Open MPI's mpirun; torchrun tells it as MASTER_ADDR, which may be exported by hand under any launcher; else give it
by --coordinator.
"""

import argparse
import os
import socket
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from annotations import annotate, step
from counts import count
from cuda_profiler import CudaProfiler, steps_from_words
from launcher_variables import place_in_job

FEATURES = 32
HIDDEN = 128
SAMPLES_PER_DEVICE = 128
LEARNING_RATE = 0.01
SEED = 20


def init_layers(key, widths):
    """One (weights, bias) pair a layer; float32, weights [n_in, n_out] scaled for relu."""
    layers = []
    for n_in, n_out in zip(widths[:-1], widths[1:]):
        key, layer_key = jax.random.split(key)
        weights = jax.random.normal(layer_key, (n_in, n_out)) * jnp.sqrt(2.0 / n_in)
        layers.append((weights, jnp.zeros(n_out)))
    return layers


def predict(layers, inputs):
    """inputs [n_samples, FEATURES] -> [n_samples, 1]."""
    for weights, bias in layers[:-1]:
        inputs = jax.nn.relu(inputs @ weights + bias)
    weights, bias = layers[-1]
    return inputs @ weights + bias


def mean_squared_error(layers, inputs, targets):
    return jnp.mean((predict(layers, inputs) - targets) ** 2)


def make_train_step(mesh):
    """The jitted step: each device's gradient of its own shard, averaged over all devices, one SGD update."""

    def update(layers, inputs, targets):
        loss, gradients = jax.value_and_grad(mean_squared_error)(layers, inputs, targets)
        loss, gradients = jax.lax.pmean((loss, gradients), "data")
        layers = jax.tree.map(lambda value, gradient: value - LEARNING_RATE * gradient, layers, gradients)
        return layers, loss

    replicated, sharded = PartitionSpec(), PartitionSpec("data")
    # check_vma=False: layers stay per-device values, so that the pmean above is the one all-reduce of their gradients.
    return jax.jit(
        jax.shard_map(
            update,
            mesh=mesh,
            in_specs=(replicated, sharded, sharded),
            out_specs=(replicated, replicated),
            check_vma=False,
        )
    )


class TeacherBatches:
    """Batches of (inputs, targets); a process makes the shard of its own devices from (SEED, number of the step, rank)."""

    def __init__(self, mesh):
        self.sharding = NamedSharding(mesh, PartitionSpec("data"))
        self.teacher = np.random.default_rng(SEED).standard_normal((FEATURES, 1)).astype(np.float32)

    def batch(self, number):
        rng = np.random.default_rng((SEED, number, jax.process_index()))
        samples = SAMPLES_PER_DEVICE * jax.local_device_count()
        inputs = rng.standard_normal((samples, FEATURES)).astype(np.float32)
        targets = np.tanh(inputs @ self.teacher).astype(np.float32)
        return tuple(jax.make_array_from_process_local_data(self.sharding, part) for part in (inputs, targets))


def coordinator_of(place, environment):
    """What jax.distributed.initialize needs to find rank 0, as keyword arguments; None if nothing says where it is."""
    if "MASTER_ADDR" in environment and "MASTER_PORT" in environment:
        # torchrun itself listens at this port
        port = int(environment["MASTER_PORT"]) + (1 if place.launcher == "torchrun" else 0)
        return {"coordinator_address": f"{environment['MASTER_ADDR']}:{port}"}
    known_to_jax = {"Slurm": "slurm", "Open MPI": "ompi"}
    if place.launcher in known_to_jax:
        return {"cluster_detection_method": known_to_jax[place.launcher]}
    return None


def local_devices(place, platform, environment):
    """The GPU of this process, as a list: its local rank, unless its launcher shows it one GPU alone. None: all."""
    if platform == "cpu" or place.local_rank is None:
        return None
    visible = environment.get("CUDA_VISIBLE_DEVICES", "")
    return [0] if visible and "," not in visible else [place.local_rank]


def join_job(place, options):
    if place.size == 1:
        return
    where = {"coordinator_address": options.coordinator} if options.coordinator else coordinator_of(place, os.environ)
    if where is None:
        sys.exit(f"train.py: {place.launcher} does not say where rank 0 is; give --coordinator HOST:PORT")
    jax.distributed.initialize(num_processes=place.size, process_id=place.rank,
                               local_device_ids=local_devices(place, options.platform, os.environ), **where)


def find_devices(platform):
    """Ends the program where JAX has none of the kind that was asked for."""
    try:
        jax.devices()
    except (RuntimeError, AssertionError) as error:  # the latter where jaxlib was built without CUDA
        sys.exit(f"train.py: JAX finds no device for --platform {platform}: {error or 'its jaxlib has no CUDA'}")


def train(n_steps, profiler):
    """Trains, and returns the seconds that the loop took; the losses are on rank 0's output."""
    # Not jax.make_mesh: it takes each node's CPUs for a slice of a TPU pod and refuses.
    mesh = Mesh(np.array(jax.devices()), ("data",))
    train_step = make_train_step(mesh)
    batches = TeacherBatches(mesh)
    layers = jax.device_put(init_layers(jax.random.key(SEED), (FEATURES, HIDDEN, HIDDEN, 1)),
                            NamedSharding(mesh, PartitionSpec()))
    began = time.perf_counter()
    for number in range(n_steps):
        with step(number):
            profiler.before_step(number)
            with annotate("load"):
                batch = batches.batch(number)
            with annotate("train"):
                layers, loss = train_step(layers, *batch)
                loss.block_until_ready()
            if jax.process_index() == 0:
                print(f"step {number} loss {float(loss)!r}", flush=True)
            profiler.after_step(number)
    return time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=count, default=20, help="training steps (default %(default)s)")
    parser.add_argument("--platform", choices=("auto", "cpu", "gpu"), default="auto",
                        help="auto takes GPUs where there are any (default %(default)s)")
    parser.add_argument("--coordinator", metavar="HOST:PORT", help="where rank 0 listens: a free port on its node")
    parser.add_argument("--cuda-profiler", metavar="FIRST-LAST", type=steps_from_words,
                        help="call cudaProfilerStart before step FIRST and cudaProfilerStop after step LAST")
    options = parser.parse_args()
    if options.cuda_profiler and options.cuda_profiler[0] >= options.steps:
        parser.error(f"--cuda-profiler begins at step {options.cuda_profiler[0]}, the last one is {options.steps - 1}")

    if options.platform != "auto":
        jax.config.update("jax_platforms", {"cpu": "cpu", "gpu": "cuda"}[options.platform])
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    place = place_in_job()
    join_job(place, options)
    find_devices(options.platform)

    profiler = CudaProfiler(options.cuda_profiler, place.rank)
    try:
        seconds = train(options.steps, profiler)
    finally:
        profiler.close()
    print(f"loop {seconds:.6f} s, {options.steps} steps, rank {jax.process_index()} of {jax.process_count()}, "
          f"on {socket.gethostname()}, process {os.getpid()}", flush=True)
    if place.size > 1:
        jax.distributed.shutdown()


if __name__ == "__main__":
    main()
