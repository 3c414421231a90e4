#!/usr/bin/env python3
"""Does check_sources.py see what it is for?  Each kind of violation is planted in a small tree and must be named."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import check_sources

CLEAN_TREE = {
    "CMakeLists.txt": "",
    "agent/base/clocks.h": "#include <ctime>\n",
    "agent/contract/run_layout.h": '#include "agent/base/clocks.h"\n',
    "agent/spool/writer.h": '#include "agent/contract/run_layout.h"\n',
    "agent/collect/event_sink.h": '#include "agent/spool/writer.h"\n',
    "agent/collect/entry.cpp": '#include "agent/nvtx/ranges.h"\n',
    "agent/collect/ring.h": "",
    "agent/nvtx/ranges.h": '#include "agent/collect/event_sink.h"\n',
    "agent/nccl/plugin.h": "",
    "agent/cupti/activity.cpp": "#include <cupti.h>\n",
    "launcher/options.cpp": "#include <CLI/CLI.hpp>\n",
    "launcher/plan.h": '#include "agent/spool/writer.h"\n',
    "merge/runfile/writer.cpp": "#include <hdf5.h>\n",
    "merge/mpi_reader.cpp": "#include <mpi.h>\n",
    "netsampler/nic/netlink.cpp": "#include <netlink/netlink.h>\n",
    "slurm/spank/plugin.c": "#include <slurm/spank.h>\n",
    "tests/puppets/puppet.cpp": '#include <mpi.h>\n#include "clock.h"\n',
    "tests/puppets/clock.h": "",
    "tests/unit/nccl/plugin_test.cpp": '#include "agent/nccl/plugin.h"\n',
}


class PlantedViolation(unittest.TestCase):
    def check(self, planted):
        """(exit status, output) for the clean tree with the planted files added."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in {**CLEAN_TREE, **planted}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                status = check_sources.main([folder])
            return status, output.getvalue()

    def assert_caught(self, path, text, expected):
        status, output = self.check({path: text})
        self.assertEqual(status, 1, output)
        self.assertIn(expected, output)
        self.assertIn(" 1 violations", output)

    def test_a_clean_tree_passes(self):
        status, output = self.check({})
        self.assertEqual((status, output), (0, f"{len(CLEAN_TREE)} files, 0 violations\n"))

    def test_a_tree_without_sources_fails(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(check_sources.main([folder]), 1)

    def test_upward_includes_of_the_foundation(self):
        for path, header in (
            ("agent/base/a.cpp", "agent/contract/run_layout.h"),
            ("agent/base/a.cpp", "agent/spool/writer.h"),
            ("agent/contract/a.cpp", "agent/spool/writer.h"),
            ("agent/spool/a.cpp", "agent/collect/ring.h"),
        ):
            with self.subTest(path=path, header=header):
                self.assert_caught(path, f'\n#include "{header}"\n', f"{path}:2: ")

    def test_collectors_know_the_event_sink_and_never_each_other(self):
        self.assert_caught("agent/nccl/a.cpp", '#include "agent/nvtx/ranges.h"\n', "must not include agent/nvtx/ranges.h")
        self.assert_caught("agent/nccl/a.cpp", '#include "agent/collect/ring.h"\n', "must not include agent/collect/ring.h")
        self.assert_caught("agent/nccl/a.cpp", '#include "../nvtx/ranges.h"\n', "must not include agent/nvtx/ranges.h")

    def test_programs_never_include_each_other_or_the_collectors(self):
        for path, header in (
            ("merge/a.cpp", "launcher/plan.h"),
            ("netsampler/a.cpp", "launcher/plan.h"),
            ("merge/a.cpp", "agent/nccl/plugin.h"),
            ("launcher/a.cpp", "agent/collect/event_sink.h"),
            ("launcher/a.cpp", "tests/puppets/clock.h"),
        ):
            with self.subTest(path=path, header=header):
                self.assert_caught(path, f"#include <{header}>\n", f"must not include {header}")

    def test_puppets_and_doubles_share_no_header_with_the_collectors(self):
        for folder in ("tests/puppets", "tests/doubles"):
            self.assert_caught(f"{folder}/a.cpp", '#include "agent/nccl/plugin.h"\n', "must not include agent/nccl/plugin.h")

    def test_every_fence(self):
        for path, header in (
            ("agent/collect/a.cpp", "cupti.h"),
            ("merge/study/a.cpp", "hdf5.h"),
            ("merge/study/a.cpp", "hdf5_hl.h"),
            ("launcher/a.cpp", "mpi.h"),
            ("launcher/a.cpp", "slurm/spank.h"),
            ("launcher/plan.cpp", "CLI/CLI.hpp"),
            ("launcher/a.cpp", "linux/netlink.h"),
            ("netsampler/node/a.cpp", "netlink/netlink.h"),
            ("netsampler/nic/a.cpp", "infiniband/verbs.h"),
            ("netsampler/node/a.cpp", "nvml.h"),
        ):
            with self.subTest(path=path, header=header):
                self.assert_caught(path, f"# include <{header}>\n", f"{path}:1: <{header}>")

    def test_mpi_in_a_second_file_of_merge(self):
        self.assert_caught("merge/other.cpp", "#include <mpi.h>\n", "merge/mpi_reader.cpp, merge/other.cpp")

    def test_a_stray_name_at_the_top_level(self):
        self.assert_caught("notes.txt", "", "notes.txt:1: ")
        self.assert_caught("docs/a.md", "", "docs:1: ")

    def test_a_long_file_is_listed_and_not_failed(self):
        status, output = self.check({"merge/long.cpp": "\n" * 401})
        self.assertEqual(status, 0)
        self.assertIn("note: merge/long.cpp has 401 lines", output)


if __name__ == "__main__":
    unittest.main()
