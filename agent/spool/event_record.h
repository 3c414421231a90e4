// An event as a thread writes it into its ring, and the words of each kind. The header says how many 64-bit fields and
// how many payload bytes follow; which field means what is said here, once, for writer and reader. New fields go to the
// end: a reader takes the ones it knows and treats missing ones as zero. Agent-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jaxprof::spool {

struct EventHeader {
  std::uint16_t bytes;  // of the whole record; a multiple of 8
  std::uint8_t kind;    // EventKind
  std::uint8_t field_count;
  std::uint32_t id;     // per kind
  std::uint64_t stamp;  // event clock
  // `field_count` u64, then payload bytes
};
static_assert(sizeof(EventHeader) == 16);

inline constexpr std::size_t kMaxFields = 16;
// An NVTX payload beyond this is cut and counted.
inline constexpr std::size_t kMaxPayloadBytes = 4096;
inline constexpr std::size_t kMaxEventBytes = sizeof(EventHeader) + 8 * kMaxFields + kMaxPayloadBytes;

// Never renumber.
enum class EventKind : std::uint8_t {
  kPadding = 0,  // fills the end of a ring; never in a spool
  kNvtxPush = 1,
  kNvtxPop = 2,
  kNvtxStart = 3,
  kNvtxEnd = 4,
  kNvtxMark = 5,
  kNcclStart = 16,
  kNcclStop = 17,
  kNcclState = 18,
  kGpuKernel = 32,
  kGpuMemcpy = 33,
  kGpuMemset = 34,
  kGpuApi = 35,
  kGpuOverhead = 36,
  kGpuGraph = 37,
  kGpuSynchronization = 38,
  kGpuEvent = 39,
  kGpuExternal = 40,
};

// ---- NVTX. Push, Start and Mark: `id` is the message's string id; Pop and End: `id` is the domain.
// Payload bytes of any of them: PayloadHeader records, each followed by its bytes, zero-padded to a multiple of 8.
struct PayloadHeader {
  std::uint64_t schema;
  std::uint32_t bytes;       // that follow
  std::uint32_t full_bytes;  // before it was cut
};
static_assert(sizeof(PayloadHeader) == 16);

// Field 0 of Push, Start and Mark.
struct NvtxContext {
  std::uint16_t domain;
  std::uint16_t depth;  // ranges that are open around it, on its thread and domain (Push)
  std::uint32_t category;
};
constexpr std::uint64_t pack(const NvtxContext& context) noexcept {
  return context.domain | static_cast<std::uint64_t>(context.depth) << 16 |
         static_cast<std::uint64_t>(context.category) << 32;
}
constexpr NvtxContext unpack_nvtx_context(std::uint64_t word) noexcept {
  return {static_cast<std::uint16_t>(word), static_cast<std::uint16_t>(word >> 16),
          static_cast<std::uint32_t>(word >> 32)};
}

namespace nvtx_field {
inline constexpr std::size_t kContext = 0;      // Push, Start, Mark
inline constexpr std::size_t kPayloadType = 1;  // NVTX_PAYLOAD_TYPE_*, 0: none
inline constexpr std::size_t kPayload = 2;      // its 64 bits
inline constexpr std::size_t kRangeId = 3;      // Start
inline constexpr std::size_t kStep = 4;         // Push, Start: 1 + the step's ordinal; 0: not a step
// Push in NCCL's domain of a call that has a communicator: 1 + the number of calls before it in the process of the same
// function, communicator and peer, recorded or not. 0: not counted.
inline constexpr std::size_t kCallOrdinal = 5;
inline constexpr std::size_t kPopDepth = 0;  // Pop: depth of the range it closes
// Where pops were lost since the last push or pop of the same thread and domain: 1 + the lowest depth of the ranges
// that they closed. What the reader holds open from that depth on has ended. 0: no pop was lost.
inline constexpr std::size_t kPushUnseenEnds = 3;
inline constexpr std::size_t kPopUnseenEnds = 1;
inline constexpr std::size_t kEndRangeId = 0;  // End
}  // namespace nvtx_field

// ---- NCCL profiler plugin. Start: `id` is NcclEvent; Stop: 0; State: NCCL's state number.
// The type of an event, as the bit number of NCCL's event masks.
enum class NcclEvent : std::uint32_t {
  kGroup = 0,
  kColl = 1,
  kP2p = 2,
  kProxyOp = 3,
  kProxyStep = 4,
  kProxyCtrl = 5,
  kKernelChannel = 6,
  kNetPlugin = 7,
  kGroupApi = 8,
  kCollApi = 9,
  kP2pApi = 10,
  kKernelLaunch = 11,
  kCeColl = 12,
  kCeSync = 13,
  kCeBatch = 14,
  kKernelPhase = 15,
};

