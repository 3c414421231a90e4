"""jaxprof-study's percentiles against numpy.percentile on the run file's own times.

Usage: numpy_agreement_test.py WRITE_CALLS WRITE_COUNTERS JAXPROF_STUDY
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
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(1 if "h5py" in os.environ.get("JAXPROF_REQUIRE", "") else 77)

WRITE_CALLS, WRITE_COUNTERS, JAXPROF_STUDY = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)


class NumpyAgreement(unittest.TestCase):
    def test_spread_is_what_numpy_computes_from_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "run.h5")
            subprocess.run([WRITE_CALLS, path], check=True)
            output = subprocess.run([JAXPROF_STUDY, "spread", path, "--format", "json"], check=True, capture_output=True)
            rows = json.loads(output.stdout)["rows"]
            with h5py.File(path, "r") as file:
                calls = file["events/nccl"]
                times = calls["end_api_ns"][:] - calls["start_ns"][:]
                sizes = calls["size_bytes"][:]
        self.assertEqual(sorted(row["size_bytes"] for row in rows), sorted(set(sizes.tolist())))
        for row in rows:
            values = times[sizes == row["size_bytes"]]
            self.assertEqual(row["count"], len(values))
            self.assertEqual(row["n"], len(values))
            self.assertEqual((row["min_ns"], row["max_ns"]), (values.min(), values.max()))
            self.assertAlmostEqual(row["mean_ns"], values.mean(), delta=1e-6)
            self.assertAlmostEqual(row["std_ns"], values.std(ddof=1), delta=1e-6)
            for percent, least in ((1, 100), (5, 20), (25, 1), (50, 1), (75, 1), (95, 20), (99, 100)):
                value = row[f"p{percent:02}_ns"]
                if len(values) < least:
                    self.assertIsNone(value)
                else:
                    self.assertEqual(value, np.percentile(values, percent))
            self.assertEqual(row["iqr_ns"], row["p75_ns"] - row["p25_ns"])
            self.assertAlmostEqual(row["cv"], values.std(ddof=1) / values.mean(), delta=1e-12)

    def test_network_is_what_numpy_computes_from_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "run.h5")
            subprocess.run([WRITE_COUNTERS, path], check=True)
            output = subprocess.run([JAXPROF_STUDY, "network", path, "--format", "json"], check=True, capture_output=True)
            rows = json.loads(output.stdout)["rows"]
            with h5py.File(path, "r") as file:
                group = file["counters/nic/efa"]
                offset = group["nic_offset"][:]
                middle_ns = group["time_ns"][:] + group["read_ns"][:] / 2
                values = {name: group[name][:] for name in ("tx_bytes", "rx_bytes")}
        self.assertEqual(len(rows), 3)
        for row, first, last in zip(rows, offset, offset[1:]):
            elapsed_s = np.diff(middle_ns[first:last]) / 1e9
            for direction, name in (("out", "tx_bytes"), ("in", "rx_bytes")):
                grown = np.diff(values[name][first:last].astype(np.int64))
                rates = grown / elapsed_s / 1e9
                self.assertEqual(row[f"{direction}_bytes"], grown.sum())
                self.assertAlmostEqual(row[f"{direction}_mean_gb_per_s"], grown.sum() / elapsed_s.sum() / 1e9, delta=1e-6)
                self.assertAlmostEqual(row[f"{direction}_peak_gb_per_s"], rates.max(), delta=1e-6)
                self.assertAlmostEqual(row[f"{direction}_p99_gb_per_s"], np.percentile(rates, 99), delta=1e-6)


if __name__ == "__main__":
    unittest.main()
