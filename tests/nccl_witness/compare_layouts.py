#!/usr/bin/env python3
"""Are the profiler layouts that the agent and the puppet wrote down for themselves those of NCCL's own headers?

    compare_layouts.py NCCL_SOURCE [COMPILER]

Writes a program that asks the compiler for every offset on both sides, and runs it. One line a version; exit status 0:
all equal, 1: a difference, or a header that does not compile, 77: no version's header is there.
"""

import pathlib
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parents[2]
HEADER_FOLDERS = ("src/include/plugin/profiler", "ext-profiler/example/nccl", "ext-profiler/inspector/nccl")
VERSIONS = range(1, 8)

# Upstream's member: {upstream's field: (agent's, puppet's)}; None: not declared there.
HEAD = {"type": ("type", "type"), "parentObj": ("parent", "parent"), "rank": ("rank", "rank")}
COLL_1 = {"name": ("communicator_name", "comm_name"), "commHash": ("communicator_hash", "comm_hash"),
          "trafficBytes": ("traffic_bytes", "traffic_bytes"), "nMaxChannels": ("channels", "n_channels"),
          "op": ("reduction", "reduction"), "isCollnet": ("is_collnet", "is_collnet"), "isNvls": ("is_nvls", "is_nvls")}
COLL = {"seqNumber": ("sequence", "sequence"), "func": ("function", "function"),
        "sendBuff": ("send_buffer", "send_buffer"), "recvBuff": ("receive_buffer", "receive_buffer"),
        "count": ("count", "count"), "root": ("root", "root"), "datatype": ("datatype", "datatype"),
        "nChannels": ("channels", "n_channels"), "nWarps": ("warps", "n_warps"), "algo": ("algorithm", "algorithm"),
        "proto": ("protocol", "protocol"), "parentGroup": ("group", "parent_group"),
        "kernelVariant": ("kernel_variant", "kernel_variant"), "isSymColl": ("is_symmetric", "is_symmetric"),
        "userTag": ("user_tag", "user_tag"), **COLL_1}
P2P = {"name": COLL_1["name"], "commHash": COLL_1["commHash"], "func": ("function", "function"),
       "buff": ("buffer", "buffer"), "datatype": ("datatype", "datatype"), "count": ("count", "count"),
       "peer": ("peer", "peer"), "nChannels": ("channels", "n_channels"), "parentGroup": ("group", "parent_group"),
       "userTag": ("user_tag", "user_tag")}
API = {"func": ("function", "function"), "count": ("count", "count"), "datatype": ("datatype", "datatype"),
       "root": ("root", "root"), "stream": ("stream", "stream"), "graphCaptured": ("is_captured", "graph_captured"),
       "userTag": ("user_tag", "user_tag")}
CE_COLL = {"seqNumber": COLL["seqNumber"], "func": COLL["func"], "sendBuff": COLL["sendBuff"],
           "recvBuff": COLL["recvBuff"], "count": COLL["count"], "root": COLL["root"], "datatype": COLL["datatype"],
           "syncStrategy": ("synchronization", "sync_strategy"),
           "intraBatchSync": ("synchronizes_in_batch", "intra_batch_sync"), "batchSize": ("batch_size", "batch_size"),
           "numBatches": ("batch_count", "n_batches"), "ceSeqNum": ("copy_sequence", "ce_sequence"),
           "stream": ("stream", "stream"), "userTag": ("user_tag", "user_tag")}
# {upstream's member of the union: (agent's, puppet's, fields)}
MEMBERS = {
    "coll": ("coll", "coll", COLL),
    "p2p": ("p2p", "p2p", P2P),
    "groupApi": ("group_api", "group_api",
                 {"graphCaptured": ("is_captured", "graph_captured"), "groupDepth": ("depth", "group_depth")}),
    "collApi": ("coll_api", "coll_api", API),
    "p2pApi": ("p2p_api", "p2p_api", API),
    "kernelLaunch": ("kernel_launch", "kernel_launch", {"stream": ("stream", "stream")}),
    "ceColl": ("ce_coll", "ce_coll", CE_COLL),
    "proxyOp": (None, "proxy_op", {"pid": (None, "pid"), "channelId": (None, "channel"), "peer": (None, "peer"),
                                   "nSteps": (None, "n_steps"), "chunkSize": (None, "chunk_size"),
                                   "isSend": (None, "is_send")}),
    "proxyStep": (None, "proxy_step", {"step": (None, "step")}),
    "kernelCh": (None, "kernel_channel", {"channelId": (None, "channel"), "pTimer": (None, "device_timer")}),
    "netPlugin": (None, "net_plugin", {"id": (None, "id"), "data": (None, "contents")}),
    "ceCollSync": (None, "ce_sync", {"isComplete": (None, "is_complete"), "nRanks": (None, "n_ranks")}),
    "ceCollBatch": (None, "ce_batch", {"numOps": (None, "n_operations"), "totalBytes": (None, "total_bytes"),
                                       "useIntraSync": (None, "uses_intra_sync")}),
    "kernelPhase": (None, "kernel_phase", {"channelId": (None, "channel"), "phaseId": (None, "phase"),
                                           "phaseName": (None, "phase_name"), "pTimer": (None, "device_timer")}),
}
TABLE = {"name": ("name", "name"), "init": ("init", "init"), "startEvent": ("start_event", "start_event"),
         "stopEvent": ("stop_event", "stop_event"), "recordEventState": ("record_event_state", "record_event_state"),
         "finalize": ("finalize", "finalize")}

