#!/usr/bin/env python3
"""Data-parallel training in JAX over all processes of a Slurm step, on the CPU.

The smallest job that has what a profiled job has: several processes on several nodes, a gradient all-reduce in every
step, and steps marked with NVTX ranges.  A student network learns the function of a fixed random teacher, so there is
a real loss that falls and no data set to fetch.  Everything is seeded: two runs print the same "step" lines, byte for
byte, which is how the tests know that profiling did not change the result (gloo's own lines come in any order).

    srun -N2 --ntasks-per-node=2 jaxprof-exec -- python train.py --steps 20
"""

import argparse

import jax
import jax.numpy as jnp
import numpy as np
import nvtx
from jax.sharding import Mesh, NamedSharding, PartitionSpec

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

    def step(layers, inputs, targets):
        loss, gradients = jax.value_and_grad(mean_squared_error)(layers, inputs, targets)
        loss, gradients = jax.lax.pmean((loss, gradients), "data")
        layers = jax.tree.map(lambda value, gradient: value - LEARNING_RATE * gradient, layers, gradients)
        return layers, loss

    replicated, sharded = PartitionSpec(), PartitionSpec("data")
    # check_vma=False: layers stay per-device values, so that the pmean above is the one all-reduce of their gradients.
    return jax.jit(
        jax.shard_map(
            step,
            mesh=mesh,
            in_specs=(replicated, sharded, sharded),
            out_specs=(replicated, replicated),
            check_vma=False,
        )
    )


class TeacherBatches:
    """Batches of (inputs, targets); every process makes the shard of its own devices from (SEED, step, rank)."""

    def __init__(self, mesh):
        self.sharding = NamedSharding(mesh, PartitionSpec("data"))
        self.teacher = np.random.default_rng(SEED).standard_normal((FEATURES, 1)).astype(np.float32)

    def batch(self, step):
        rng = np.random.default_rng((SEED, step, jax.process_index()))
        samples = SAMPLES_PER_DEVICE * jax.local_device_count()
        inputs = rng.standard_normal((samples, FEATURES)).astype(np.float32)
        targets = np.tanh(inputs @ self.teacher).astype(np.float32)
        return tuple(jax.make_array_from_process_local_data(self.sharding, part) for part in (inputs, targets))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20, help="training steps (default %(default)s)")
    options = parser.parse_args()

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize()  # address, rank and size from Slurm's variables

    # Not jax.make_mesh: it takes each node's CPUs for a slice of a TPU pod and refuses.
    mesh = Mesh(np.array(jax.devices()), ("data",))
    train_step = make_train_step(mesh)
    batches = TeacherBatches(mesh)
    layers = jax.device_put(init_layers(jax.random.key(SEED), (FEATURES, HIDDEN, HIDDEN, 1)),
                            NamedSharding(mesh, PartitionSpec()))

    for step in range(options.steps):
        with nvtx.annotate("step", payload=step):
            layers, loss = train_step(layers, *batches.batch(step))
            loss.block_until_ready()
        if jax.process_index() == 0:
            print(f"step {step} loss {float(loss)!r}", flush=True)

    jax.distributed.shutdown()


if __name__ == "__main__":
    main()
