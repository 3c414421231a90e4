"""What jaxprof-probe writes, read apart from jaxprof's own code: netsampler/gpu/probe_record.h in Python."""

import select
import struct
import subprocess
import time

RECORD_BYTES = 512
MAGIC, VERSION = 0x4250584A, 1
HELLO, GPU, SAMPLE, NOTE = 1, 2, 3, 4
NO_GPU_NOTE = 3
COLUMNS = ("sm_clock", "memory_clock", "power", "power_instant", "power_limit", "energy", "temperature",
           "memory_temperature", "utilization", "memory_utilization", "clock_reasons", "power_cap_time", "thermal_time",
           "sw_thermal_time", "hw_thermal_time", "hw_power_brake_time", "ecc_corrected", "ecc_uncorrected", "nvlink_tx",
           "nvlink_rx", "pcie_tx", "pcie_rx", "pcie_replays")


def _text(raw):
    return raw.split(b"\0", 1)[0].decode()


class Watched:
    """The probe, watched until every board has `n_rows` rows: boards, rows by board, notes."""

    def __init__(self, program, environment, hz, n_rows, limit_s=90):
        self.boards, self.rows, self.notes, self.has_no_gpu = [], {}, [], False
        with subprocess.Popen([program, "--gpus", str(hz)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=environment, bufsize=0) as probe:
            try:
                self._read(probe.stdout, n_rows, time.monotonic() + limit_s)
            finally:
                probe.kill()

    def _read(self, pipe, n_rows, deadline):
        bytes_left = b""
        while not self._is_enough(n_rows) and time.monotonic() < deadline:
            if not select.select([pipe], [], [], 0.2)[0]:
                continue
            got = pipe.read(65536)
            if not got:
                return
            bytes_left += got
            while len(bytes_left) >= RECORD_BYTES:
                self._take(bytes_left[:RECORD_BYTES])
                bytes_left = bytes_left[RECORD_BYTES:]

    def _is_enough(self, n_rows):
        return bool(self.rows) and all(len(self.rows.get(board["number"], ())) >= n_rows for board in self.boards
                                       if board["parent"] is None)

    def _take(self, record):
        magic, version, kind = struct.unpack_from("<IHH", record)
        if (magic, version) != (MAGIC, VERSION):
            raise ValueError(f"a foreign record: {record[:16].hex()}")
        payload = record[16:]
        if kind == GPU:
            number, parent, domain, bus, device, _, memory, limit, clock, _ = struct.unpack_from("<6I4Q", payload)
            self.boards.append({
                "number": number, "parent": None if parent == 0xFFFFFFFF else parent, "memory_bytes": memory,
                "power_limit_mw": limit, "sm_clock_max_mhz": clock, "pci": f"{domain:08x}:{bus:02x}:{device:02x}.0",
                "name": _text(payload[56:152]), "uuid": _text(payload[152:248]), "driver": _text(payload[248:328])})
        elif kind == SAMPLE:
            number, _, stamp, read_ns = struct.unpack_from("<IIQQ", payload)
            values = struct.unpack_from(f"<{len(COLUMNS)}Q", payload, 24)
            row = {name: value for name, value in zip(COLUMNS, values) if value != 2**64 - 1}
            self.rows.setdefault(number, []).append({"stamp_ns": stamp, "read_ns": read_ns, **row})
        elif kind == NOTE:
            self.has_no_gpu |= struct.unpack_from("<I", payload)[0] == NO_GPU_NOTE
            self.notes.append(_text(payload[8:]))
        elif kind != HELLO:
            raise ValueError(f"a record of kind {kind}")
