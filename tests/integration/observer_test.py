#!/usr/bin/env python3
"""The observers of a job's nodes (jaxprof-netsampler): one a node and run, whoever starts it and whoever is killed; the
launcher does not wait for them and nothing of them is left; what they counted is what a witness on the node counted, to
the last second before they were killed.

Run once a proctrack plugin (linuxproc, cgroup): they differ in how a batch system ends an observer that it finds.
"""

import random
import shutil
import signal
import time
import unittest
from pathlib import Path

import observed_nodes as nodes
import run_tools as tools
import ticks
from clock_spool import NodeSpool
from run_file import RunFile
from run_tools import wait_until

# A task that says "ready.NAME.RANK: PPID PID" and waits for the file NAME.go.
TASK = "./task.sh"
TASK_SCRIPT = f"""#!/bin/sh
{tools.BIN}/tick_puppet 20 1000 /dev/null
rank=${{OMPI_COMM_WORLD_RANK:-$SLURM_PROCID}}
echo $PPID $$ >writing.$1.$rank && mv writing.$1.$rank ready.$1.$rank
until [ -e $1.go ]; do sleep 0.1; done
"""
NAME = "prof"  # of a test's first run and its directory
BLOCK_NS = 1_000_000_000  # from one block of a spool to the next
# Beyond that: a machine with fewer processors than processes that want one, of which the observer is the last.
PATIENCE_NS = 1_000_000_000
N_KILLS = 3  # of each observer
LONGEST_LIFE_S = 1.5


class Step:
    """A step whose tasks wait, and what was started for it in the background."""

    def __init__(self, process, name=NAME, n_tasks=4):
        self.process = process
        self.name = name
        self.n_tasks = n_tasks

    def wait_for_tasks(self):
        """{rank: (number of its parent, of itself)}, as its node counts."""
        files = [Path(f"ready.{self.name}.{rank}") for rank in range(self.n_tasks)]
        wait_until(lambda: all(file.exists() for file in files) or self.process.poll() is not None, f"{self.name} is ready")
        return {rank: tuple(map(int, file.read_text().split())) for rank, file in enumerate(files)}

    @property
    def run_id(self):
        return nodes.run_of(self.name)

    def observers(self):
        return nodes.observers(self.run_id)

    def wait_for_observers(self, *wanted, segment=0):
        """The observer of each of the nodes once it has written; there is no other, but for the moment in which one finds
        that another was faster."""
        def are_there():
            spools, found = nodes.node_spools(self.name), self.observers()
            have_written = all(len(spools.get(node, ())) > segment and spools[node][segment].stat().st_size
                               for node in wanted)
            return found if have_written and [one.node for one in found] == list(wanted) else None

        found = wait_until(are_there, f"{self.name} has one observer on each of {wanted}")
        return {one.node: one for one in found}

    def finish(self):
        Path(f"{self.name}.go").touch()
        return tools.finish(self.process)


def exec_words(*options, name=NAME, command=None):
    return (tools.EXEC, "-o", f"{name}/rank%r", "--spool", nodes.SPOOL_BASE, *options, "--", *(command or (TASK, name)))


