"""Whose rank was it? Base of tests that start a small program under some launcher and compare what the run file says of
each process with what the process wrote down itself.

rank.sh writes its environment to env.HOST.PID and becomes tick_puppet, which marks N_TICKS times.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import run_tools as tools
from run_file import RunFile

TICK_PUPPET = tools.BIN / "tick_puppet"
N_TICKS = 5
PROGRAM = "./rank.sh"
PROGRAM_SCRIPT = f"#!/bin/sh\nenv >env.$(hostname).$$\nexec {TICK_PUPPET} ${{1:-{N_TICKS}}} 200 log.$(hostname).$$\n"


@dataclass(frozen=True)
class Place:
    """Where a rank belongs; None is what the launcher does not tell."""

    host: str
    local_rank: int = None
    node_index: int = None


def write_script(path, text):
    Path(path).write_text(text)
    Path(path).chmod(0o755)


def environment_of(host, pid):
    """What the process wrote down."""
    lines = Path(f"env.{host}.{pid}").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


class LauncherCase(tools.OwnFolderCase):
    def setUp(self):
        super().setUp()
        write_script(PROGRAM, PROGRAM_SCRIPT)

    def run_ids(self, directory="prof"):
        return sorted(path.name.removeprefix(".run-") for path in Path(directory).glob(".run-*"))

    def spools(self, directory="prof"):
        return sorted(path.name for path in Path(directory).glob("*.jxspool*"))

    def starts(self, run_id, directory="prof"):
        """Start records of the run's tasks."""
        return [json.loads(path.read_text()) for path in Path(directory, f".run-{run_id}").glob("task.*.start.json")]

    def assert_one_run(self, pattern, directory="prof"):
        ids = self.run_ids(directory)
        self.assertEqual(len(ids), 1, ids)
        self.assertRegex(ids[0], f"^{pattern}$")
        return ids[0]

    def assert_run(self, run_id, launcher, places, name="rank%d", directory="prof", n_ticks=lambda rank: N_TICKS,
                   world_size="all"):
        """The run has one process for each rank in `places`, in its place, under its name; the variable that is said to
        have told the rank did so."""
        merged = tools.merge(directory, "--run", run_id, output=f"{run_id}.h5")
        self.assert_status(merged, tools.DONE)
        world_size = len(places) if world_size == "all" else world_size
        with RunFile(f"{run_id}.h5") as run:
            self.assertEqual((run.file.attrs["run_id"], run.file.attrs["launcher"]), (run_id, launcher))
            hosts = [node["host"] for node in run.rows("job/nodes")]
            processes = run.rows("job/processes")
            self.assertEqual({row["rank"]: (hosts[row["node"]], row["local_rank"]) for row in processes},
                             {rank: (place.host, place.local_rank) for rank, place in places.items()})
            self.assertEqual(sorted(row["spool"] for row in processes),
                             sorted(f"{name % rank}.jxspool" for rank in places))
            self.assertEqual([task["state"] for task in run.rows("job/tasks")], ["profiled"] * len(places))
            for row in processes:
                own = environment_of(hosts[row["node"]], row["pid"])
                self.assertEqual(own[row["rank_source"]], str(row["rank"]))
                self.assertEqual((row["world_size"], row["n_events"]), (world_size, n_ticks(row["rank"])), row)
        self.assertEqual({start["rank"]: start["node_index"] for start in self.starts(run_id, directory)},
                         {rank: -1 if place.node_index is None else place.node_index for rank, place in places.items()})

    def assert_two_lines(self, text, n_runs=1):
        """The job's two lines and nothing else of jaxprof, n_runs times."""
        lines = [line for line in text.splitlines() if re.match(r"jaxprof", line)]
        self.assertEqual(len(lines), 2 * n_runs, text)
