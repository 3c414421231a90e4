"""jaxprof-study's tables of GPU time against pandas and bitmaps from the run file's own columns.

Usage: pandas_agreement_test.py WRITE_GPU_RUN JAXPROF_STUDY
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import h5py
    import numpy as np
    import pandas as pd
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(1 if "h5py" in os.environ.get("JAXPROF_REQUIRE", "") else 77)

WRITE_GPU_RUN, JAXPROF_STUDY = sys.argv.pop(1), sys.argv.pop(1)


class PandasAgreement(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = str(Path(cls.folder.name) / "run.h5")
        subprocess.run([WRITE_GPU_RUN, cls.path], check=True)
        with h5py.File(cls.path) as file:
            strings = file["strings/value"].asstr()[:]
            cls.tables = {}
            for name in ("kernels", "memops", "api", "nvtx", "nccl"):
                group = file["events"][name]
                offset = group["process_offset"][:]
                columns = {k: group[k][:] for k in group if group[k].shape == group["start_ns"].shape}
                frame = pd.DataFrame(columns)
                frame["rank"] = np.repeat(np.arange(len(offset) - 1), np.diff(offset.astype(np.int64)))
                if "name" in frame:
                    frame["name"] = strings[frame["name"]]
                cls.tables[name] = frame
            work = {k: file["nccl_work"][k][:] for k in ("kernel", "memop")}
            cls.end_ns = int(file["job/processes"]["end_ns"][0])
        missing = 2**64 - 1
        cls.comm_kernels = np.isin(np.arange(len(cls.tables["kernels"])), work["kernel"][work["kernel"] != missing])
        cls.comm_memops = np.isin(np.arange(len(cls.tables["memops"])), work["memop"][work["memop"] != missing])
        words = {0: "HtoD", 1: "DtoH"}
        cls.tables["memops"]["name"] = cls.tables["memops"]["kind"].map(words)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def rows(self, study, *options):
        command = [JAXPROF_STUDY, study, self.path, "--format", "json", *options]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["rows"]

    def assert_sums(self, row, values, prefix="", unit="ns"):
        self.assertEqual(row[f"{prefix}total_{unit}"], int(values.sum()))
        self.assertEqual((row[f"{prefix}min_{unit}"], row[f"{prefix}max_{unit}"]), (values.min(), values.max()))
        np.testing.assert_array_max_ulp(np.float64(row[f"{prefix}p50_{unit}"]), np.percentile(values, 50), maxulp=1)
        np.testing.assert_allclose(row[f"{prefix}mean_{unit}"], values.mean(), rtol=1e-15)
        if len(values) > 1:
            np.testing.assert_allclose(row[f"{prefix}std_{unit}"], values.std(ddof=1), rtol=1e-12)

    def test_kernels_by_run_and_rank(self):
        frame = self.tables["kernels"]
        total = frame["dur_ns"].sum()
        for options, keys in (((), ["name"]), (("--by", "rank"), ["name", "rank"])):
            groups = {k if isinstance(k, tuple) else (k,): g["dur_ns"].to_numpy() for k, g in frame.groupby(keys if len(keys) > 1 else keys[0])}
            rows = self.rows("kernels", *options)
            self.assertEqual(len(rows), len(groups))
            for row in rows:
                values = groups[tuple(row[key] for key in keys)]
                self.assertEqual(row["count"], len(values))
                self.assert_sums(row, values)
                self.assertAlmostEqual(row["time_share"], values.sum() / total, delta=1e-12)
        for row in self.rows("kernels"):
            by_rank = frame[frame["name"] == row["name"]].groupby("rank")["dur_ns"].sum()
            self.assertAlmostEqual(row["imbalance"], by_rank.max() / by_rank.median(), delta=1e-12)

    def test_memops(self):
        frame = self.tables["memops"]
        rows = self.rows("memops")
        self.assertEqual({row["operation"] for row in rows}, {"HtoD", "DtoH"})
        for row in rows:
            of_kind = frame[frame["name"] == row["operation"]]
            self.assert_sums(row, of_kind["dur_ns"].to_numpy())
            self.assert_sums(row, of_kind["bytes"].to_numpy().astype(np.int64), unit="bytes")
            self.assertAlmostEqual(row["gb_per_s"], of_kind["bytes"].sum() / of_kind["dur_ns"].sum(), delta=1e-9)

    def test_api_and_nvtx(self):
        for row in self.rows("api"):
            self.assert_sums(row, self.tables["api"]["dur_ns"].to_numpy())
        frame = self.tables["nvtx"]
        rows = self.rows("nvtx", "--by", "rank")
        self.assertEqual(len(rows), len(frame.groupby(["name", "rank"])))
        for row in rows:
            values = frame[(frame["name"] == row["name"]) & (frame["rank"] == row["rank"])]
            self.assert_sums(row, values["dur_ns"].to_numpy())
            of_gpu = values["gpu_dur_ns"][values["gpu_dur_ns"] >= 0].to_numpy()
            self.assertEqual(row["gpu_count"], len(of_gpu))
            if len(of_gpu):
                self.assert_sums(row, of_gpu, prefix="gpu_")
        inner = frame[frame["parent"] != 2**64 - 1]["dur_ns"].sum()
        outer = next(row for row in self.rows("nvtx") if row["name"] == "outer")
        self.assertEqual(outer["self_ns"], frame[frame["name"] == "outer"]["dur_ns"].sum() - inner)

    def test_nccl(self):
        (row,) = self.rows("nccl")
        self.assert_sums(row, self.tables["nccl"]["gpu_dur_ns"].to_numpy())

    def test_breakdown_and_overlap_agree_with_bitmaps(self):
        kernels, memops, calls = (self.tables[name] for name in ("kernels", "memops", "nccl"))
        hidden = total = 0
        for row in self.rows("breakdown", "--by", "gpu"):
            bits = np.zeros(self.end_ns + 1, np.uint8)
            for frame, is_comm, other in ((kernels, self.comm_kernels, 1), (memops, self.comm_memops, 4)):
                mine = frame["device"] == row["device"]
                for start, length, comm in zip(frame["start_ns"][mine], frame["dur_ns"][mine], is_comm[mine]):
                    bits[start:start + length] |= 2 if comm else other
            counts = np.bincount(bits, minlength=8)
            self.assertEqual(row["wall_ns"], len(bits))
            self.assertEqual(row["compute_ns"], counts[1] + counts[5])
            self.assertEqual(row["both_ns"], counts[3] + counts[7])
            self.assertEqual(row["exposed_ns"], counts[2] + counts[6])
            self.assertEqual(row["copies_ns"], counts[4])
            self.assertEqual(row["idle_ns"], counts[0])
            parts = ("idle_host_ns", "idle_launch_ns", "idle_other_ns", "idle_unknown_ns")
            self.assertEqual(sum(row[part] for part in parts), counts[0])
            compute = np.concatenate(([0], np.cumsum(bits & 1)))
            mine = calls["device"] == row["device"]
            starts, ends = calls["gpu_start_ns"][mine], (calls["gpu_start_ns"] + calls["gpu_dur_ns"])[mine]
            hidden += int((compute[ends] - compute[starts]).sum())
            total += int((ends - starts).sum())
        (overlap,) = self.rows("overlap")
        self.assertEqual((overlap["total_ns"], overlap["hidden_ns"]), (total, hidden))
        self.assertEqual(overlap["hidden_ns"] + overlap["exposed_ns"], overlap["total_ns"])


if __name__ == "__main__":
    unittest.main()
