// The state stream: what a process registers once and events refer to by number (strings, domains, schemas,
// communicators, threads). State is kept from attach on, window or not, and is never overwritten: records are appended
// to the process's registration log in its memory file, and copied from there, as they are, into the spool's state
// blocks. Every record starts with a StateHeader and its size is a multiple of 8. Agent-safe.
#pragma once

#include <cstdint>

namespace jaxprof::spool {

// Never renumber.
enum class StateKind : std::uint16_t {
  kString = 1,
  kDomain = 2,
  kCategory = 3,
  kSchema = 4,
  kEnum = 5,
  kThread = 6,
  kThreadName = 7,
  kCommunicator = 8,
  kCommunicatorEnd = 9,
  kHook = 10,
  kResource = 11,
  kGpuDevice = 12,
  kGpuContext = 13,
  kGpuLane = 14,
  kLaunchConfig = 15,
  kGraphNode = 16,
  kSegment = 17,
  kGpuClock = 18,
  kGpuCollector = 19,
  kGpuRecord = 20,
  kGpuApi = 21,
  kGpuStream = 22,
  // of nodes: node_record.h
  kNodeObserver = 32,
  kNicPort = 33,
  kSampleStream = 34,
  kNodeGpu = 35,
  kNicEvent = 36,
  kNodeNote = 37,
  kNodeTicks = 38,
  // of nodes: clock_record.h
  kClockService = 39,
  kClockPeer = 40,
  kClockDiscipline = 41,
  kClockPackets = 42,
};

struct StateHeader {
  std::uint16_t kind;
  std::uint16_t reserved;
  std::uint32_t bytes;  // of the whole record
};
static_assert(sizeof(StateHeader) == 8);

// Number of a string. 0: none; kLostString: there was one, but the log was full.
using StringId = std::uint32_t;
inline constexpr StringId kNoString = 0;
inline constexpr StringId kLostString = 0xffffffffU;

struct StringState {
  StateHeader header;
  StringId id;  // counts from 1 in order of first use
  std::uint32_t length;
  // `length` bytes, zero-padded
};

struct DomainState {  // an NVTX domain; 0 is the default domain and has no record
  StateHeader header;
  std::uint32_t domain;
  StringId name;
};

struct CategoryState {
  StateHeader header;
  std::uint32_t domain;
  std::uint32_t category;
  StringId name;
  std::uint32_t reserved;
};

// An NVTX payload schema: how to read the bytes of a payload (nvtxPayloadSchemaAttr_t, nvToolsExtPayload.h).
struct SchemaState {
  StateHeader header;
  std::uint32_t domain;
  std::uint32_t entry_count;
  std::uint64_t schema;  // the id that payloads carry
  std::uint64_t type;    // NVTX_PAYLOAD_SCHEMA_TYPE_*
  std::uint64_t flags;
  std::uint64_t payload_bytes;  // 0: not given
  std::uint64_t alignment;      // 0: natural
  StringId name;
  std::uint32_t reserved;
  // `entry_count` SchemaEntry
};

struct SchemaEntry {
  std::uint64_t flags;   // NVTX_PAYLOAD_ENTRY_FLAG_*
  std::uint64_t type;    // NVTX_PAYLOAD_ENTRY_TYPE_* or the id of a schema or enum
  std::uint64_t detail;  // array length or union selector
  std::uint64_t offset;  // 0 on a later entry: by natural alignment
  StringId name;
  std::uint32_t reserved;
};

struct EnumState {
  StateHeader header;
  std::uint32_t domain;
  std::uint32_t entry_count;
  std::uint64_t schema;
  std::uint64_t value_bytes;
  StringId name;
  std::uint32_t reserved;
  // `entry_count` EnumEntry
};

struct EnumEntry {
  std::uint64_t value;
  StringId name;
  std::uint32_t is_flag;
};

struct ThreadState {  // a thread that wrote events
  StateHeader header;
  std::uint32_t thread;  // the number that event blocks carry
  std::uint32_t tid;     // gettid()
};

struct ThreadNameState {
  StateHeader header;
  std::uint32_t tid;
  StringId name;
};

struct CommunicatorState {  // ncclProfiler init
  StateHeader header;
  std::uint32_t communicator;  // the number that events carry, from 1
  std::uint32_t api;           // profiler API version
  std::uint64_t hash;          // NCCL's communicator id, equal on all members
  std::int32_t rank;
  std::int32_t rank_count;
  std::int32_t node_count;
  StringId name;
  std::uint64_t stamp;
};

struct CommunicatorEndState {
  StateHeader header;
  std::uint32_t communicator;
  std::uint32_t reserved;
  std::uint64_t stamp;
};

struct HookState {  // something called one of our entry points
  StateHeader header;
  std::uint32_t hook;    // HookBit of contract/session_page.h
  std::uint32_t detail;  // NVTX: number of function tables; NCCL: API version
  std::uint64_t stamp;
};

struct ResourceState {  // nvtxDomainResourceCreate
  StateHeader header;
  std::uint32_t domain;
  std::uint32_t type;  // identifierType
  std::uint64_t identifier;
  StringId name;
  std::uint32_t reserved;
};

struct GpuDeviceState {  // a device that the process used
  StateHeader header;
  std::uint32_t device;  // CUDA's ordinal in this process
  StringId name;
  std::uint8_t uuid[16];     // all 0: unknown
  std::uint32_t capability;  // major * 10 + minor
  std::uint32_t processors;  // streaming multiprocessors
  std::uint64_t memory_bytes;
};

struct GpuContextState {
  StateHeader header;
  std::uint32_t context;
  std::uint32_t device;
};

struct GpuLaneState {  // where work runs: one stream of one context
  StateHeader header;
  std::uint32_t lane;  // the number that activities carry, from 1
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
};

struct GpuStreamState {  // the address by which the program and NCCL know a stream
  StateHeader header;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint64_t address;
};

struct LaunchConfigState {  // how kernels were launched
  StateHeader header;
  std::uint32_t config;  // the number that activities carry, from 1
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint32_t cluster[3];  // 0: no clusters
  std::uint32_t registers;   // a thread
  std::uint32_t static_shared_bytes;
  std::uint32_t dynamic_shared_bytes;
  std::uint32_t local_bytes;  // a thread
};

struct GraphNodeState {  // a node of a CUDA graph that NCCL made, or a clone of one, when it was made
  StateHeader header;
  std::uint64_t node;
  std::uint64_t original;  // of a clone: the node it was made from; 0: none
  std::uint64_t graph;
  std::uint64_t launch;  // NCCL's KernelLaunch that was open on the thread: nccl_field::kHandle; 0: that of `original`
  std::uint64_t stamp;
};

// Why a window opened or closed.
enum class WindowCause : std::uint32_t {
  kAttach = 1,    // it is always open
  kDelay = 2,     // T0 + delay
  kProfiler = 3,  // cudaProfilerStart or Stop
  kRange = 4,     // an NVTX range began or ended
  kStep = 5,      // the first step began, or the last one ended
  kDuration = 6,  // --duration was over
  kStopped = 7,   // the recording ended, by a limit
  kExit = 8,      // the process ended
};

struct SegmentState {  // a window opened or closed
  StateHeader header;
  std::uint32_t segment;  // from 0
  std::uint32_t is_open;  // 1: opened, 0: closed
  std::uint32_t cause;    // WindowCause
  std::uint32_t reserved;
  std::uint64_t stamp;
  std::uint64_t step;        // kStep: 1 + the step's number; else 0
  std::int64_t realtime_ns;  // CLOCK_REALTIME then
};

struct GpuClockState {  // CUPTI's clock and the event clock, read together
  StateHeader header;
  std::uint64_t counter;  // of the event clock, in the middle of the reading
  std::uint64_t bracket;  // ticks that the reading took
  std::int64_t gpu_ns;    // CUPTI's
  std::int64_t realtime_ns;
};

struct GpuCollectorState {  // by what GPUs are recorded; the last record counts
  StateHeader header;
  std::uint32_t mode;     // GpuMode of contract/session_page.h
  std::uint32_t version;  // cuptiGetVersion
  StringId library;       // path of libcupti
  StringId note;
};

struct GpuRecordState {  // the size of CUPTI's records, as it walks them
  StateHeader header;
  std::uint32_t kind;   // CUpti_ActivityKind
  std::uint32_t bytes;  // 0: CUPTI does not know the kind
};

struct GpuApiState {
  StateHeader header;
  std::uint32_t api;  // as activities carry it
  StringId name;
};

static_assert(sizeof(StringState) == 16);
static_assert(sizeof(GpuDeviceState) == 48);
static_assert(sizeof(GpuContextState) == 16);
static_assert(sizeof(GpuLaneState) == 24);
static_assert(sizeof(GpuStreamState) == 24);
static_assert(sizeof(LaunchConfigState) == 64);
static_assert(sizeof(GraphNodeState) == 48);
static_assert(sizeof(SegmentState) == 48);
static_assert(sizeof(GpuClockState) == 40);
static_assert(sizeof(GpuCollectorState) == 24);
static_assert(sizeof(GpuRecordState) == 16);
static_assert(sizeof(GpuApiState) == 16);
static_assert(sizeof(DomainState) == 16);
static_assert(sizeof(CategoryState) == 24);
static_assert(sizeof(SchemaState) == 64);
static_assert(sizeof(SchemaEntry) == 40);
static_assert(sizeof(EnumState) == 40);
static_assert(sizeof(EnumEntry) == 16);
static_assert(sizeof(ThreadState) == 16);
static_assert(sizeof(ThreadNameState) == 16);
static_assert(sizeof(CommunicatorState) == 48);
static_assert(sizeof(CommunicatorEndState) == 24);
static_assert(sizeof(HookState) == 24);
static_assert(sizeof(ResourceState) == 32);

}  // namespace jaxprof::spool
