"""What the observer of a node left of clocks in its spool, read by agent/spool/FORMAT.md and by no code of ours: the test's
own witness of what is in the file.  Only what the tests look at is taken apart.
"""

import struct
from collections import namedtuple
from pathlib import Path

FILE_HEADER_BYTES, BLOCK_HEADER_BYTES = 32, 24
STATE, FOOTER, CLOCK = 3, 6, 9
START, PERIODIC, STEP, END = 1, 2, 3, 4  # kinds of a burst
N_STAMPS = 8
# Of Stamp, in the order of time.
(CLIENT_SEND_RAW, CLIENT_SEND_WALL, SERVER_RECEIVE_WALL, SERVER_RECEIVE_RAW, SERVER_SEND_RAW, SERVER_SEND_WALL,
 CLIENT_RECEIVE_WALL, CLIENT_RECEIVE_RAW) = range(N_STAMPS)

Reading = namedtuple("Reading", "raw wall monotonic bracket")
Burst = namedtuple("Burst", "peer number kind sent exchanges")  # exchanges: [{stamp: ns}]

_STRING, _NOTE, _SERVICE, _PEER, _DISCIPLINE, _PACKETS = 1, 37, 39, 40, 41, 42
_FIELDS = {
    _NOTE: ("<II Q", "note text stamp"),
    _SERVICE: ("<IIIIIIII QQ", "port stamps is_reference address interface clocksource reason reserved netns stamp"),
    _PEER: ("<IIIIII QQ", "peer is_reference host boot_id address port netns stamp"),
    _DISCIPLINE: ("<Ii qqqq Q", "status tai frequency offset max_error estimated_error stamp"),
    _PACKETS: ("<QQQQQQQQQQ Q", "sent received wrong_size wrong_mac wrong_node replayed rate_limited unpaired send_failed "
                                "cpu_ns stamp"),
}
_TEXTS = ("text", "address", "interface", "clocksource", "reason", "host", "boot_id")


class _Numbers:
    """Varints, plain and folded; differences are modulo 2^64."""

    def __init__(self, payload):
        self.payload, self.at = payload, 0

    def has_more(self):
        return self.at < len(self.payload)

    def plain(self):
        value, shift = 0, 0
        while True:
            byte = self.payload[self.at]
            self.at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    def folded(self):
        value = self.plain()
        return value >> 1 if value % 2 == 0 else ~(value >> 1)


def _signed(value):
    return (value + 2**63) % 2**64 - 2**63


class NodeSpool:
    """`error` is None unless something is damaged that a kill does not damage: only the last block may be torn."""

    def __init__(self, path):
        self.path = Path(path)
        self.texts = {0: ""}
        self.readings, self.bursts = [], []
        self.notes, self.services, self.peers, self.disciplines, self.packets = [], [], [], [], []
        self.has_footer = False
        self.bytes = self.path.read_bytes()
        self._records = {_NOTE: self.notes, _SERVICE: self.services, _PEER: self.peers,
                         _DISCIPLINE: self.disciplines, _PACKETS: self.packets}
        at, sequence = FILE_HEADER_BYTES, 0
        while at + BLOCK_HEADER_BYTES <= len(self.bytes):
            magic, length, kind, _, number, _ = struct.unpack_from("<4sIHHIQ", self.bytes, at)
            assert (magic, number) == (b"JBLK", sequence), f"{path} is damaged at {at}"
            payload = self.bytes[at + BLOCK_HEADER_BYTES:at + BLOCK_HEADER_BYTES + length]
            if len(payload) < length:
                break
            self._take(kind, payload)
            at, sequence = at + BLOCK_HEADER_BYTES + length, sequence + 1

    def _take(self, kind, payload):
        if kind == STATE:
            self._take_state(payload)
        elif kind == CLOCK:
            self._take_clock(_Numbers(payload))
        self.has_footer = self.has_footer or kind == FOOTER

    def _take_state(self, payload):
        at = 0
        while at < len(payload):
            kind, _, length = struct.unpack_from("<HHI", payload, at)
            if kind == _STRING:
                number, size = struct.unpack_from("<II", payload, at + 8)
                self.texts[number] = payload[at + 16:at + 16 + size].decode()
            elif kind in _FIELDS:
                layout, names = _FIELDS[kind]
                row = dict(zip(names.split(), struct.unpack_from(layout, payload, at + 8)))
                row.update({name: self.texts[row[name]] for name in _TEXTS if name in row})
                self._records[kind].append(row)
            at += length

    def _take_clock(self, numbers):
        while numbers.has_more():
            section = numbers.plain()
            assert section in (1, 2), f"{self.path}: section {section}"
            if section == 1:
                self._take_readings(numbers)
            else:
                self._take_burst(numbers)

    def _take_readings(self, numbers):
        raw = wall = monotonic = 0
        for _ in range(numbers.plain()):
            raw, wall, monotonic = raw + numbers.folded(), wall + numbers.folded(), monotonic + numbers.folded()
            self.readings.append(Reading(_signed(raw), _signed(raw + wall), _signed(raw + monotonic), numbers.plain()))

    def _take_burst(self, numbers):
        peer, number, kind, sent, count = (numbers.plain() for _ in range(5))
        before, exchanges = [0] * N_STAMPS, []
        for _ in range(count):
            numbers.plain()  # its sequence
            mask, stamps = numbers.plain(), {}
            for stamp in range(N_STAMPS):
                if mask >> stamp & 1:
                    before[stamp] += numbers.folded()
                    stamps[stamp] = _signed(before[stamp])
            exchanges.append(stamps)
        self.bursts.append(Burst(peer, number, kind, sent, exchanges))

    def number_of(self, boot_id):
        """By which bursts name that node; None if it was never asked."""
        numbers = {peer["peer"] for peer in self.peers if peer["boot_id"] == boot_id}
        assert len(numbers) <= 1, f"{self.path}: {boot_id} has the numbers {numbers}"
        return numbers.pop() if numbers else None

    def bursts_with(self, boot_id, *kinds):
        """Those that were answered."""
        number = self.number_of(boot_id)
        return [burst for burst in self.bursts
                if burst.peer == number and burst.exchanges and (not kinds or burst.kind in kinds)]
