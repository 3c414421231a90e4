"""What was true in the guest: what efa_stub and rdma_rxe say of themselves, as scenarios.sh has kept it."""

from pathlib import Path

FIRST_BUS = 16  # of efa_stub.c
CARDS = [f"0000:{FIRST_BUS + i:02x}:00.0" for i in range(32)]
RENAMED, NEW_NAME = "0000:12:00.0", "renamed0"
UNPLUGGED = "0000:15:00.0"
UNDISTURBED = [pci for pci in CARDS if pci != UNPLUGGED]
LATENCY_NS = 2_000_000
NOT_COUNTERS = {"readings", "rate", "first_bytes", "plugged_ns", "lifespan"}


def name_of(pci):
    """As the card is called before it is renamed."""
    return f"rdmap{int(pci.split(':')[1], 16)}s0"


class Truth:
    def __init__(self, results):
        self._results = Path(results)
        self.devices = {path.name: _numbers(path) for path in (self._results / "truth").iterdir()}
        self.begin_ns, self.end_ns = map(int, self.text("traffic").split())

    def text(self, name):
        return (self._results / name).read_text()

    def status(self, name):
        return int(self.text(f"{name}.status"))

    def counters(self, device):
        """What each counter was at in the end."""
        return {name: value for name, value in self.devices[device].items() if name not in NOT_COUNTERS}

    def first_counters(self, pci):
        """What each counter of an undisturbed card was at before the traffic: shares of the card's bytes, all."""
        last, first_bytes = self.counters(pci), self.devices[pci]["first_bytes"]
        shares = {"tx_bytes": 1, "rx_bytes": 2, "tx_pkts": 8192, "rx_pkts": 16384, "rdma_write_bytes": 3,
                  "send_bytes": 5}
        assert shares.keys() < last.keys()
        return {name: first_bytes // share for name, share in shares.items()}

    def bytes_at(self, pci, raw_ns, is_back=True):
        """tx_bytes of a card at a time of CLOCK_MONOTONIC_RAW; `is_back` False: before it was unplugged."""
        card = self.devices[pci]
        if not is_back:
            first, plugged_ns = (1 << 40) + CARDS.index(pci), 0
        else:
            first, plugged_ns = card["first_bytes"], card["plugged_ns"]
        counted_ns = min(raw_ns, self.end_ns) - max(self.begin_ns, plugged_ns)
        return first + max(0, counted_ns) * card["rate"] // 1_000_000_000

    def readings(self, begin, end):
        """Between two moments: seconds, and how often each card was read."""
        at_begin, at_end = _numbers(self._results / f"{begin}.readings"), _numbers(self._results / f"{end}.readings")
        seconds = at_end.pop("uptime_s") - at_begin.pop("uptime_s")
        return seconds, {pci: at_end[pci] - count for pci, count in at_begin.items() if pci in at_end}


def _numbers(path):
    words = (line.split() for line in path.read_text().splitlines())
    return {name: float(value) if "." in value else int(value) for name, value in words}
