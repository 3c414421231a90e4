"""The guest's root file system, as the archive that a Linux kernel unpacks at boot (cpio, format newc, gzip).

Nothing is installed for it and no root is needed: it holds the host's own programs with the shared libraries that they
name, at the paths that they have here, and the kernel modules that are asked for with all that they depend on.  What to
run at boot is the caller's /init.
"""

import gzip
import lzma
import re
import stat
import subprocess
from pathlib import Path

MODULES_LIST = "/etc/modules-in-order"  # paths, each behind those that it needs


class Initramfs:
    def __init__(self):
        self._entries = {}  # path without the leading slash -> (mode, content)
        for folder in ("/dev", "/proc", "/sys", "/tmp", "/out"):
            self._add_folders(folder.lstrip("/") + "/x")

    def add(self, path, content, mode=0o644):
        path = path.lstrip("/")
        self._add_folders(path)
        self._entries[path] = (stat.S_IFREG | mode, content)

    def add_file(self, path, source, mode=None):
        source = Path(source)
        self.add(path, source.read_bytes(), source.stat().st_mode & 0o777 if mode is None else mode)

    def add_link(self, path, target):
        path = path.lstrip("/")
        self._add_folders(path)
        self._entries[path] = (stat.S_IFLNK | 0o777, target.encode())

    def add_program(self, source, path=None):
        """A program or library of the host, and every shared library that the loader would map for it."""
        self.add_file(path or source, source)
        listed = subprocess.run(["ldd", source], capture_output=True, text=True, check=False)  # fails on static ones
        for library in re.findall(r"(/\S+) \(0x", listed.stdout):
            self.add_file(library, library)

    def add_modules(self, kernel_modules, names):
        """Modules of the folder `kernel_modules` (lib/modules/VERSION), under their paths there."""
        files = {}
        for path in kernel_modules.rglob("*.ko*"):
            files[path.name.split(".ko")[0].replace("-", "_")] = path
        order = []

        def add(name):
            path = files.get(name.replace("-", "_"))
            if path is None or path in order:  # not there: built in
                return
            content = path.read_bytes()
            if path.suffix == ".xz":
                content = lzma.decompress(content)
            for wanted in re.findall(rb"\0(?:depends=|softdep=pre: )([^\0]*)", content):
                for other in re.split(r"[, ]+", wanted.decode()):
                    add(other)
            order.append(path)
            self.add(f"/modules/{path.name.split('.ko')[0]}.ko", content)

        for name in names:
            add(name)
        self.add(MODULES_LIST, "".join(f"/modules/{path.name.split('.ko')[0]}.ko\n" for path in order).encode())

    def write(self, path):
        with gzip.open(path, "wb", compresslevel=1) as archive:
            for number, (name, (mode, content)) in enumerate(self._entries.items(), 1):
                archive.write(_newc(number, name, mode, content))
            archive.write(_newc(0, "TRAILER!!!", 0, b""))

    def _add_folders(self, path):
        for folder in reversed(list(Path(path).parents)[:-1]):
            self._entries.setdefault(str(folder), (stat.S_IFDIR | 0o755, b""))


def _newc(number, name, mode, content):
    """An entry: 13 numbers of 8 hexadecimal digits, the name with a zero byte, the content; each padded to 4 bytes."""
    name = name.encode() + b"\0"
    links, owner, group, time, device = 1, 0, 0, 0, (0, 0)
    numbers = (number, mode, owner, group, links, time, len(content), *device, *device, len(name), 0)
    header = b"070701" + b"".join(b"%08X" % value for value in numbers)
    return _padded(header + name) + _padded(content)


def _padded(content):
    return content + b"\0" * (-len(content) % 4)
