#!/usr/bin/env python3
"""The examples are what people try first: where their words or their environment make no sense they end with a clear
line and no traceback.
"""

import unittest

import run_tools as tools
from real_programs import EXAMPLES, python_with_jax, python_with_torch

JAX, TORCH = python_with_jax(), python_with_torch()


def example(python, name, *words):
    return (python, "-B", EXAMPLES / name, *words)


CASES = (
    (example(JAX, "train.py", "--steps", "0"), {}, "argument --steps: '0' is not a whole number of at least 1"),
    (example(JAX, "train.py", "--steps", "3", "--cuda-profiler", "30-40"), {},
     "--cuda-profiler begins at step 30, the last one is 2"),
    (example(JAX, "train.py", "--platform", "gpu"), {"CUDA_VISIBLE_DEVICES": ""},
     "train.py: JAX finds no device for --platform gpu: "),
    (example(JAX, "train.py"), {"RANK": "1", "WORLD_SIZE": "x"}, "WORLD_SIZE='x' in the environment is no number of"),
    (example(JAX, "train.py"), {"RANK": "2", "WORLD_SIZE": "2"}, "RANK=2 and WORLD_SIZE=2 (by hand): no rank of a job"),
    (example(TORCH, "train_torch.py"), {"LOCAL_RANK": "0"},
     "train_torch.py: start it by torchrun, as in its --help; not set: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT"),
    (example(TORCH, "train_torch.py", "--steps", "-1"), {},
     "argument --steps: '-1' is not a whole number of at least 1"),
    (example(JAX, "nccl_calls.py", "--iterations", "-1"), {},
     "argument --iterations: '-1' is not a whole number of at least 1"),
    ((tools.BIN / "annotate_example", "foo"), {}, "annotate: 'foo' is not a whole number of steps of at least 1"),
    ((tools.BIN / "annotate_example", "0"), {}, "annotate: '0' is not a whole number of steps of at least 1"),
)
OF_LAUNCHERS = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "SLURM_PROCID")


class ExampleRefusals(unittest.TestCase):
    def test_each_says_what_is_wrong(self):
        for words, variables, line in CASES:
            with self.subTest(line):
                env = tools.environment(**{**dict.fromkeys(OF_LAUNCHERS), **variables})
                ended = tools.run(*words, env=env)
                self.assertIn(ended.status, (1, 2), str(ended))
                self.assertIn(line, ended.err)
                self.assertNotIn("Traceback", ended.err)


if __name__ == "__main__":
    unittest.main()
