"""Which file may include what: the project's architecture as tables, and nothing else.

An edge that is not in a table here is an error.  Whoever needs a new one changes this file, where it is seen in review,
instead of adding an include that nobody notices.  check_sources.py applies the tables.
"""

# Folder -> folders it may include.  A file belongs to the longest folder named here; itself is always allowed.
# Folders below a name (merge/clock below merge) count as that folder.
_FOUNDATION = ("agent/base", "agent/contract", "agent/spool")
_EVERYTHING = ("agent", "launcher", "netsampler", "merge", "slurm", "tests")

ALLOWED_FOLDERS = {
    "agent/base": (),
    "agent/contract": ("agent/base",),
    "agent/spool": ("agent/base", "agent/contract"),
    "agent/collect": _FOUNDATION + ("agent/nvtx", "agent/nccl", "agent/cupti"),
    "agent/nvtx": _FOUNDATION,
    "agent/nccl": _FOUNDATION,
    "agent/cupti": _FOUNDATION,
    "launcher": _FOUNDATION,
    "netsampler": _FOUNDATION,
    "merge": _FOUNDATION,
    "slurm": ("agent/base", "agent/contract"),
    "tests": _EVERYTHING,
    # They write the other side's ABI for themselves: a shared header would hide a shared mistake.
    "tests/puppets": ("agent/base", "agent/contract", "agent/spool", "tests/doubles"),
    "tests/doubles": ("agent/base", "agent/contract", "agent/spool"),
}

# Single headers that a folder may include besides its folders.
ALLOWED_HEADERS = {
    "agent/nvtx": ("agent/collect/event_sink.h",),
    "agent/nccl": ("agent/collect/event_sink.h",),
    "agent/cupti": ("agent/collect/event_sink.h",),
}

# (what, regular expression on the included name, regular expression on the files that may include it)
FENCES = (
    ("CUPTI", r"cupti(_\w+)?\.h", r"(agent/cupti|tests/unit/cupti|tests/bench|tests/doubles/cuda)/.*"),
    # Its own unit tests plant files that it must refuse, which its interface cannot write.
    ("HDF5", r"(hdf5|hdf5_hl|H5\w+)\.h", r"merge/runfile/.*|tests/unit/runfile/.*"),
    ("MPI", r"mpi(_\w+)?\.h", r"merge/.*|tests/puppets/.*"),
    ("SPANK", r"slurm/\w+\.h", r"slurm/spank/.*"),
    ("CLI11", r"CLI/.*", r"(.*/)?options\.cpp"),
    ("protozero", r"protozero/.*", r"(merge|tests/unit)/export/.*"),
    # Studies know of no page; their program does.
    ("the report", r"merge/report/.*", r"merge/report/.*|merge/study/main\.cpp|tests/.*"),
    ("netlink", r"netlink/.*|linux/(netlink|rtnetlink|genetlink)\.h|rdma/rdma_netlink\.h", r"netsampler/nic/.*"),
    ("libsodium", r"sodium(/.*)?\.h", r"netsampler/clock/.*"),
    # A kernel module's headers are in folders of the same names.
    ("libibverbs", r"infiniband/.*|rdma/(?!rdma_netlink\.h).*",
     r"netsampler/gpu/.*|netsampler/nic/verbs_probe\.cpp|tests/rdma_guest/efa_stub/.*"),
    ("NVML", r"nvml\.h", r"netsampler/gpu/.*|netsampler/nic/verbs_probe\.cpp"),
)

# (what, regular expression on the included name, folder, most files of that folder that may include it)
SINGLE_FILE_FENCES = (("MPI", r"mpi(_\w+)?\.h", "merge/", 1),)

# The repository's top level; names that start with a dot are free.
TOP_LEVEL = (
    "CHANGELOG.md",
    "CMakeLists.txt",
    "CMakePresets.json",
    "LICENSE",
    "README.md",
    "agent",
    "launcher",
    "merge",
    "netsampler",
    "slurm",
    "tests",
)

# A longer source file is listed as a note, never failed: a reason to look whether it is still one noun.
LISTED_FROM_LINES = 400

# Everything that libjaxprof-agent.so may show to the process that loads it.
AGENT_EXPORTS = (
    "InitializeInjection",  # CUDA_INJECTION64_PATH
    "InitializeInjectionNvtx2",  # NVTX_INJECTION64_PATH
    "InitializeInjectionNvtxExtension",  # the same, for NVTX's extension modules
    *(f"ncclProfiler_v{version}" for version in range(1, 8)),  # NCCL_PROFILER_PLUGIN
)
# Of jaxprof-probe too, as the next.
AGENT_NEEDED = ("libc.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1")
AGENT_NEWEST_GLIBC = (2, 28)  # RHEL 8
AGENT_TLS_BYTES = 8  # one pointer; more may not fit the static TLS left when it is loaded late
