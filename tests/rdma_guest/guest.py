"""Boots a virtual machine with network cards of known counters, and brings back what the sampler saw in it.

There is no RDMA hardware where the tests run, and a fixture is no kernel.  So a stock Debian kernel is booted by QEMU,
without virtualisation by the processor, with two devices of its own rdma_rxe and the cards of efa_stub; what happens in
it is scenarios.sh.  One boot, for it is slow, and everything is in its results: a folder.  Needs what `tests/setup.sh
guest` installs, and no root.
"""

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

from initramfs import Initramfs

HERE = Path(__file__).resolve().parent
BOOT_LIMIT_S = 240  # it takes 60 on two idle processors
RESULT_BYTES = 256 << 20
MODULES = ("virtio_pci", "virtio_blk", "crc32_generic", "crc32c_generic", "dummy", "ib_uverbs", "rdma_rxe")
PROGRAMS = ("ibv_rc_pingpong", "ib_write_bw", "rdma", "ip")  # of Debian, in the guest
APPLETS = ("awk cat chown cut dmesg echo grep id insmod kill ls mkdir mount mv poweroff printf sed sh sleep su sync "
           "tar timeout tr umount uname unshare").split()
ACCOUNTS = {"/etc/passwd": "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n",
            "/etc/group": "root:x:0:\nnogroup:x:65534:\n"}


class Failed(Exception):
    """The guest could not be built, or did not come to its end. The text says how far it came."""


def kernel_folder():
    """Where `setup.sh guest` has put a kernel, or None with the reason."""
    setup = HERE.parent / "setup.sh"
    path = subprocess.run(["bash", setup, "--path", "guest"], capture_output=True, text=True, check=True).stdout.strip()
    for what in ("qemu-system-x86_64", "busybox", "make", *PROGRAMS):
        if program(what) is None:
            return None, f"there is no {what}; run: bash {setup} guest"
    if not Path(path).is_dir():
        return None, f"there is no {path}; run: bash {setup} guest"
    return Path(path), ""


def program(name):
    return shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin")


def build_stub(kernel, work):
    """efa_stub.ko, built for the kernel by the kernel's own makefiles, in a copy: they write beside the source."""
    source = work / "efa_stub"
    shutil.copytree(HERE / "efa_stub", source)
    headers = next(kernel.glob("usr/src/linux-headers-*-amd64"))
    made = subprocess.run(["make", "-C", headers, f"M={source}", "modules"], capture_output=True, text=True,
                          check=False)
    if made.returncode != 0:
        raise Failed(f"efa_stub.ko was not built:\n{made.stdout}{made.stderr}")
    subprocess.run(["strip", "--strip-debug", source / "efa_stub.ko"], check=True)
    return source / "efa_stub.ko"


def build_initramfs(kernel, sampler, work):
    files = Initramfs()
    files.add_file("/init", HERE / "init.sh", 0o755)
    files.add_file("/scenarios.sh", HERE / "scenarios.sh", 0o755)
    files.add_file("/efa_stub.ko", build_stub(kernel, work))
    files.add_program(sampler, "/bin/jaxprof-netsampler")
    files.add_program(program("busybox"), "/bin/busybox")
    for applet in APPLETS:
        files.add_link(f"/bin/{applet}", "busybox")
    for name in PROGRAMS:
        files.add_program(program(name))
    for provider in Path("/usr/lib/x86_64-linux-gnu/libibverbs").glob("librxe-*.so"):
        files.add_program(str(provider))
    files.add_file("/etc/libibverbs.d/rxe.driver", "/etc/libibverbs.d/rxe.driver")
    for path, text in ACCOUNTS.items():
        files.add(path, text.encode())
    files.add_modules(next(kernel.glob("lib/modules/*")), MODULES)
    files.write(work / "initramfs.gz")
    return work / "initramfs.gz"


def boot(kernel, sampler, work):
    """Runs the scenarios with the program `sampler`; returns the folder of their results. `work` is empty."""
    initramfs = build_initramfs(kernel, sampler, work)
    disk, console = work / "results.tar", work / "console"
    with open(disk, "wb") as file:
        file.truncate(RESULT_BYTES)
    command = ["setpriv", "--pdeathsig", "KILL", program("qemu-system-x86_64"),
               "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "512", "-nodefaults", "-display", "none",
               "-no-reboot", "-serial", f"file:{console}", "-kernel", next(kernel.glob("boot/vmlinuz-*")),
               "-initrd", initramfs, "-append", "console=ttyS0 quiet panic=-1",
               "-drive", f"file={disk},format=raw,if=virtio"]
    try:
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=BOOT_LIMIT_S,
                               check=False)
        said = f"QEMU ended with status {ended.returncode}: {ended.stdout}{ended.stderr}"
    except subprocess.TimeoutExpired:
        said = f"it was not done in {BOOT_LIMIT_S} s"
    lines = console.read_text(errors="replace") if console.exists() else ""
    if "results are written" not in lines:
        raise Failed(f"the guest did not come to its end: {said}\n--- its console\n{lines}")
    if os.environ.get("JAXPROF_GUEST_CONSOLE"):
        print(lines)
    with tarfile.open(disk) as archive:
        archive.extractall(work / "results")
    return work / "results"
