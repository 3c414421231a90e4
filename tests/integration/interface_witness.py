#!/usr/bin/env python3
"""interface_witness.py LOG PEER: what the counters of this node's eth0 were, and when, until standard input ends.

Sends a datagram to PEER a hundred times a second, so that the counters move, and after each appends a line to LOG:
"BEGIN_NS END_NS VALUE...", CLOCK_REALTIME before and after reading, and the counters in the order of NAMES.
"""

import select
import socket
import sys
import time

NAMES = ("tx_bytes", "tx_packets", "rx_bytes", "rx_packets")
PERIOD_S = 0.01
DISCARD_PORT = 9
DATAGRAM = bytes(1000)


def watch(path, peer):
    files = [open(f"/sys/class/net/eth0/statistics/{name}", encoding="ascii") for name in NAMES]
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.connect((peer, DISCARD_PORT))
    with open(path, "w", buffering=1, encoding="ascii") as log:
        while not select.select([sys.stdin], [], [], PERIOD_S)[0]:
            try:
                sender.send(DATAGRAM)
            except ConnectionRefusedError:
                pass  # nobody listens there, and the peer says so
            begin_ns = time.clock_gettime_ns(time.CLOCK_REALTIME)
            values = []
            for file in files:
                file.seek(0)
                values.append(file.read().strip())
            end_ns = time.clock_gettime_ns(time.CLOCK_REALTIME)
            print(begin_ns, end_ns, *values, file=log)


if __name__ == "__main__":
    watch(*sys.argv[1:])
