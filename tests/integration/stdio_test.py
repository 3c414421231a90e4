#!/usr/bin/env python3
"""Standard streams are the job's: what srun sends to its input arrives, byte for byte and at every task, what it writes
comes out unchanged, and a terminal stays a terminal, with its size, its foreground group and its Ctrl-C.
"""

import fcntl
import hashlib
import os
import pty
import random
import re
import select
import struct
import subprocess
import termios
import time
import unittest

import run_tools as tools

FOUR_TASKS = ("srun", "-N2", "--ntasks-per-node=2")
ONE_TASK = ("srun", "-N1", "-n1")
WRAPPER = (tools.EXEC, "--quiet", "-o", "prof/rank%r", "--")
BYTES = random.Random(3).randbytes(3_000_001)
ROWS, COLUMNS = 37, 91

# Says what its streams are, waits for an interrupt, and counts those of the half second after it.
TERMINAL_JOB = r"""
import fcntl, os, signal, struct, termios
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
rows, columns = struct.unpack("HHHH", fcntl.ioctl(0, termios.TIOCGWINSZ, bytes(8)))[:2]
print("terminals", [os.isatty(fd) for fd in range(3)], "size", rows, columns,
      "foreground", os.tcgetpgrp(0) == os.getpgrp(), flush=True)
count = 0
while signal.sigtimedwait({signal.SIGINT}, 0.5 if count else 30):
    count += 1
print("interrupted", count, flush=True)
os._exit(3)
"""


def run_bytes(*words, given=None, env=None):
    """What comes out, when `given` (bytes, None: nothing) is put in."""
    done = subprocess.run(words, input=given or b"", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=env or tools.environment(), timeout=tools.LIMIT_SECONDS, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


class Pipes(tools.OwnFolderCase):
    def test_input_reaches_every_task_whole(self):
        out = run_bytes(*FOUR_TASKS, *WRAPPER, "sha256sum", given=BYTES)
        self.assertEqual(out.decode().split()[::2], [hashlib.sha256(BYTES).hexdigest()] * 4)

    def test_input_of_one_task(self):
        out = run_bytes(*FOUR_TASKS, "-i", "2", *WRAPPER, "wc", "-c", given=BYTES)
        self.assertEqual(sorted(map(int, out.split())), [0, 0, 0, len(BYTES)])

    def test_no_input(self):
        self.assertEqual(run_bytes(*FOUR_TASKS, "-i", "none", *WRAPPER, "cat"), b"")

    def test_output_is_byte_identical(self):
        self.assertEqual(run_bytes(*ONE_TASK, *WRAPPER, "cat", given=BYTES), BYTES)

    def test_unbuffered_output_is_a_terminal_and_input_is_not(self):
        probe = ("sh", "-c", "for fd in 0 1 2; do test -t $fd && echo terminal || echo none; done")
        plain = run_bytes(*ONE_TASK, "-u", *probe)
        self.assertEqual(plain.split(), [b"none", b"terminal", b"none"], "srun -u is not what this test expects")
        self.assertEqual(run_bytes(*ONE_TASK, "-u", *WRAPPER, *probe), plain)

    def test_empty_environment(self):
        """Without PATH, HOME and TMPDIR the job gets what srun leaves it and the four variables of the hooks."""
        show = ("/usr/bin/env", "-0")
        plain, ours = (run_bytes(*ONE_TASK, "--export=NONE", *words, *show).split(b"\0") for words in ((), WRAPPER))

        def names(entries):
            return {entry.partition(b"=")[0].decode() for entry in entries if entry}

        self.assertNotIn("HOME", names(plain))
        self.assertEqual(names(ours) - names(plain), {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH",
                                                      "NCCL_PROFILER_PLUGIN", "JAXPROF_SESSION"})
        self.assertEqual(names(plain) - names(ours), set())


class Terminal:
    """`words` on a new terminal of its own."""

    def __init__(self, *words):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.process = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, env=tools.environment(),
                                        start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.text = ""

    def read_until(self, pattern):
        deadline = time.monotonic() + tools.LIMIT_SECONDS
        while not re.search(pattern, self.text):
            ready, _, _ = select.select([self.master], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"no '{pattern}' in: {self.text}"
            try:
                self.text += os.read(self.master, 4096).decode()
            except OSError:  # nobody has the other end any more
                raise AssertionError(f"no '{pattern}' in: {self.text}") from None

    def type(self, text):
        os.write(self.master, text)

    def finish(self):
        return self.process.wait(tools.LIMIT_SECONDS)

    def end(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


class PseudoTerminal(tools.OwnFolderCase):
    def run_on_terminal(self, *words):
        terminal = Terminal(*ONE_TASK, "--pty", *words, "/usr/bin/python3", "-c", TERMINAL_JOB)
        self.addCleanup(terminal.end)
        terminal.read_until("foreground (True|False)")
        terminal.type(b"\x03")
        terminal.read_until(r"interrupted \d+")
        status = terminal.finish()
        lines = [line for line in terminal.text.splitlines() if "terminals" in line or "interrupted" in line]
        return status, [line.replace("^C", "") for line in lines]

    def test_is_one_with_its_size_foreground_group_and_interrupt(self):
        expected = (3, [f"terminals [True, True, True] size {ROWS} {COLUMNS} foreground True",
                        "interrupted 1"])
        self.assertEqual(self.run_on_terminal(), expected, "srun --pty is not what this test expects")
        self.assertEqual(self.run_on_terminal(*WRAPPER), expected)


class Shell(tools.OwnFolderCase):
    """An interactive shell runs a command that leaves its process group: the terminal follows it, and Ctrl-Z, fg and Ctrl-C
    mean what they mean without the wrapper."""

    def expect(self, text, pattern):
        self.terminal.text = ""
        self.terminal.type(text)
        self.terminal.read_until(pattern)

    def go_through(self, *words):
        self.terminal = Terminal("bash", "--norc", "-i")
        self.addCleanup(self.terminal.end)
        self.expect(b"PS1='rea''dy> '\n", "ready> ")
        self.expect(" ".join(words).encode() + b" timeout 200 sh -c 'echo sta\"\"rted; exec cat'\n", "started")
        self.expect(b"one\n", "one\r\none")
        self.expect(b"\x1a", r"Stopped[\s\S]*ready> ")  # before its prompt a shell throws away what is typed
        self.expect(b"fg\n", "timeout 200")
        self.expect(b"two\n", "two\r\ntwo")
        self.expect(b"\x03", "ready> ")
        self.expect(b"echo status $?\n", r"status \d+")
        return re.search(r"status (\d+)", self.terminal.text)[1]

    def test_of_a_command_with_a_process_group_of_its_own(self):
        self.assertEqual(self.go_through(*WRAPPER), self.go_through())


if __name__ == "__main__":
    unittest.main()
