#!/usr/bin/env python3
"""Run the benches and compare their ratios with ratios.txt.

Absolute times say little on a shared machine; the ratio to a limit measured in the same run says more, and still
scatters. So a ratio fails only when it is twice as bad as the one on record, and a bench is tried up to three times.
A figure that a bench no longer prints fails as well.

    check_ratios.py BIN LIB      exit 0 all within the slack, 1 not
"""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SLACK = 2.0
ATTEMPTS = 3


def read_records(path):
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            bench, figure, better, value = line.split()
            yield bench, figure, better, float(value)


def run_bench(command):
    """Its figures by name; a bench that fails has none."""
    result = subprocess.run(command, stdout=subprocess.PIPE, check=False, timeout=200)
    text = result.stdout.decode()
    print(text, end="")
    if result.returncode != 0:
        print(f"{command[0]} failed with {result.returncode}")
        return {}
    return {name: float(value) for name, value in re.findall(r"^(\S+)\s+(-?[0-9.]+)", text, re.M)}


def is_within(figure, better, value):
    return figure <= value * SLACK if better == "lower" else figure >= value / SLACK


def main():
    binaries, libraries = map(pathlib.Path, sys.argv[1:3])
    here = pathlib.Path(__file__).resolve().parent
    records = list(read_records(here / "ratios.txt"))
    python = subprocess.run(["bash", here.parent / "setup.sh", "--path", "python"], stdout=subprocess.PIPE,
                            check=True).stdout.decode().strip()
    if not pathlib.Path(python).exists() and "jax" not in os.environ.get("JAXPROF_REQUIRE", "").split(","):
        print(f"skipped: annotate_bench, since there is no {python}; run: bash tests/setup.sh jax")
        records = [record for record in records if record[0] != "annotate_bench"]
    if not (binaries / "cupti_bench").exists() and "cupti" not in os.environ.get("JAXPROF_REQUIRE", "").split(","):
        print("skipped: cupti_bench, which was not built without CUPTI's headers; run: bash tests/setup.sh cupti")
        records = [record for record in records if record[0] != "cupti_bench"]
    if not importlib.util.find_spec("h5py") and "h5py" not in os.environ.get("JAXPROF_REQUIRE", "").split(","):
        print("skipped: reader_bench, summary_bench, study_bench, export_bench and merge_scale_bench, since there is no h5py; run: bash tests/setup.sh tests")
        records = [record for record in records if record[0] not in ("reader_bench", "summary_bench", "study_bench", "export_bench", "merge_scale_bench")]
    if not pathlib.Path("/usr/bin/chromium").exists() and "chromium" not in os.environ.get("JAXPROF_REQUIRE", "").split(","):
        print("skipped: report_bench, since there is no Chromium; run: bash tests/setup.sh tests")
        records = [record for record in records if record[0] != "report_bench"]
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        commands = {"annotate_bench": [sys.executable, here / "annotate_bench.py", python, binaries / "jaxprof-exec", folder],
                    "cupti_bench": [binaries / "cupti_bench", folder],
                    "event_path_bench": [binaries / "event_path_bench", libraries / "libjaxprof-agent.so", folder],
                    "window_bench": [binaries / "window_bench", libraries / "libjaxprof-agent.so", folder],
                    "memory_bench": [binaries / "memory_bench", libraries / "libjaxprof-agent.so", folder],
                    "rate_bench": [binaries / "rate_bench", libraries / "libjaxprof-agent.so", folder],
                    "clock_solver_bench": [binaries / "clock_solver_bench"],
                    "nic_bench": [binaries / "nic_bench"],
                    "clock_probe_bench": [binaries / "clock_probe_bench"],
                    "publish_bench": [binaries / "publish_bench", binaries / "jaxprof-exec",
                                      libraries / "libjaxprof-agent.so", folder],
                    "merge_scale_bench": [sys.executable, here / "merge_scale_bench.py", binaries, folder, "small"],
                    "summary_bench": [sys.executable, here / "summary_bench.py", binaries, folder],
                    "export_bench": [sys.executable, here / "export_bench.py", binaries, folder],
                    "study_bench": [sys.executable, here / "study_bench.py", binaries, folder],
                    "report_bench": [sys.executable, here / "report_bench.py", binaries, folder],
                    "reader_bench": [sys.executable, here / "reader_bench.py", "2000000", folder],
                    # A tenth of the records fits into memory.
                    "match_bench": [binaries / "match_bench", "1000000", folder, "16"],
                    "runfile_bench": [binaries / "runfile_bench", "1000000", folder],
                    "netsampler_bench": [binaries / "netsampler_bench", folder],
                    "unselected_bench": [binaries / "unselected_bench", binaries / "jaxprof-exec"]}
        for bench in dict.fromkeys(record[0] for record in records):
            wanted = [record[1:] for record in records if record[0] == bench]
            for _ in range(ATTEMPTS):
                figures = run_bench(list(map(str, commands[bench])))
                bad = [(name, figures.get(name), better, value) for name, better, value in wanted
                       if name not in figures or not is_within(figures[name], better, value)]
                if not bad:
                    break
            failed += bad
    for name, figure, better, value in failed:
        print(f"{name} is {figure}; on record is {value} ({better} is better), slack {SLACK}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
