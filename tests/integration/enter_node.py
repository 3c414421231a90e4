"""enter_node.py NAME BOOT_ID_FILE AHEAD_NS COMMAND...: becomes COMMAND on a node of a test (network_nodes.py).

In the network namespace and with the mounts of `ip netns exec`, which is before it, it takes a host name, a boot id and
a time namespace in which CLOCK_MONOTONIC, _RAW and _BOOTTIME are ahead by so much. A time namespace takes its offsets
only as long as no process is in it, and a process enters it by exec: so one program does it all.
"""

import ctypes
import os
import socket
import sys
from pathlib import Path

NEW_UTS, NEW_TIME, BIND = 0x04000000, 0x00000080, 4096
BOOT_ID = "/proc/sys/kernel/random/boot_id"
_libc = ctypes.CDLL(None, use_errno=True)


def call(function, *arguments):
    if function(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{function.__name__}{arguments}: {os.strerror(number)}")


def main(name, boot_id_file, ahead_ns, *command):
    call(_libc.unshare, NEW_UTS | NEW_TIME)
    socket.sethostname(name)
    call(_libc.mount, boot_id_file.encode(), BOOT_ID.encode(), None, BIND, None)
    seconds, ns = divmod(int(ahead_ns), 1_000_000_000)
    Path("/proc/self/timens_offsets").write_text(f"monotonic {seconds} {ns}\nboottime {seconds} {ns}\n")
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
