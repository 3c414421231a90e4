#!/usr/bin/env python3
"""What jaxprof-exec does as the parent of the job: it waits for what it should wait for, reaps, passes signals on to
whoever is left, holds no pipe of the job's open, and does pid 1's duty in a container. No launcher.
"""

import errno
import os
import resource
import select
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

import run_tools as tools
from run_file import RunFile
from run_tools import wait_until

WRAPPER = (tools.EXEC, "--quiet", "-o", "prof/rank")
# Outlives its parent by far, in a session of its own; tells each USR1 and ends with TERM.
DAEMON = """setsid sh -c 'trap "echo usr1 >>daemon.log" USR1; trap "echo term >>daemon.log; exit" TERM
echo $$ >daemon.pid; while :; do sleep 0.02; done' </dev/null >/dev/null 2>&1 &
while [ ! -s daemon.pid ]; do sleep 0.02; done
echo $$ >command.pid
"""


def is_alive(pid):
    """A dead process that nobody has waited for is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def first_line(path):
    return Path(path).read_text().split("\n")[0]


class Wait(tools.OwnFolderCase):
    def daemon(self):
        wait_until(lambda: Path("daemon.pid").exists() and first_line("daemon.pid"), "the daemon runs")
        pid = int(first_line("daemon.pid"))
        self.addCleanup(lambda: is_alive(pid) and os.kill(pid, signal.SIGKILL))
        return pid

    def test_primary_ends_with_the_command(self):
        job = tools.run(*WRAPPER, "--", "sh", "-c", DAEMON + "exit 5")
        self.assert_status(job, 5)
        self.assertTrue(is_alive(self.daemon()), "the daemon is not ours to end")

    def test_all_ends_with_the_last_process_and_passes_signals_on(self):
        wrapper = tools.start(*WRAPPER, "--wait", "all", "--", "sh", "-c", DAEMON + "exit 5")
        daemon = self.daemon()
        wait_until(lambda: Path("command.pid").exists() and first_line("command.pid"), "the command has started it")
        wait_until(lambda: not is_alive(int(first_line("command.pid"))), "the command has ended")
        for count in range(1, 4):
            wrapper.send_signal(signal.SIGUSR1)
            wait_until(lambda: Path("daemon.log").exists() and
                       Path("daemon.log").read_text().count("usr1\n") == count, f"signal {count} arrives")
        self.assertIsNone(wrapper.poll(), "the wrapper waits for the daemon")
        wrapper.send_signal(signal.SIGTERM)
        self.assert_status(tools.finish(wrapper), 5)
        self.assertFalse(is_alive(daemon))
        self.assertEqual(Path("daemon.log").read_text(), "usr1\n" * 3 + "term\n")

    def test_all_ends_at_once_where_nothing_is_left(self):
        self.assert_status(tools.run(*WRAPPER, "--wait", "all", "--", "sh", "-c", "kill -TERM $$"), -signal.SIGTERM)

    def test_all_does_not_wait_for_earlier_children(self):
        """Those of a shell that became jaxprof-exec are not the job's."""
        shell = 'sleep 1000 </dev/null >/dev/null 2>&1 & echo $! >earlier; exec "$@"'
        job = tools.start("sh", "-c", shell, "sh", *WRAPPER, "--wait", "all", "--", "sh", "-c", "exit 5")
        self.addCleanup(lambda: os.kill(int(Path("earlier").read_text()), signal.SIGKILL))
        self.assertEqual(job.wait(tools.LIMIT_SECONDS), 5)
        job.stdout.close()
        job.stderr.close()