PRELUDE = """#include <sys/types.h>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <type_traits>
typedef int ncclResult_t;
typedef pid_t ncclPid_t;
typedef void (*ncclDebugLogger_t)(int, unsigned long, const char*, int, const char*, ...);
"""
# A field that one side has and the other has not is a difference of its own: `requires` finds out.
COMPARISON = """
static int compared = 0, differences = 0;
static void compare(int version, const char* what, const char* side, std::size_t theirs, std::size_t ours) {
  ++compared;
  if (theirs == ours) return;
  ++differences;
  std::printf("version %d: %s is at %zu, and %s has it at %zu\\n", version, what, theirs, side, ours);
}
static void miss(int version, const char* what, const char* side) {
  ++differences;
  std::printf("version %d: %s is known to only one of NCCL's header and %s\\n", version, what, side);
}
"""


def comparison(version, their_type, our_type, side, their_field, our_field):
    """Compares where both have it; says so where only one has."""
    what = f"{their_type.removeprefix('ncclProfiler').split('_')[0]} {their_field}"
    return f"""
  [&]<typename Theirs, typename Ours>(std::type_identity<Theirs>, std::type_identity<Ours>) {{
    constexpr bool has_theirs = requires(Theirs d) {{ d.{their_field}; }};
    constexpr bool has_ours = requires(Ours d) {{ d.{our_field}; }};
    if constexpr (has_theirs && has_ours) {{
      compare({version}, "{what}", "{side}", offsetof(Theirs, {their_field}), offsetof(Ours, {our_field}));
    }} else if constexpr (has_theirs != has_ours) {{
      miss({version}, "{what}", "{side}");
    }}
  }}(std::type_identity<{their_type}>{{}}, std::type_identity<{our_type}>{{}});"""


def lines_of(version, side, position, our_descriptor, our_table):
    """The comparisons of one version with the agent (position 0) or the puppet (1)."""
    theirs, table = f"ncclProfilerEventDescr_v{version}_t", f"ncclProfiler_v{version}_t"
    yield f'\n  compare({version}, "size of a descriptor", "{side}", sizeof({theirs}), sizeof({our_descriptor}));'
    for field, ours in HEAD.items():
        yield comparison(version, theirs, our_descriptor, side, field, ours[position])
    for member, (*ours, fields) in MEMBERS.items():
        for field, our_fields in fields.items():
            is_other_name = member == "coll" and field == ("nChannels" if version <= 3 else "nMaxChannels")
            if ours[position] is not None and not is_other_name:
                yield comparison(version, theirs, our_descriptor, side, f"{member}.{field}",
                                 f"{ours[position]}.{our_fields[position]}")
    for field, ours in TABLE.items():
        yield comparison(version, table, our_table, side, field, ours[position])


def program(versions):
    text = PRELUDE + "".join(f"typedef int ncclProfilerEventState_v{version}_t;\n" for version in VERSIONS)
    text += "".join(f'#include "profiler_v{version}.h"\n' for version in versions)
    text += '#include "agent/nccl/descriptors.h"\n#include "tests/puppets/profiler_abi.h"\n' + COMPARISON
    text += "int main() {\n  using namespace jaxprof;"
    for version in versions:
        init = "InitV1" if version <= 3 else "InitV4" if version == 4 else "InitV5"
        abi = "puppets::profiler_abi"
        text += "".join(lines_of(version, "the agent", 0, f"nccl::DescriptorV{version}", f"nccl::ProfilerV{version}"))
        text += "".join(lines_of(version, "the puppet", 1, f"{abi}::DescriptorV{version}",
                                 f"{abi}::Plugin<{abi}::{init}>"))
        text += f'\n  std::printf("version {version}: %d offsets compared, %d differences\\n", compared, differences);'
        text += "\n  compared = 0, all += differences, differences = 0;"
    return text.replace("using namespace jaxprof;", "using namespace jaxprof;\n  int all = 0;") + "\n  return all != 0;\n}\n"


def header_folder(source):
    """The folder with most versions, and these."""
    found = {folder: [v for v in VERSIONS if (source / folder / f"profiler_v{v}.h").exists()]
             for folder in HEADER_FOLDERS}
    folder = max(found, key=lambda name: len(found[name]))
    return source / folder, found[folder]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    source, compiler = pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) == 3 else "c++"
    folder, versions = header_folder(source)
    for version in VERSIONS:
        if version not in versions:
            print(f"version {version}: MISSING: {folder}/profiler_v{version}.h")
    if not versions:
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        path, binary = pathlib.Path(scratch) / "compare.cpp", pathlib.Path(scratch) / "compare"
        path.write_text(program(versions))
        built = subprocess.run([compiler, "-std=c++20", "-Wno-invalid-offsetof", f"-I{PROJECT}", f"-I{folder}", path,
                                "-o", binary], check=False)
        return 1 if built.returncode else subprocess.run([binary], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