// A handle is unique in its process and never 0: thread number << 36 | count, which rises with every start on that
// thread. Threads from number 65535 on share that number and its count.
namespace nccl_field {
inline constexpr std::size_t kHandle = 0;        // Start, Stop, State
inline constexpr std::size_t kCommunicator = 1;  // Start: CommunicatorState::communicator, 0: unknown
inline constexpr std::size_t kParent = 2;        // Start: a handle, 0: none or not of this process
// by type, from field 3 on
inline constexpr std::size_t kCollSequence = 3;     // Coll: NCCL's number of the call on its communicator and function
inline constexpr std::size_t kCollCodes = 4;        // Coll: pack(NcclCodes)
inline constexpr std::size_t kCollCount = 5;        // Coll: elements as NCCL gives them (bytes for some functions)
inline constexpr std::size_t kCollRoot = 6;         // Coll
inline constexpr std::size_t kCollGroup = 7;        // Coll: handle of the Group
inline constexpr std::size_t kCollUserTag = 8;      // Coll: of the call, from NCCL 2.31 on; 0: none
inline constexpr std::size_t kCollIsSymmetric = 9;  // Coll: 1: by a symmetric kernel; told from NCCL 2.31 on
inline constexpr std::size_t kCollVariant = 10;     // Coll: the kernel's variant, a string; from NCCL 2.31 on
inline constexpr std::size_t kP2pCodes = 3;         // P2p
inline constexpr std::size_t kP2pCount = 4;         // P2p
inline constexpr std::size_t kP2pPeer = 5;          // P2p
inline constexpr std::size_t kP2pGroup = 6;         // P2p: handle of the Group
inline constexpr std::size_t kP2pUserTag = 7;       // P2p: as of Coll
inline constexpr std::size_t kApiCodes = 3;         // CollApi, P2pApi
inline constexpr std::size_t kApiCount = 4;         // CollApi, P2pApi: as the caller gave it
inline constexpr std::size_t kApiRoot = 5;          // CollApi
inline constexpr std::size_t kApiStream = 6;        // CollApi, P2pApi: the CUDA stream's address
inline constexpr std::size_t kApiIsCaptured = 7;    // CollApi, P2pApi: called while a CUDA graph is captured
inline constexpr std::size_t kGroupApiDepth = 3;    // GroupApi; 1: no explicit group
inline constexpr std::size_t kGroupApiIsCaptured = 4;
inline constexpr std::size_t kLaunchStream = 3;  // KernelLaunch
// CeColl: a collective by the GPU's copy engines, in place of a Coll (NCCL 2.29 and later). The event brackets the
// host's work, not the copies. Its bytes are count times type.
inline constexpr std::size_t kCeSequence = 3;  // as of Coll
inline constexpr std::size_t kCeCodes = 4;     // pack(NcclCodes), function and type only
inline constexpr std::size_t kCeCount = 5;
inline constexpr std::size_t kCeRoot = 6;
inline constexpr std::size_t kCeStream = 7;        // the CUDA stream's address
inline constexpr std::size_t kCeCopySequence = 8;  // number among the communicator's copy-engine collectives
inline constexpr std::size_t kCeUserTag = 9;       // as of Coll
}  // namespace nccl_field