class Stop(tools.OwnFolderCase):
    """The test is the shell: a parent of another process group in the session, without which a group cannot be stopped."""

    def state(self, pid):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]

    def start(self):
        wrapper = subprocess.Popen((*WRAPPER, "--", "sh", "-c", "echo $$ >job; while :; do sleep 0.02; done"),
                                   env=tools.environment(), stdin=subprocess.DEVNULL, preexec_fn=os.setpgrp)
        self.addCleanup(wrapper.wait)
        self.addCleanup(lambda: wrapper.poll() is None and os.killpg(wrapper.pid, signal.SIGKILL))
        wait_until(lambda: Path("job").exists() and first_line("job"), "the job runs")
        return wrapper.pid, int(first_line("job"))

    def test_of_the_group_stops_both_and_goes_on(self):
        wrapper, job = self.start()
        for _ in range(2):
            os.killpg(wrapper, signal.SIGTSTP)
            for pid in (wrapper, job):
                wait_until(lambda pid=pid: self.state(pid) == "T", "it stops")
            os.killpg(wrapper, signal.SIGCONT)
            for pid in (wrapper, job):
                wait_until(lambda pid=pid: self.state(pid) in "SRD", "it goes on")

    def wait_for_states(self, states, *pids):
        for pid in pids:
            wait_until(lambda pid=pid: self.state(pid) in states, f"a state of {states}")

    def test_of_the_wrapper_alone_is_the_jobs(self):
        wrapper, job = self.start()
        os.kill(wrapper, signal.SIGTSTP)
        self.wait_for_states("T", job, wrapper)
        os.kill(wrapper, signal.SIGCONT)
        self.wait_for_states("SRD", job, wrapper)

    def test_of_the_job_is_the_wrappers(self):
        """And whoever sets the job going again, or kills it, need not know of the wrapper."""
        wrapper, job = self.start()
        for _ in range(2):
            os.kill(job, signal.SIGSTOP)
            self.wait_for_states("T", job, wrapper)
            os.kill(job, signal.SIGCONT)
            self.wait_for_states("SRD", job, wrapper)
        os.kill(job, signal.SIGSTOP)
        self.wait_for_states("T", wrapper)
        os.kill(job, signal.SIGKILL)
        wait_until(lambda: not is_alive(wrapper), "the wrapper ends too")


class OwnGroup(tools.OwnFolderCase):
    """A command that has left the process group that a shell (the test) made for it."""

    JOB = """
import os, signal, sys
os.setpgrp()
watched = {signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT}
signal.pthread_sigmask(signal.SIG_BLOCK, watched)
child = os.fork()
log = os.open("child" if child == 0 else "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.write(log, f"{os.getpid()}\\n".encode())
while True:
    got = signal.sigwait(watched)
    os.write(log, f"{signal.Signals(got).name}\\n".encode())
    if got == signal.SIGUSR2 and child:
        os.waitpid(child, 0)
    if got == signal.SIGUSR2:
        sys.exit(7)
"""

    def setUp(self):
        super().setUp()
        self.wrapper = subprocess.Popen((*WRAPPER, "--", "/usr/bin/python3", "-c", self.JOB),
                                        env=tools.environment(), stdin=subprocess.DEVNULL, preexec_fn=os.setpgrp)
        self.addCleanup(self.wrapper.wait)
        self.addCleanup(self.wrapper.kill)
        for name in ("log", "child"):
            wait_until(lambda name=name: Path(name).exists() and "\n" in Path(name).read_text(), "the job runs")

    def got(self, name):
        return Path(name).read_text().split()[1:]

    def test_gets_a_signal_to_the_group_once_with_its_children(self):
        os.killpg(self.wrapper.pid, signal.SIGUSR1)
        for name in ("log", "child"):
            wait_until(lambda name=name: self.got(name), "the signal arrives")
        os.killpg(self.wrapper.pid, signal.SIGUSR2)  # a second USR1 would come before this
        self.assertEqual(self.wrapper.wait(tools.LIMIT_SECONDS), 7)
        self.assertEqual([self.got("log"), self.got("child")], [["SIGUSR1", "SIGUSR2"]] * 2)

    def test_gets_a_signal_to_the_task_alone(self):
        self.wrapper.send_signal(signal.SIGUSR1)
        wait_until(lambda: self.got("log"), "the signal arrives")
        os.killpg(self.wrapper.pid, signal.SIGUSR2)
        self.assertEqual(self.wrapper.wait(tools.LIMIT_SECONDS), 7)
        self.assertEqual([self.got("log"), self.got("child")], [["SIGUSR1", "SIGUSR2"], ["SIGUSR2"]])