class ObserverCase(tools.OwnFolderCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for node in nodes.NODES:
            nodes.spool_base(node).mkdir()
        cls.witnesses = {node: nodes.Witness(node, cls.folder) for node in nodes.NODES}

    @classmethod
    def tearDownClass(cls):
        for witness in cls.witnesses.values():
            witness.stop()
        for node in nodes.NODES:
            shutil.rmtree(nodes.spool_base(node))
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        Path(TASK).write_text(TASK_SCRIPT)
        Path(TASK).chmod(0o755)

    def start(self, *options, layout=("-N2", "--ntasks-per-node=2"), name=NAME):
        """A step of two nodes, under srun."""
        per_node = int(layout[-1].rpartition("=")[2])
        process = tools.start("srun", "--mpi=none", *layout, *exec_words(*options, name=name))
        self.addCleanup(process.kill)
        return Step(process, name, len(nodes.NODES) * per_node)

    def start_batch(self, script):
        Path("job.sh").write_text(f"#!/bin/sh\n{script}\n")
        process = tools.start("sbatch", "--wait", "-N2", "--ntasks-per-node=2", "-o", "job.out", "job.sh")
        self.addCleanup(process.terminate)
        return process

    def merge(self, step, statuses=(tools.DONE,)):
        merged = tools.merge(step.name, "-f", output=f"{step.name}.h5")
        self.assertIn(merged.status, statuses, str(merged))
        run = RunFile(f"{step.name}.h5")
        self.addCleanup(run.close)
        return run

    def assert_nothing_is_left(self, run_id):
        wait_until(lambda: not nodes.observers(run_id), f"the end of the observers of {run_id}")
        wait_until(lambda: not nodes.left_on_nodes(run_id), f"the removal of what {run_id} had on its nodes")

    def assert_segments(self, run, segments):
        """{node: how many observers it had, one after the other}."""
        observations = nodes.observations(run)
        self.assertEqual({node: [row["segment"] for row in rows] for node, rows in observations.items()},
                         {node: list(range(count)) for node, count in segments.items()})
        return observations

    def assert_counted(self, run, *wanted):
        """On these nodes, and on no other, the interface was read, and each value is what the witness saw. Returns the
        ports."""
        ports = nodes.ports(run)
        self.assertEqual(sorted(ports), list(wanted))
        for node, port in ports.items():
            self.assertEqual(port.nic["source"], "netdev")
            account = nodes.Account(self.witnesses[node].readings_beyond(port.rows[-1]["end_ns"]))
            for row in port.rows:
                for name, (least, most) in account.bounds(row["begin_ns"], row["end_ns"]).items():
                    self.assertTrue(least <= row[name] <= most, f"{node} {name}: {least} {row} {most}")
        return ports

    def assert_counted_on(self, run, *wanted):
        """The same of observers that have lived for a while."""
        ports = self.assert_counted(run, *wanted)
        for port in ports.values():
            self.assertGreater(port.rows[-1]["tx_bytes"], port.rows[0]["tx_bytes"])
        return ports

    def assert_counted_until(self, port, end_ns, since_ns=0):
        """What an observer has counted that was killed between the two times of end_ns, and the one before it at since_ns
        or there was none: it has lost no more than its last block."""
        before_ns, after_ns = end_ns
        last = port.between(since_ns, after_ns)[-1]
        self.assertGreaterEqual(last["begin_ns"] + port.nic["period_ns"] + BLOCK_NS + PATIENCE_NS, before_ns)


    def wait_until_clocks_are_compared(self):
        """Of both nodes, each by the other, and that of rank 0 is the reference."""
        def are_compared():
            spools = {node: NodeSpool(paths[0]) for node, paths in nodes.node_spools(NAME).items()}
            return spools if all(any(burst.exchanges for burst in spool.bursts) and spool.peers[-1]["host"] == other
                                 and spool.peers[-1]["is_reference"] == int(other == "n1")
                                 for spool, other in ((spools["n1"], "n2"), (spools["n2"], "n1"))) else None

        spools = wait_until(are_compared, "the nodes ask each other's clocks")
        self.assertEqual({node: spool.services[-1]["is_reference"] for node, spool in spools.items()},
                         {"n1": 1, "n2": 0})


class Observers(ObserverCase):
    def test_one_a_node_where_local_rank_0_is_not_selected(self):
        """And srun ends although one of them cannot: it is stopped."""
        step = self.start("--local-ranks", "1")
        tasks = step.wait_for_tasks()
        found = step.wait_for_observers(*nodes.NODES)
        self.assertEqual({node: one.starter for node, one in found.items()}, {"n1": 1, "n2": 3})
        spools = nodes.node_spools(NAME)
        for node, (wrapper, _) in (("n1", tasks[1]), ("n2", tasks[3])):
            children = nodes.on_node(node, "cat", f"/proc/{wrapper}/task/{wrapper}/children").out.split()
            names = [nodes.on_node(node, "cat", f"/proc/{child}/comm").out.strip() for child in children]
            self.assertNotIn("jaxprof-netsamp", names)
            nodes.wait_until_it_grows(spools[node][0])
        stopped = found["n2"]
        stopped.send(signal.SIGSTOP)
        wait_until(stopped.is_stopped, "the stop")
        ended = step.finish()
        self.assert_status(ended, 0)
        self.assertEqual(len(ended.lines_of_jaxprof()), 2, str(ended))
        if stopped in step.observers():  # unless the batch system has killed it
            self.assertTrue(stopped.is_stopped())
            stopped.send(signal.SIGCONT)
        self.assert_nothing_is_left(step.run_id)
        self.assertEqual({node: len(paths) for node, paths in nodes.node_spools(NAME).items()}, {"n1": 1, "n2": 1})
        run = self.merge(step)
        for (observer,) in self.assert_segments(run, {"n1": 1, "n2": 1}).values():
            self.assertEqual(observer["is_shared"], 0)
            if observer["is_complete"]:
                self.assertGreater(observer["ticks"], 0)
        self.assert_counted_on(run, *nodes.NODES)
        self.assertEqual(run.diagnostics("node.gap"), [])

    def test_all_tasks_of_a_node_are_unselected(self):
        """One task a node. Of the node that is not traced the ports are read, not the GPUs. Where the batch system kills
        the observer with that node's last process nobody is left to remove their folder; the next run's observer does."""
        step = self.start("--ranks", "0", "--nic-nodes", "all", layout=("-N2", "--ntasks-per-node=1"))
        step.wait_for_tasks()
        found = step.wait_for_observers(*nodes.NODES)
        self.assertEqual({node: one.starter for node, one in found.items()}, {"n1": 0, "n2": 1})
        nodes.wait_until_it_grows(nodes.node_spools(NAME)["n2"][0])
        self.assert_status(step.finish(), 0)
        wait_until(lambda: not step.observers(), "the end of the observers")
        if nodes.left_on_nodes(step.run_id) == {("n2", nodes.node_folder(step.run_id))}:
            self.start("--nic-nodes", "all", name="later", layout=("-N2", "--ntasks-per-node=1")).finish()
        self.assert_nothing_is_left(step.run_id)
        run = self.merge(step)
        self.assert_segments(run, {"n1": 1, "n2": 1})
        self.assert_counted_on(run, *nodes.NODES)
        self.assertEqual([(row["rank"], row["state"]) for row in run.rows("job/tasks")], [(0, "profiled")])
        hosts = [row["host"] for row in run.rows("job/nodes")]
        about_gpus = {hosts[row["node"]] for row in run.diagnostics("gpu.not-watched")}
        self.assertEqual(about_gpus, {"n1"}, run.rows("diagnostics"))

    def test_two_steps_at_once(self):
        """Both count the traffic of both and say so, and the later reads half as often."""
        srun = "srun --mpi=none --overlap --mem=0 -N2 --ntasks-per-node=1"
        words = {name: " ".join(map(str, (srun, *exec_words(name=name)))) for name in ("first", "second")}
        job = self.start_batch(f"{words['first']} &\nuntil [ -e second.may ]; do sleep 0.1; done\n"
                               f"{words['second']} &\nwait")
        first, second = (Step(job, name, n_tasks=2) for name in words)
        first.wait_for_tasks()
        first.wait_for_observers(*nodes.NODES)
        Path("second.may").touch()
        second.wait_for_tasks()
        second.wait_for_observers(*nodes.NODES)
        first.wait_for_observers(*nodes.NODES)

        def is_told():
            rows = self.merge(first, (tools.DONE, tools.PARTIAL)).rows("job/observers")
            return [row["is_shared"] for row in rows] == [1, 1]

        nodes.wait_until_it_grows(nodes.node_spools("first")["n1"][0], times=4)  # it looks every five seconds
        wait_until(is_told, "the first run tells of the second")
        Path("second.go").touch()
        self.assert_status(first.finish(), 0)
        periods = []
        for step in (first, second):
            self.assert_nothing_is_left(step.run_id)
            run = self.merge(step)
            observations = self.assert_segments(run, {"n1": 1, "n2": 1})
            self.assertEqual([row["is_shared"] for rows in observations.values() for row in rows], [1, 1])
            self.assertEqual(len(run.diagnostics("node.shared")), 2)
            ports = self.assert_counted_on(run, *nodes.NODES)
            periods.append({node: port.nic["period_ns"] for node, port in ports.items()})
        self.assertEqual(periods[1], {node: 2 * period for node, period in periods[0].items()})

    def test_owner_is_killed(self):
        """On one node the observer, on the other first the wrapper that had started it: the others take over."""
        step = self.start()
        tasks = step.wait_for_tasks()
        found = step.wait_for_observers(*nodes.NODES)
        spools = nodes.node_spools(NAME)
        ends = {"n1": nodes.kill(found["n1"])}
        starter = found["n2"].starter
        self.assertIn(starter, (2, 3))
        self.assert_status(nodes.on_node("n2", "kill", "-9", tasks[starter][0]), 0)
        nodes.wait_until_it_grows(spools["n2"][0])  # another task of the node is left: it goes on
        ends["n2"] = nodes.kill(found["n2"])
        later = step.wait_for_observers(*nodes.NODES, segment=1)
        self.assertEqual(later["n2"].starter, {2: 3, 3: 2}[starter])
        for node in nodes.NODES:
            nodes.wait_until_it_grows(nodes.node_spools(NAME)[node][1])
        self.assert_status(step.finish(), 128 + signal.SIGKILL)
        wait_until(lambda: not step.observers(), "the end of the observers")
        for node in nodes.NODES:
            collected = nodes.on_node(node, tools.BIN / "jaxprof", "collect", Path(NAME).absolute())
            self.assert_status(collected, tools.DONE)
        self.assert_nothing_is_left(step.run_id)
        run = self.merge(step)
        observations = self.assert_segments(run, {"n1": 2, "n2": 2})
        ports = self.assert_counted_on(run, *nodes.NODES)
        hosts = [row["host"] for row in run.rows("job/nodes")]
        for code in ("node.gap", "node.killed"):
            self.assertLessEqual(set(nodes.NODES), {hosts[row["node"]] for row in run.diagnostics(code)}, code)
        for node in nodes.NODES:
            self.assertEqual(observations[node][0]["is_complete"], 0)
            self.assert_counted_until(ports[node], ends[node])

    def test_mpirun_in_a_batch_script(self):
        words = " ".join(map(str, exec_words()))
        step = Step(self.start_batch(f"mpirun --allow-run-as-root -n 4 {words}"))
        step.wait_for_tasks()
        step.wait_for_observers(*nodes.NODES)
        self.wait_until_clocks_are_compared()
        ended = step.finish()
        self.assertEqual(ended.status, 0, Path("job.out").read_text())
        self.assert_nothing_is_left(step.run_id)
        run = self.merge(step)
        self.assert_segments(run, {"n1": 1, "n2": 1})
        self.assert_counted_on(run, *nodes.NODES)


class Asked(ObserverCase):
    """For what is to be read, and where, of a job that ends at once."""

    def run_job(self, *options, env=None):
        """{node: how many observers it had} of a job of one task a node, and what the job said."""
        ticks_at_once = (tools.BIN / "tick_puppet", 20, 1000, "/dev/null")
        ended = tools.run("srun", "--mpi=none", "-N2", "--ntasks-per-node=1", *exec_words(*options, command=ticks_at_once),
                          env=env)
        self.assert_status(ended, 0)
        self.assert_nothing_is_left(nodes.run_of(NAME))
        return {node: len(paths) for node, paths in nodes.node_spools(NAME).items()}, ended

    def test_traced_nodes_alone(self):
        found, _ = self.run_job("--ranks", "1")
        self.assertEqual(found, {"n2": 1})

    def test_no_ports(self):
        found, _ = self.run_job("--nic-nodes", "none")
        self.assertEqual(found, {"n1": 1, "n2": 1})
        self.assert_status(tools.merge(NAME), tools.DONE)
        with RunFile("run.h5") as run:
            self.assertEqual(run.rows("job/nics"), [])
            self.assertEqual(len(run.diagnostics("node.not-sampled")), 2)

    def test_neither_ports_nor_gpus(self):
        """What the tasks record is of two nodes, whose clocks are compared."""
        found, _ = self.run_job("-t", "nvtx")
        self.assertEqual(found, {"n1": 1, "n2": 1})

    def test_neither_ports_nor_gpus_nor_clocks(self):
        found, _ = self.run_job("-t", "nvtx", "--clock", "off")
        self.assertEqual(found, {})

    def test_a_program_that_is_not_there(self):
        found, ended = self.run_job(env=tools.environment(JAXPROF_NETSAMPLER="/no/such/program"))
        self.assertEqual(found, {})
        lines = [line for line in ended.lines_of_jaxprof() if "/no/such/program" in line]
        self.assertEqual(len(lines), 1, str(ended))
        self.assertEqual(len(ended.lines_of_jaxprof()), 3, str(ended))


class Killed(ObserverCase):
    """At random instants."""

    def test_observers(self):
        """Of two runs at once, again and again: each second is there."""
        lives = random.Random(f"{ticks.SEED} observers")
        steps = [self.start(name=f"run{number}") for number in range(2)]
        for step in steps:
            step.wait_for_tasks()
        ends = []  # {(run, node): (before, after) it was killed}, by segment
        for segment in range(N_KILLS):
            found = {(step.name, node): observer for step in steps
                     for node, observer in step.wait_for_observers(*nodes.NODES, segment=segment).items()}
            ends.append({})
            for key, observer in found.items():
                time.sleep(lives.uniform(0, LONGEST_LIFE_S) / len(found))
                ends[-1][key] = nodes.kill(observer)
        for step in steps:
            step.wait_for_observers(*nodes.NODES, segment=N_KILLS)
        for step in steps:
            self.assert_status(step.finish(), 0)
            self.assert_nothing_is_left(step.run_id)
            run = self.merge(step)
            observations = self.assert_segments(run, {node: N_KILLS + 1 for node in nodes.NODES})
            ports = self.assert_counted_on(run, *nodes.NODES)
            for node, rows in observations.items():
                before_ns = 0
                for segment in range(N_KILLS):
                    end_ns = ends[segment][step.name, node]
                    self.assertEqual(rows[segment]["is_complete"], 0)
                    self.assert_counted_until(ports[node], end_ns, before_ns)
                    before_ns = end_ns[1]

    def test_step(self):
        """With all that Slurm finds of it."""
        lives = random.Random(f"{ticks.SEED} step")
        steps = [self.start(name=f"run{number}", layout=("-N2", "--ntasks-per-node=1")) for number in range(3)]
        for step in steps:
            step.wait_for_tasks()
            step.wait_for_observers(*nodes.NODES)
        before_ns = {}
        for step in steps:
            time.sleep(lives.uniform(0, LONGEST_LIFE_S) / len(steps))
            before_ns[step.name] = time.clock_gettime_ns(time.CLOCK_REALTIME)
            self.assert_status(tools.run("scancel", "-s", "KILL", step.run_id.rpartition(".")[0]), 0)
        for step in steps:
            self.assertNotEqual(tools.finish(step.process).status, 0)
            wait_until(lambda: not step.observers(), "the end of the observers")
            for node in nodes.NODES:
                self.assert_status(nodes.on_node(node, tools.BIN / "jaxprof", "collect", Path(step.name).absolute()),
                                   tools.DONE)
            self.assert_nothing_is_left(step.run_id)
            run = self.merge(step, (tools.DONE, tools.PARTIAL))
            self.assert_segments(run, {"n1": 1, "n2": 1})
            for port in self.assert_counted(run, *nodes.NODES).values():
                self.assert_counted_until(port, (before_ns[step.name], time.clock_gettime_ns(time.CLOCK_REALTIME)))


if __name__ == "__main__":
    unittest.main()
