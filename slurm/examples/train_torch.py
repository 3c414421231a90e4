#!/usr/bin/env python3
"""Data-parallel training in PyTorch under torchrun, with gloo on CPUs and NCCL on GPUs.

torchrun starts the ranks of a node by itself, so a launcher starts it once a node, and jaxprof-exec stands before it:
the ranks are found in the processes. As in train.py a student network learns a fixed random teacher, everything is seeded,
and steps and phases are marked.

    srun -N2 --ntasks-per-node=1 jaxprof-exec -o prof/rank%r -- \\
        torchrun --nnodes=2 --nproc_per_node=2 --rdzv_backend=c10d --rdzv_endpoint=$HEAD:29500 train_torch.py
"""

import argparse
import os
import socket
import sys
import time

import torch
import torch.distributed as distributed
from torch.nn.parallel import DistributedDataParallel

from annotations import annotate, step
from counts import count

FEATURES = 32
HIDDEN = 128
SAMPLES = 128
LEARNING_RATE = 0.05
SEED = 20
OF_TORCHRUN = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


def batch(rank, number, teacher, device):
    """Inputs [SAMPLES, FEATURES] and targets [SAMPLES, 1] of one rank and step."""
    random = torch.Generator().manual_seed(SEED + 1_000_003 * rank + number)
    inputs = torch.randn(SAMPLES, FEATURES, generator=random)
    return inputs.to(device), torch.tanh(inputs @ teacher).to(device)


def train(n_steps, device):
    """Trains, and returns the seconds that the loop took; rank 0 prints the losses, averaged over all ranks."""
    rank = distributed.get_rank()
    torch.manual_seed(SEED)
    teacher = torch.randn(FEATURES, 1) / FEATURES**0.5
    layers = (torch.nn.Linear(FEATURES, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 1))
    student = DistributedDataParallel(torch.nn.Sequential(*layers).to(device))
    optimizer = torch.optim.SGD(student.parameters(), lr=LEARNING_RATE)
    began = time.perf_counter()
    for number in range(n_steps):
        with step(number):
            with annotate("load"):
                inputs, targets = batch(rank, number, teacher, device)
            with annotate("train"):
                optimizer.zero_grad()
                loss = torch.nn.functional.mse_loss(student(inputs), targets)
                loss.backward()
                optimizer.step()
                mean_loss = loss.detach().clone()
                distributed.all_reduce(mean_loss)
            mean_loss = float(mean_loss) / distributed.get_world_size()  # waits for the device
            if rank == 0:
                print(f"step {number} loss {mean_loss!r}", flush=True)
    return time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=count, default=20, help="training steps (default %(default)s)")
    options = parser.parse_args()

    missing = [name for name in OF_TORCHRUN if name not in os.environ]
    if missing:
        sys.exit(f"train_torch.py: start it by torchrun, as in its --help; not set: {', '.join(missing)}")
    local_rank = int(os.environ["LOCAL_RANK"])
    has_gpus = torch.cuda.is_available()
    device = torch.device("cuda", local_rank) if has_gpus else torch.device("cpu")
    if has_gpus:
        torch.cuda.set_device(device)
    else:
        torch.set_num_threads(1)
    distributed.init_process_group("nccl" if has_gpus else "gloo")
    seconds = train(options.steps, device)
    print(f"loop {seconds:.6f} s, {options.steps} steps, rank {distributed.get_rank()} of "
          f"{distributed.get_world_size()}, local rank {local_rank}, on {socket.gethostname()}, process {os.getpid()}", flush=True)
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