class OtherUser(tools.OwnFolderCase):
    """A set-uid program that has made itself root entirely, as sudo does, under a wrapper that is nobody's."""

    JOB = "import os, time; os.setuid(0); open('job', 'w').write('runs'); time.sleep(3); os._exit(5)"

    @unittest.skipUnless(os.getuid() == 0, "takes root to make a set-uid program")
    def test_that_a_signal_is_refused_is_told_once(self):
        shutil.copy(os.path.realpath("/usr/bin/python3"), "python")
        os.chmod("python", 0o4755)
        os.chmod(".", 0o777)
        wrapper = subprocess.Popen((*WRAPPER, "--", "./python", "-I", "-c", self.JOB), user=65534, group=65534,
                                   env=tools.environment(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(wrapper.kill)
        wait_until(lambda: Path("job").exists() or wrapper.poll() is not None, "the job runs")
        for _ in range(2):
            wrapper.send_signal(signal.SIGTERM)
            time.sleep(0.2)
        said = wrapper.communicate(timeout=tools.LIMIT_SECONDS)[1].decode()
        self.assertEqual(wrapper.returncode, 5, said)
        self.assertEqual(said.count("the command runs as another user: SIGTERM could not be passed on"), 1, said)


class LongCommand(tools.OwnFolderCase):
    def test_that_leaves_no_room_for_the_variables_runs_without_them(self):
        """Fills what the kernel gives to arguments and environment (a quarter of the stack) to the last word."""
        show = 'env | grep -c "^JAXPROF_SESSION"; exit 7'
        
        def limit():
            resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))
        words = (*WRAPPER, "--", "sh", "-c", show)

        def run(n_words):
            try:
                return subprocess.run((*words, *["x" * 100] * n_words), env={"PATH": os.environ["PATH"]}, preexec_fn=limit,
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            except OSError as error:
                self.assertEqual(error.errno, errno.E2BIG)
                return None
        fits, too_long = 0, 1 << 12
        while too_long - fits > 1:
            middle = (fits + too_long) // 2
            fits, too_long = (fits, middle) if run(middle) is None else (middle, too_long)
        job = run(fits)
        self.assertEqual((job.returncode, job.stdout), (7, "0\n"), job.stderr)
        self.assertIn("runs unprofiled: with the agent's variables the command", job.stderr)


class Descriptors(tools.OwnFolderCase):
    """One more pipe than the three standard streams, as launchers and shells hand down."""

    def start(self, script):
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        wrapper = subprocess.Popen((*WRAPPER, "--", "bash", "-c", script, "bash", str(writing)), pass_fds=[writing],
                                   env=tools.environment(), stdin=subprocess.DEVNULL)
        os.close(writing)

        def end():
            wrapper.kill()
            wrapper.wait()
        self.addCleanup(end)
        return wrapper, reading

    def read(self, descriptor):
        ready, _, _ = select.select([descriptor], [], [], tools.LIMIT_SECONDS)
        self.assertTrue(ready, "somebody still holds the pipe open")
        return os.read(descriptor, 100)

    def test_are_the_jobs(self):
        wrapper, reading = self.start("echo from the job >&$1; exit 4")
        self.assertEqual(self.read(reading), b"from the job\n")
        self.assertEqual(self.read(reading), b"")
        self.assertEqual(wrapper.wait(tools.LIMIT_SECONDS), 4)

    def test_are_closed_when_the_job_closes_them(self):
        wrapper, reading = self.start("eval \"exec $1>&-\"; exec sleep 1000")
        self.assertEqual(self.read(reading), b"", "the end of the pipe while the job still runs")
        self.assertIsNone(wrapper.poll())


class HardKill(tools.OwnFolderCase):
    def kill_wrapper(self, **variables):
        """The pid of a job whose wrapper was killed."""
        as_task_of_srun = ("sh", "-c", 'export SLURM_TASK_PID=$$; exec "$@"', "sh") if variables else ()
        wrapper = subprocess.Popen((*as_task_of_srun, *WRAPPER, "--", "sh", "-c", "echo $$ >job; exec sleep 1000"),
                                   env=tools.environment(**variables), stdin=subprocess.DEVNULL)
        wait_until(lambda: Path("job").exists() and first_line("job"), "the job runs")
        job = int(first_line("job"))
        self.addCleanup(lambda: is_alive(job) and os.kill(job, signal.SIGKILL))
        wrapper.kill()
        wrapper.wait()
        return job

    def test_takes_the_job_along(self):
        job = self.kill_wrapper()
        wait_until(lambda: not is_alive(job), "the job is gone")

    def test_leaves_the_job_to_slurm_which_cleans_up_itself(self):
        job = self.kill_wrapper(SLURM_JOB_ID="1", SLURM_STEP_ID="0", SLURM_PROCID="0", SLURM_STEP_NUM_TASKS="1")
        time.sleep(0.5)
        self.assertTrue(is_alive(job))


class Pid1(tools.OwnFolderCase):
    """The wrapper as the first process of a pid namespace, as in a pod."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.unshare = ("unshare", "--pid", "--fork", "--mount-proc")
        can_unshare = subprocess.run((*cls.unshare, "true"), check=False).returncode == 0
        tools.require("slurm", can_unshare, "no pid namespace can be made")

    def run_job(self, script, output="prof/rank"):
        return tools.run(*self.unshare, tools.EXEC, "--quiet", "-o", output, "--", "sh", "-c", script)

    def test_passes_the_status_on(self):
        self.assert_status(self.run_job("exit 7"), 7)
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV):
            self.assert_status(self.run_job(f"kill -{int(number)} $$", f"prof.{number}/rank"), 128 + number)

    def test_two_containers_of_a_node_are_two_tasks(self):
        """Their wrappers have one process id and one boot id."""
        for rank in (0, 1):
            job = tools.run(*self.unshare, tools.EXEC, "--quiet", "-o", "prof/rank%r", "--", tools.NVTX_PUPPET,
                            "--scenarios", "nested", "--out", "account",
                            env=tools.environment(JAXPROF_RANK=rank, JAXPROF_WORLD_SIZE=2, JAXPROF_RUN="pods"))
            self.assert_status(job, 0)
        self.assert_status(tools.merge("prof"), 0)
        with RunFile("run.h5") as run:
            tasks = run.rows("job/tasks")
            self.assertEqual([(task["rank"], task["state"]) for task in tasks], [(0, "profiled"), (1, "profiled")])
            self.assertEqual([(row["rank"], tasks[row["task"]]["rank"]) for row in run.rows("job/processes")],
                             [(0, 0), (1, 1)])

    def test_reaps_orphans(self):
        orphans = "for i in 1 2 3 4 5; do sh -c 'sleep 0.01 & exec true'; done\n"
        check = """i=0; while grep -ls '^State:.Z' /proc/[0-9]*/status >zombies; do
            i=$((i+1)); [ $i -lt 500 ] || exit 9; sleep 0.02; done; exit 3"""
        self.assert_status(self.run_job(orphans + check), 3)

    def start_listener(self):
        job = tools.start(*self.unshare, *WRAPPER, "--", "sh", "-c",
                          "trap 'echo term >>log' TERM; trap 'exit 3' USR1; echo ready >>log; while :; do sleep 0.02; done")
        self.addCleanup(job.kill)
        wait_until(lambda: Path("log").exists(), "the job listens")
        return job, int(Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text())

    def test_passes_a_signal_on_once(self):
        job, first_process = self.start_listener()
        os.kill(first_process, signal.SIGTERM)
        wait_until(lambda: "term" in Path("log").read_text(), "TERM arrives")
        os.kill(first_process, signal.SIGUSR1)  # a second TERM would come before this
        self.assert_status(tools.finish(job), 3)
        self.assertEqual(Path("log").read_text(), "ready\nterm\n")

    def test_passes_a_signal_of_its_own_namespace_on(self):
        job = self.run_job("trap 'exit 4' TERM; kill -TERM 1; while :; do sleep 0.02; done")
        self.assert_status(job, 4)


class Advice(tools.OwnFolderCase):
    MPIRUN = ("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", "true")

    def test_says_how_to_write_it(self):
        job = tools.run(tools.EXEC, "-o", "prof/rank%r", "--", *self.MPIRUN)
        self.assert_status(job, 0)
        advice = [line for line in job.lines_of_jaxprof() if "write instead: " in line]
        self.assertEqual(len(advice), 1, str(job))
        words = advice[0].partition("write instead: ")[2].split()
        self.assertEqual(words, [*self.MPIRUN[:-1], "jaxprof-exec", "-o", "prof/rank%r", "--", "true"])

    def test_is_silent_if_asked(self):
        self.assertEqual(tools.run(tools.EXEC, "--quiet", "-o", "prof/rank%r", "--", *self.MPIRUN).err, "")


if __name__ == "__main__":
    unittest.main()