// ---- GPUs, by CUPTI; only in blocks of kind kActivities. Stamps are the record's start, in CUPTI's clock
// (nanoseconds, GpuClockState relates it to the event clock); a record without times has stamp 0. Durations are signed,
// folded by fold_sign() (varint.h): CUPTI has been seen to give an end before a start. Lanes are GpuLaneState,
// correlations are what joins a call with the work it launched, 0: none. Fields at the end that are 0 are left out.
namespace gpu_field {
inline constexpr std::size_t kDuration = 0;     // of all kinds but External and Event
inline constexpr std::size_t kLane = 1;         // Kernel, Memcpy, Memset, Graph
inline constexpr std::size_t kCorrelation = 2;  // Kernel, Memcpy, Memset, Graph, Api, Overhead, Synchronization
// Kernel: `id` is its name, a string.
inline constexpr std::size_t kKernelConfig = 3;  // LaunchConfigState
inline constexpr std::size_t kKernelGraphNode = 4;
inline constexpr std::size_t kKernelGraph = 5;
inline constexpr std::size_t kKernelChannel = 6;  // hardware channel's number
// Memcpy: `id` is copyKind | srcKind << 8 | dstKind << 16 | flags << 24, as in CUPTI's records.
inline constexpr std::size_t kMemcpyBytes = 3;
inline constexpr std::size_t kMemcpyGraphNode = 4;
inline constexpr std::size_t kMemcpyGraph = 5;
inline constexpr std::size_t kMemcpyPeer = 6;  // 1 + device of the other end where it is another GPU's
// Memset: `id` is memoryKind | flags << 16.
inline constexpr std::size_t kMemsetBytes = 3;
inline constexpr std::size_t kMemsetValue = 4;
inline constexpr std::size_t kMemsetGraphNode = 5;
inline constexpr std::size_t kMemsetGraph = 6;
// Api: `id` is the callback id, with kRuntimeApi if it is of the runtime API; GpuApiState names it.
inline constexpr std::uint32_t kRuntimeApi = 1U << 31;
inline constexpr std::size_t kApiTid = 1;     // gettid()
inline constexpr std::size_t kApiResult = 3;  // what the call returned
// Overhead: `id` is CUpti_ActivityOverheadKind.
inline constexpr std::size_t kOverheadObject = 1;  // tid, or stream or context by CUPTI's object kind in field 3
inline constexpr std::size_t kOverheadObjectKind = 3;
// Graph (whole graphs): `id` is the graph's.
// Synchronization: `id` is CUpti_ActivitySynchronizationType.
inline constexpr std::size_t kSyncContext = 1;
inline constexpr std::size_t kSyncStream = 3;
inline constexpr std::size_t kSyncEvent = 4;
// Event (cudaEventRecord): `id` is the event's; its stamp is the device time where CUPTI gives one.
inline constexpr std::size_t kEventContext = 0;
inline constexpr std::size_t kEventStream = 1;
// External: `id` is 0; its stamp means nothing. A NCCL launch and the correlation of what it launched.
inline constexpr std::size_t kExternalHandle = 0;  // nccl_field::kHandle of the KernelLaunch
inline constexpr std::size_t kExternalCorrelation = 1;
}  // namespace gpu_field

// What NCCL names by strings. 0 is "a name we do not know" in each.
enum class NcclFunction : std::uint8_t {
  kUnknown,
  kAllGather,
  kAllReduce,
  kAllToAll,
  kBroadcast,
  kGather,
  kRecv,
  kReduce,
  kReduceScatter,
  kScatter,
  kSendRecv,
  kSend,
};
enum class NcclType : std::uint8_t {
  kUnknown,
  kInt8,
  kUint8,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat16,
  kFloat32,
  kFloat64,
  kBfloat16,
  kFloat8E4m3,
  kFloat8E5m2,
};
enum class NcclAlgorithm : std::uint8_t {
  kUnknown,
  kTree,
  kRing,
  kCollnetDirect,
  kCollnetChain,
  kNvls,
  kNvlsTree,
  kPat,
};
enum class NcclProtocol : std::uint8_t { kUnknown, kLl, kLl128, kSimple };

struct NcclCodes {
  NcclFunction function = NcclFunction::kUnknown;
  NcclType type = NcclType::kUnknown;
  NcclAlgorithm algorithm = NcclAlgorithm::kUnknown;
  NcclProtocol protocol = NcclProtocol::kUnknown;
  std::uint8_t channels = 0;
  std::uint8_t warps = 0;
};
constexpr std::uint64_t pack(const NcclCodes& c) noexcept {
  return static_cast<std::uint64_t>(c.function) | static_cast<std::uint64_t>(c.type) << 8 |
         static_cast<std::uint64_t>(c.algorithm) << 16 | static_cast<std::uint64_t>(c.protocol) << 24 |
         static_cast<std::uint64_t>(c.channels) << 32 | static_cast<std::uint64_t>(c.warps) << 40;
}
constexpr NcclCodes unpack_nccl_codes(std::uint64_t word) noexcept {
  const auto byte = [word](unsigned at) { return static_cast<std::uint8_t>(word >> (8 * at)); };
  return {static_cast<NcclFunction>(byte(0)),
          static_cast<NcclType>(byte(1)),
          static_cast<NcclAlgorithm>(byte(2)),
          static_cast<NcclProtocol>(byte(3)),
          byte(4),
          byte(5)};
}

}  // namespace jaxprof::spool
