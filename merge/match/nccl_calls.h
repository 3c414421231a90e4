// One record a call. A call of NCCL leaves up to three traces in a process: an NVTX range around the API function, the
// plugin's CollApi or P2pApi inside of it, and the plugin's Coll or P2p where NCCL enqueues it, perhaps later and on
// another thread. They are joined here: the plugin's event makes the row and brings sequence, algorithm and protocol;
// the range brings the bytes, the reduction and the function's true name. Either alone makes a row as well. AlltoAll,
// Gather and Scatter, which NCCL runs as sends and receives, are one row with those as its children. A collective by
// copy engines has a CeColl in place of the Coll. What was captured into a CUDA graph is a call, and each time that the
// plugin told of it again, when the graph was launched, another one that names it as its capture.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "merge/match/comm_members.h"
#include "merge/match/nvtx_ranges.h"
#include "merge/match/plugin_events.h"
#include "merge/rundir/spool_trace.h"
#include "merge/runfile/enums.h"

namespace jaxprof::match {

inline constexpr std::size_t kNoCall = std::numeric_limits<std::size_t>::max();
inline constexpr std::uint64_t kNoAmount = std::numeric_limits<std::uint64_t>::max();

// Stamps in ticks of the process's event clock.
struct NcclCall {
  runfile::Coll coll = runfile::Coll::kUnknown;
  std::string_view api;  // "ncclAllReduce", of the trace; "" if only NCCL's own word is known
  std::optional<std::uint64_t> comm_hash;
  std::int32_t comm_rank = -1;
  std::int32_t device = -1;            // CUDA's number for the member's GPU in this process; -1: not told
  std::uint32_t communicator = 0;      // number in the spool; 0: the plugin did not tell
  std::uint64_t sequence = kNoAmount;  // of the call on its communicator and function; of a Send or Recv, and peer
  bool is_sequence_counted = false;    // from NVTX, not by NCCL's plugin
  runfile::Dtype dtype = runfile::Dtype::kMissing;
  runfile::Redop redop = runfile::Redop::kMissing;
  runfile::Algo algo = runfile::Algo::kMissing;
  runfile::Proto proto = runfile::Proto::kMissing;
  std::uint8_t channels = 255;      // missing
  std::uint64_t count = kNoAmount;  // elements, as the caller gave them
  std::uint64_t bytes = kNoAmount;  // per rank, NCCL's convention
  std::int32_t root = -1;
  std::int32_t peer = -1;
  std::uint64_t group = kNoAmount;  // calls of one explicit group share it
  std::uint64_t plan = 0;           // handle of the Group: the kernel plan that holds it; 0: none known
  std::uint64_t calls_in_plan = 0;  // that share a kernel with it, itself included; 0: unknown
  std::uint64_t enqueued = 0;       // handle of its Coll, P2p or CeColl; 0: none
  std::uint64_t group_api = 0;      // handle of the GroupApi that it was called in; 0: none
  std::size_t parent = kNoCall;     // the call that this send or receive is a part of
  std::uint32_t thread = 0;         // that called the API, else that enqueued
  std::uint64_t stream = 0;         // address of the CUDA stream; 0: unknown
  bool is_captured = false;
  // Of a captured call and its replays: which of the captured calls of its member, function (of a Send or Recv, and
  // peer) and sequence it is, from 0.
  // NCCL does not number what is captured, so that these have one sequence, and that of the next call as well.
  std::uint64_t capture_number = kNoAmount;
  std::size_t capture = kNoCall;     // the call whose replay it is
  std::uint64_t replay = kNoAmount;  // which one, from 0
  runfile::NcclSource source = runfile::NcclSource::kMissing;
  std::uint64_t enqueue_start = 0;
  std::uint64_t enqueue_end = 0;
  bool has_enqueue_end = false;
  // Where its work was launched, by NVTX: its own range, or that of the ncclGroupEnd which ended its group. Of the
  // same thread; empty: not known. Without its own end it ends where the thread was out of it; UINT64_MAX: not known.
  std::uint64_t launch_start = 0;
  std::uint64_t launch_end = 0;
  bool has_launch_end = false;
};

struct NcclCalls {
  std::vector<NcclCall> calls;     // by enqueue_start
  std::vector<ProcessComm> comms;  // by hash, then rank; at least one of each communicator that a call names
};

// All of one process. `ranges` are all of its NVTX ranges; those outside of NCCL's domain are ignored.
NcclCalls assemble_calls(const rundir::SpoolTrace& trace, const NvtxRanges& ranges, const PluginEvents& plugin);

}  // namespace jaxprof::match
