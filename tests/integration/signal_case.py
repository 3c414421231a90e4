"""A job under a launcher twice, once plain and once under jaxprof-exec, that meets the same signals: both must get the
same, the launcher must tell the same of them, and no more may be left behind.

What is compared with the plain job is whatever the launcher and its version do; what they were seen to do is in
launcher/README.md. Processes are found by a variable in their environment, from outside of the nodes.
"""

import os
import re
import signal
import time
import uuid
from pathlib import Path

import run_tools as tools
from run_tools import wait_until

LOGGER = str(Path(__file__).with_name("signal_logger.py"))
MARK = "JAXPROF_TEST_MARK"
GONE_S = 20
ENDS_S = 200  # a time limit of a minute is looked at once a minute
TASK_LINE = re.compile(r"^srun: error: \S+: tasks? ([0-9,-]+): (.*)$", re.M)


def numbers(text):
    """Of "0,2-4"."""
    for item in text.split(","):
        first, _, last = item.partition("-")
        yield from range(int(first), int(last or first) + 1)


def what_srun_says_of_tasks(text):
    """{task: text}; srun joins tasks that end together into one line, or not."""
    return {task: verdict for tasks, verdict in TASK_LINE.findall(text) for task in numbers(tasks)}


class LoggedJob:
    """The logger under `launcher` (words), with `wrapper` (words) before it and before the words of `within`."""

    def __init__(self, name, launcher, wrapper, within, logger_options, n_ranks):
        self.folder = Path(name).absolute()
        self.folder.mkdir()
        self.n_ranks = n_ranks
        self.mark = uuid.uuid4().hex
        self.process = tools.start(*launcher, *wrapper, *within, "/usr/bin/python3", LOGGER, self.folder, *logger_options,
                                   env=tools.environment(**{MARK: self.mark}))
        self.ended = None

    def pid_of(self, rank):
        return int(self.lines(rank)[0].split()[1])

    def job_id(self):
        return self.lines(0)[0].split()[2]

    def lines(self, rank):
        """Whole lines only."""
        path = self.folder / str(rank)
        return path.read_text().rpartition("\n")[0].splitlines() if path.exists() else []

    def is_ready(self):
        return all(self.lines(f"{rank}{of}") for rank in range(self.n_ranks) for of in ("", ".child"))

    def signals(self):
        """{rank or "RANK.child": sorted names}. Of two that are pending the lower number comes first, whichever was sent
        first: the order is luck."""
        return {path.name: sorted(line.split()[0] for line in self.lines(path.name)[1:])
                for path in self.folder.iterdir() if path.name != "leave"}

    def send(self, number):
        self.process.send_signal(number)

    def leave(self):
        (self.folder / "leave").touch()

    def finish(self):
        self.ended = tools.finish(self.process, ENDS_S)

    def left_behind(self):
        """Command lines of processes of the job that have not ended."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if f"{MARK}={self.mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found.append((int(folder.name), (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()))
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                pass  # a zombie's environment is empty
        return found

    def kill_left(self):
        for pid, _ in self.left_behind():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


class SignalCase(tools.OwnFolderCase):
    N_RANKS = 2
    IS_STATUS_LUCK = False  # of the launcher, without us as well
    WITHIN = ()  # words of the command before the logger

    def run_both(self, launcher, act, *logger_options):
        """Runs the job plain and wrapped at the same time and lets `act` happen to both. Returns what the plain one and
        what the wrapped one got, after the comparison of everything else."""
        wrapper = (tools.EXEC, "--quiet", "-o", "prof/rank%r", "--")
        jobs = [LoggedJob(name, launcher, words, self.WITHIN, logger_options, self.N_RANKS)
                for name, words in (("plain", ()), ("wrapped", wrapper))]
        for job in jobs:
            self.addCleanup(job.kill_left)
            self.addCleanup(job.process.kill)
        for job in jobs:
            wait_until(job.is_ready, f"{job.folder} is ready")
        for job in jobs:
            act(job)
        for job in jobs:
            job.finish()
        plain, wrapped = jobs
        story = f"\nplain: {plain.ended}\n{plain.signals()}\nwrapped: {wrapped.ended}\n{wrapped.signals()}"
        if not self.IS_STATUS_LUCK:
            self.assertEqual(wrapped.ended.status, plain.ended.status, story)
        self.assertEqual(what_srun_says_of_tasks(wrapped.ended.err), what_srun_says_of_tasks(plain.ended.err), story)
        self.assert_nothing_more_is_left(plain, wrapped)
        return plain.signals(), wrapped.signals()

    def assert_nothing_more_is_left(self, plain, wrapped):
        deadline = time.monotonic() + GONE_S
        while (left := wrapped.left_behind()) and time.monotonic() < deadline:
            time.sleep(0.05)
        if left:
            self.assertTrue(plain.left_behind(), f"left behind: {left}")

    def assert_same_signals(self, launcher, act, *logger_options, times):
        """Both get the same, and each rank's process itself `times` ({name: how often})."""
        plain, wrapped = self.run_both(launcher, act, *logger_options)
        if not {"SIGTERM", "SIGCONT"} & set(times):
            # mpirun sends SIGCONT before SIGTERM; now and then it sends one by itself, to one of two jobs that are alike
            plain, wrapped = ({who: [name for name in got if name != "SIGCONT"] for who, got in job.items()}
                              for job in (plain, wrapped))
        self.assertEqual(wrapped, plain)
        for rank in range(self.N_RANKS):
            for name, count in times.items():
                self.assertEqual(wrapped[str(rank)].count(name), count, f"{name} at rank {rank}: {wrapped}")


    def assert_at_most_once(self, launcher, act, *logger_options, names):
        """For launchers that kill while they still signal: what arrives before the end is luck, but never twice, and
        nothing but `names`."""
        _, wrapped = self.run_both(launcher, act, *logger_options)
        for got in wrapped.values():
            self.assertEqual(len(got), len(set(got)), wrapped)
            self.assertLessEqual(set(got), set(names), wrapped)


def thrice(send):
    """Calls `send` with the job three times, 200 ms apart: repeats are repeats."""
    def act(job):
        for _ in range(3):
            send(job)
            time.sleep(0.2)
    return act
