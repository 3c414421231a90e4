// CUPTI's interface, as far as the agent uses it, in our own words: result codes, kinds, callback ids, the structs that
// its callbacks get, and the types of its functions. CUPTI is reached by dlopen only, and its major version is the
// job's choice: the headers that happened to be there when the agent was built say nothing about the library that it
// meets. tests/unit/cupti/abi_test.cpp compares every number and offset here with NVIDIA's headers. The layouts of
// records are in record_layout.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jaxprof::cupti::abi {

// Handles of the CUDA driver; never followed.
using Context = void*;
using Stream = void*;
using Graph = void*;
using GraphNode = void*;
using SubscriberHandle = void*;

// CUptiResult. Any other value may come.
enum Result : std::int32_t {
  kSuccess = 0,
  kInvalidParameter = 1,
  kInvalidOperation = 7,
  kMaxLimitReached = 12,
  kNotCompatible = 14,
  kNotInitialized = 15,
  kQueueEmpty = 18,
  kInvalidKind = 21,
  kNotSupported = 27,
  kVirtualizedDevice = 33,
  kInsufficientPrivileges = 35,
  kMultipleSubscribers = 39,
  kVirtualizedPrivileges = 40,
  kConfidentialComputing = 41,
  kMigDevice = 43,
  kWslDevice = 45,
  kUnknown = 999,
};

// CUpti_ActivityKind, those that the agent enables or reads.
enum Kind : std::int32_t {
  kMemcpy = 1,
  kMemset = 2,
  kKernel = 3,  // serialises the GPU: never enabled
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kContext = 9,
  kConcurrentKernel = 10,
  kOverhead = 17,
  kMemcpyPeer = 22,
  kCudaEvent = 36,
  kStream = 37,
  kSynchronization = 38,
  kExternalCorrelation = 39,
  kGraphTrace = 51,
};

enum ObjectKind : std::int32_t {
  kObjectProcess = 1,
  kObjectThread = 2,
  kObjectDevice = 3,
  kObjectContext = 4,
  kObjectStream = 5,
};

enum Attribute : std::int32_t {
  kZeroedOutBuffer = 5,         // u8
  kEnableHes = 13,              // u8, V2
  kEventDeviceTimestamps = 17,  // u8, V2
  kSharedGraphTrace = 20,       // u8, V2
  kThreadIdType = 21,           // ThreadIdType, V2
};

enum ThreadIdType : std::int32_t { kThreadIdSystem = 1 };  // gettid()
enum ExternalKind : std::int32_t { kCustom0 = 3 };
inline constexpr std::uint32_t kFlushForced = 1;

enum Domain : std::int32_t { kDriverApi = 1, kRuntimeApi = 2, kResource = 3, kState = 6 };
enum Site : std::int32_t { kApiEnter = 0, kApiExit = 1 };

using CallbackId = std::uint32_t;
inline constexpr CallbackId kProfilerStart = 308;  // of the driver API, by which cudaProfilerStart ends too
inline constexpr CallbackId kProfilerStop = 309;

enum ResourceCallback : CallbackId {
  kContextCreated = 1,
  kStreamCreated = 3,
  kModuleUnloadStarting = 7,
  kGraphNodeCreated = 13,
  kGraphNodeCloned = 20,
};
enum StateCallback : CallbackId { kFatalError = 1, kError = 2, kWarning = 3 };

// CUpti_CallbackData, of API callbacks: the part that is read.
struct ApiCallback {
  Site site;
  const char* function;
  const void* parameters;
  void* return_value;
};

struct ResourceData {
  Context context;
  Stream stream;
  void* descriptor;  // GraphData for graph nodes
};

struct GraphData {
  Graph graph;
  Graph original_graph;
  GraphNode node;
  GraphNode original_node;
  std::int32_t node_type;
  GraphNode dependency;
  void* graph_exec;
};

struct StateData {
  Result result;
  const char* message;
};

// CUpti_SubscriberParams. Before 13.2 it ended with `holder_bytes`.
struct SubscriberParams {
  std::size_t struct_bytes;
  const char* name;
  char* holder;  // gets the name of who has the slot
  std::size_t holder_bytes;
  std::uint8_t allows_others;
  std::uint8_t padding[7];
};
inline constexpr std::size_t kOldSubscriberParamsBytes = 32;
inline constexpr std::size_t kHolderNameBytes = 64;

using Callback = void (*)(void* user, Domain domain, CallbackId id, const void* data);
using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records);
using CompleteBuffer = void (*)(Context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes,
                                std::size_t valid_bytes);
using RequestBufferShared = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records, void* about);
using CompleteBufferShared = void (*)(std::uint8_t* buffer, std::size_t bytes, std::size_t valid_bytes, void* about);

}  // namespace jaxprof::cupti::abi
