#!/usr/bin/env python3
"""However jaxprof-merge ends before its time, the run file that was there before stays as it was, byte for byte, nothing
stays behind that the next merge minds, and the next merge makes the same file as if nothing had happened.

Killed at random instants; told to stop; a full disk under the run file, and under its scratch files; a size limit.
"""

import os
import random
import resource
import shutil
import signal
import time
import unittest
from pathlib import Path

import run_tools as tools
from run_tools import BIN, DONE, NOT_WRITTEN, FolderCase

N_KILLS = int(os.environ.get("JAXPROF_KILLS", "40"))
SEED = 20261130
# Enough that records wait in scratch files, and columns have several chunks.
RUN = ("--processes", 4, "--nodes", 2, "--kernels", 300_000, "--api", "--nccl", 8_000, "--nvtx", 40_000, "--steps", 5)
LITTLE_MEMORY = ("--memory", "1MB")
SMALL_DISK = "size=2m"  # the run file has more


class MergeEnds(FolderCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = tools.run(BIN / "synthetic_run", "run", *RUN)
        assert made.status == DONE, made
        for name, options in (("old", ("--compression", "none")), ("new", ())):
            began = time.monotonic()
            merged = tools.merge("run", *LITTLE_MEMORY, *options, output=f"{name}.h5")
            cls.merge_s = time.monotonic() - began
            assert merged.status == DONE, merged
        cls.old, cls.new = Path("old.h5").read_bytes(), Path("new.h5").read_bytes()
        assert cls.old != cls.new and len(cls.new) > 3 << 20, f"the run file has {len(cls.new)} bytes"

    def setUp(self):
        self.out = Path(self._testMethodName)
        self.out.mkdir()
        self.scratch = Path(self._testMethodName + ".scratch")
        self.scratch.mkdir()
        self.put_old()

    def put_old(self):
        shutil.copyfile("old.h5", self.out / "run.h5")

    def words(self, *options):
        return (BIN / "jaxprof-merge", "run", "-o", self.out / "run.h5", "-f", "--quiet", *LITTLE_MEMORY, *options)

    def names(self, folder):
        return sorted(path.name for path in folder.iterdir())

    def assert_old(self):
        self.assertTrue((self.out / "run.h5").read_bytes() == self.old, "the old run file was touched")

    def assert_merges_again(self):
        self.assert_status(tools.run(*self.words()), DONE)
        self.assertTrue((self.out / "run.h5").read_bytes() == self.new, "another merge makes another file")
        self.assertEqual(self.names(self.out), ["run.h5"])

    def end_one(self, number, delay_s):
        """Sends the signal after so long; whether it came before the end."""
        merge = tools.start(*self.words("--scratch", self.scratch))
        time.sleep(delay_s)
        merge.send_signal(number)
        ended = tools.finish(merge)
        self.assertIn(ended.status, (-number, DONE), str(ended))
        self.assertEqual(ended.err, "", str(ended))
        self.assertEqual(self.names(self.scratch), [])
        content = (self.out / "run.h5").read_bytes()
        if ended.status == DONE:
            self.assertTrue(content == self.new, "done, and another file")
        else:  # it may have got its name just before
            self.assertTrue(content in (self.old, self.new), "neither the old file nor the new one")
        if content != self.old:
            self.put_old()
        return ended.status != DONE

    def test_killed_at_any_instant(self):
        instants = random.Random(SEED)
        n_ended = 0
        for i in range(N_KILLS):
            n_ended += self.end_one(signal.SIGKILL, instants.uniform(0, 1.05 * self.merge_s))
            self.assertLessEqual(set(self.names(self.out)), {"run.h5", "run.h5.part"})
            if i % 10 == 9:
                self.assert_merges_again()
                self.put_old()
        self.assertGreater(n_ended, N_KILLS // 4, "too few were killed while they worked")
        self.assert_merges_again()

    def test_told_to_stop_it_leaves_nothing(self):
        instants = random.Random(SEED + 1)
        n_ended = 0
        for i in range(max(6, N_KILLS // 4)):
            number = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)[i % 3]
            n_ended += self.end_one(number, instants.uniform(0.1, 1.0) * self.merge_s)
            self.assertEqual(self.names(self.out), ["run.h5"], signal.Signals(number).name)
        self.assertGreater(n_ended, 0)
        self.assert_merges_again()

    def test_a_signal_that_it_was_started_to_ignore_is_ignored(self):
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
        try:
            merge = tools.start(*self.words())
        finally:
            signal.signal(signal.SIGHUP, before)
        time.sleep(self.merge_s / 2)
        merge.send_signal(signal.SIGHUP)
        self.assert_status(tools.finish(merge), DONE)
        self.assertTrue((self.out / "run.h5").read_bytes() == self.new)

    def on_small_disk(self, folder, *words):
        """In a mount namespace where `folder` is a small disk with what was in it; what is there afterwards goes to
        folder.after."""
        script = (f'cp -a "{folder}" "{folder}.before" && mount -t tmpfs -o {SMALL_DISK} none "{folder}" && '
                  f'cp -a "{folder}.before/." "{folder}" && "$@"; code=$?; cp -a "{folder}" "{folder}.after"; exit $code')
        return tools.run("unshare", "-m", "sh", "-c", script, "sh", *words)

    def require_mounts(self):
        if tools.run("unshare", "-m", "mount", "-t", "tmpfs", "none", self.scratch).status != DONE:
            self.skipTest("no mount namespace can be made")

    def assert_full_disk(self, ended):
        self.assert_status(ended, NOT_WRITTEN)
        self.assert_one_clear_line(ended, "No space left on device")

    def test_a_full_disk_under_the_run_file(self):
        self.require_mounts()
        Path(self.out / "run.h5").write_bytes(self.old[:1000])  # the whole one would not fit
        ended = self.on_small_disk(self.out, *self.words("--scratch", self.scratch))
        self.assert_full_disk(ended)
        self.assertIn(str(self.out / "run.h5"), ended.err)
        after = Path(f"{self.out}.after")
        self.assertEqual(self.names(after), ["run.h5"])
        self.assertEqual((after / "run.h5").read_bytes(), self.old[:1000])
        self.assertEqual(self.names(self.scratch), [])
        self.assert_merges_again()

    def test_a_full_disk_under_scratch_files(self):
        self.require_mounts()
        ended = self.on_small_disk(self.scratch, *self.words("--scratch", self.scratch))
        self.assert_full_disk(ended)
        self.assertIn(str(self.scratch), ended.err)
        self.assertEqual(self.names(Path(f"{self.scratch}.after")), [])
        self.assertEqual(self.names(self.out), ["run.h5"])
        self.assert_old()
        self.assert_merges_again()

    def test_a_limit_of_file_sizes(self):
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        for most_bytes in (0, 4096, 1 << 20):
            try:
                resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, limits[1]))
                merge = tools.start(*self.words())
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            ended = tools.finish(merge)
            self.assert_status(ended, NOT_WRITTEN)
            self.assert_one_clear_line(ended, "File too large", str(self.out))
            self.assertEqual(self.names(self.out), ["run.h5"], str(most_bytes))
            self.assert_old()
        self.assert_merges_again()


if __name__ == "__main__":
    unittest.main()
