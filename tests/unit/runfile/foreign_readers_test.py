"""Reads the sample run file with other people's programs: h5py, pandas (PyTables) and h5dump.

The expected values are spelled out here, independently of the C++ that made the file (sample_run.cpp).
Usage: foreign_readers_test.py WRITE_SAMPLE
"""
import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path


def skip_without(resource, why):
    print(f"skipped: {why}")
    sys.exit(1 if resource in os.environ.get("JAXPROF_REQUIRE", "").split(",") else 77)


try:
    import h5py
    import numpy as np
    import pandas as pd
    import tables as _  # pandas asks for it only when it opens a file
except ImportError as error:
    skip_without("h5py", error)
if shutil.which("h5dump") is None:
    skip_without("hdf5-tools", "no h5dump")

WRITE_SAMPLE = sys.argv.pop(1)
COMPOUND = {"job/tasks", "job/processes", "job/devices", "job/nodes", "job/nics", "job/observers", "job/env", "diagnostics",
            "clock/nodes", "clock/links", "clock/discipline", "clock/steps", "clock/audit"}


class ForeignReaders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.path = str(Path(cls.folder) / "run.h5")
        subprocess.run([WRITE_SAMPLE, cls.path], check=True)
        cls.file = h5py.File(cls.path, "r")
        cls.strings = cls.file["strings/value"].asstr()[:]

    @classmethod
    def tearDownClass(cls):
        cls.file.close()
        shutil.rmtree(cls.folder)

    def datasets(self):
        found = {}
        self.file.visititems(lambda name, item: found.update({name: item}) if isinstance(item, h5py.Dataset) else None)
        return found

    def test_h5py_reads_the_root_attributes(self):
        attributes = self.file.attrs
        self.assertEqual(attributes["schema"], "jaxprof/1")
        self.assertEqual(attributes["schema_version"], "1.4.0")
        self.assertEqual(attributes["complete"], 1)
        self.assertEqual(attributes["epoch_unix_ns"], 1_700_000_000_000_000_000)
        self.assertEqual(attributes["cmdline"], 'python train.py --name "ä"')
        self.assertTrue(math.isnan(attributes["clock_bound_ns"]))

    def test_h5py_reads_columns_and_words(self):
        nccl = self.file["events/nccl"]
        np.testing.assert_array_equal(nccl["start_ns"][:], [1000000, 2000000, 1000500, 2000500, 1001000])
        np.testing.assert_array_equal(nccl["end_api_ns"][:] - nccl["start_ns"][:], [10000, 20000, 30000, 40000, 50000])
        self.assertEqual(nccl["start_ns"].dtype, np.int64)
        self.assertEqual(nccl["start_ns"].compression, "gzip")
        self.assertTrue(nccl["start_ns"].shuffle)
        words = {value: word for word, value in h5py.check_enum_dtype(nccl["coll"].dtype).items()}
        self.assertEqual([words[value] for value in nccl["coll"][:]], ["AllReduce"] * 5)
        self.assertEqual(words[255], "missing_value")
        np.testing.assert_array_equal(nccl["gpu_dur_ns"][:], [30000, -1, -1, -1, -1])
        np.testing.assert_array_equal(nccl["process_offset"][:], [0, 2, 4, 5])
        nvtx = self.file["events/nvtx"]
        self.assertEqual([self.strings[i] for i in nvtx["name"][:]], ['step "1", α|β', "step 2"])
        np.testing.assert_array_equal(nvtx["payload"][:], [1, -(2**63)])

    def test_every_dataset_explains_itself(self):
        for name, dataset in self.datasets().items():
            if name in COMPOUND:
                for i, field in enumerate(dataset.dtype.names):
                    self.assertIn(f"FIELD_{i}_UNITS", dataset.attrs, f"{name} {field}")
                    self.assertIn(f"FIELD_{i}_LONG_NAME", dataset.attrs, f"{name} {field}")
                    self.assertIn(f"FIELD_{i}_MISSING", dataset.attrs, f"{name} {field}")
                self.assertEqual(dataset.attrs["n_rows"], len(dataset))
                self.assertIn("sorted_by", dataset.attrs)
            else:
                for attribute in ("units", "long_name", "missing_value"):
                    self.assertIn(attribute, dataset.attrs, name)
                if name != "strings/value":
                    np.testing.assert_equal(dataset.attrs["missing_value"], dataset.fillvalue, name)
        for name in ("comms", "events/nvtx", "events/nccl", "steps", "collectives", "transfers"):
            self.assertIn("sorted_by", self.file[name].attrs)
            self.assertIn("n_rows", self.file[name].attrs)
        self.assertEqual(self.file["events/nccl"].attrs["n_rows"], 5)
        self.assertEqual(self.file["steps"].attrs["n_rows"], 3)
        np.testing.assert_array_equal(self.file["steps/step"][:], [-1, 0, 0])
        self.assertEqual(self.file["collectives"].attrs["n_members"], 5)
        transfers = self.file["transfers"]
        self.assertEqual(transfers.attrs["sorted_by"], "comm, source, destination, seq, coll, capture, replay")
        np.testing.assert_array_equal(transfers["destination"][:], [1, 2])
        np.testing.assert_array_equal(transfers["recv_enqueue_ns"][:], [1_500_400, -1])

    def test_h5py_makes_rates_of_raw_counters(self):
        efa = self.file["counters/nic/efa"]
        self.assertEqual(efa.attrs["n_rows"], 3)
        self.assertEqual(efa.attrs["sorted_by"], "nic, time_ns")
        rows = slice(*efa["nic_offset"][0:2])
        sent = efa["tx_bytes"]
        self.assertEqual(sent.dtype, np.uint64)
        self.assertEqual((sent.attrs["units"], sent.attrs["scale"], sent.attrs["kind"], sent.attrs["bits"], sent.attrs["is_error"]),
                         ("bytes", 1, "counter", 64, 0))
        middle_ns = efa["time_ns"][rows] + efa["read_ns"][rows] // 2
        rates = np.diff(sent[rows].astype(np.int64)) * 1_000_000_000 // np.diff(middle_ns)
        np.testing.assert_array_equal(rates, [1000 * 10**9 // 3_000_500, 3000 * 10**9 // 3_000_500])
        drops = efa["rx_drops"]
        self.assertEqual((drops.attrs["is_error"], drops.attrs["name"]), (1, "rx_drops"))
        np.testing.assert_array_equal(drops[:] == drops.attrs["missing_value"], [False, True, False])
        gpu = self.file["counters/gpu"]
        self.assertEqual((gpu["sm_clock"].attrs["units"], gpu["sm_clock"].attrs["kind"]), ("MHz", "gauge"))
        np.testing.assert_array_equal(gpu["device_offset"][:], [0, 1])

    def test_h5py_tells_the_tasks_of_a_variable(self):
        tasks = self.file["job/env_tasks"]
        offset = tasks["env_offset"][:]
        self.assertEqual([list(tasks["task"][begin:end]) for begin, end in zip(offset, offset[1:])],
                         [[0, 1, 3], [2], [0, 1, 2, 3]])

    def test_compound_tables_say_what_is_missing(self):
        def missing(table, field):
            dataset = self.file[table]
            return dataset.attrs[f"FIELD_{dataset.dtype.names.index(field)}_MISSING"]

        self.assertEqual(missing("job/tasks", "rank"), -1)
        self.assertEqual(missing("job/tasks", "state"), 255)
        self.assertEqual(missing("job/tasks", "reason"), 0)
        self.assertEqual(missing("job/processes", "nccl_version"), 2**32 - 1)
        self.assertEqual(missing("job/processes", "n_events"), 2**64 - 1)
        self.assertTrue(math.isnan(missing("job/nics", "rate_gbps")))
        self.assertEqual(missing("job/nodes", "boot_id"), b"")

    def test_pandas_opens_every_compound_table(self):
        tasks = pd.read_hdf(self.path, "job/tasks")
        self.assertEqual(list(tasks["rank"]), [0, 1, 2, 3])
        self.assertEqual(list(tasks["state"]), [0, 0, 0, 1])
        self.assertEqual(self.strings[tasks["reason"][3]], "NVTX_INJECTION64_PATH is set to another tool")
        processes = pd.read_hdf(self.path, "job/processes")
        self.assertEqual(list(processes["pid"]), [5000, 5001, 5002])
        self.assertEqual(list(processes["n_dropped"]), [0, 12, 0])
        nodes = pd.read_hdf(self.path, "job/nodes")
        self.assertEqual([self.strings[i] for i in nodes["host"]], ["n1", "n2"])
        boot_id = nodes["boot_id"][0]
        boot_id = boot_id.decode() if isinstance(boot_id, bytes) else boot_id
        self.assertEqual(boot_id, "8d5b6f5e-0000-4000-8000-000000000000")
        devices = pd.read_hdf(self.path, "job/devices")
        self.assertEqual([self.strings[i] for i in devices["name"]], ["puppet GPU"])
        self.assertEqual(list(devices["ordinal"]), [1])
        nics = pd.read_hdf(self.path, "job/nics")
        self.assertEqual([self.strings[i] for i in nics["full_name"]], ["rdmap0s6", "rdmap0s7"])
        self.assertEqual(list(nics["source"]), [1, 0])
        observers = pd.read_hdf(self.path, "job/observers")
        self.assertEqual(list(observers["missed_ticks"]), [2])
        env = pd.read_hdf(self.path, "job/env")
        drift = env[(env.is_per_task == 0) & (env.scope >= 2)]
        self.assertEqual([(self.strings[row.name_], self.strings[row.value], row.is_set, self.strings[row.ranks])
                          for row in drift.rename(columns={"name": "name_"}).itertuples()],
                         [("NCCL_ALGO", "", 0, "ranks 0-1,3"), ("NCCL_ALGO", "Tree", 1, "rank 2")])
        diagnostics = pd.read_hdf(self.path, "diagnostics")
        self.assertEqual([self.strings[i] for i in diagnostics["code"]], ["drop.ring"])

    def test_h5dump_opens_every_dataset(self):
        for name in self.datasets():
            dump = subprocess.run(["h5dump", "-d", "/" + name, self.path], capture_output=True, text=True)
            self.assertEqual(dump.returncode, 0, name + dump.stderr)
        dump = subprocess.run(["h5dump", "-d", "/events/nccl/algo", self.path], capture_output=True, text=True, check=True)
        self.assertIn("(0): ring, ring, ring, ring, ring", dump.stdout)


if __name__ == "__main__":
    unittest.main()
