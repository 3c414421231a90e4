// The closed word lists of a run file. Each is one byte in memory and in the file, where it is an HDF5 enumeration
// committed under /types, so that a reader sees words and not numbers. 255 is "missing" in every list: the source said
// nothing; HDF5 tools show it as "missing_value". "unknown" is different: the source said something that this version
// has no word for. Numbers are frozen per schema version: new words go to the end, before `missing`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace jaxprof::runfile {

enum class Coll : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kAllToAll,
  kGather,
  kScatter,
  kSend,
  kRecv,
  kBarrier,
  kOther,
  kUnknown,
  kMissing = 255
};
enum class Dtype : std::uint8_t {
  kF16,
  kBf16,
  kF32,
  kF64,
  kF8e4m3,
  kF8e5m2,
  kI8,
  kU8,
  kI32,
  kU32,
  kI64,
  kU64,
  kUnknown,
  kMissing = 255
};
enum class Redop : std::uint8_t { kSum, kProd, kMax, kMin, kAvg, kOther, kMissing = 255 };
enum class Algo : std::uint8_t {
  kRing,
  kTree,
  kNvls,
  kNvlsTree,
  kCollnetDirect,
  kCollnetChain,
  kPat,
  kCe,
  kP2p,
  kUnknown,
  kMissing = 255
};
enum class Proto : std::uint8_t { kLl, kLl128, kSimple, kUnknown, kMissing = 255 };
enum class NcclSource : std::uint8_t {
  kCupti,
  kNcclPlugin,
  kNvtx,
  kNcclKernelName,
  kNcclPluginAndNvtx,
  kMissing = 255
};
enum class NvtxKind : std::uint8_t { kPushPop, kStartEnd, kMark, kMissing = 255 };
enum class StepSource : std::uint8_t { kPayload, kOrdinal, kXlaModule, kMissing = 255 };
enum class Severity : std::uint8_t { kInfo, kWarning, kError, kMissing = 255 };
enum class GpuMode : std::uint8_t { kNone, kShared, kAlone, kUnavailable, kNotAsked, kMissing = 255 };
enum class MemopKind : std::uint8_t {
  kHtoD,
  kDtoH,
  kHtoA,
  kAtoH,
  kAtoA,
  kAtoD,
  kDtoA,
  kDtoD,
  kHtoH,
  kPtoP,
  kMemset,
  kUnknown,
  kMissing = 255
};
enum class MemoryKind : std::uint8_t {
  kPageable,
  kPinned,
  kDevice,
  kArray,
  kManaged,
  kDeviceStatic,
  kManagedStatic,
  kUnknown,
  kMissing = 255
};
enum class ApiLayer : std::uint8_t { kDriver, kRuntime, kMissing = 255 };
enum class OverheadKind : std::uint8_t {
  kDriverCompiler,
  kBufferFlush,
  kInstrumentation,
  kResource,
  kModuleLoading,
  kFunctionLoading,
  kCommandBufferFull,
  kBufferRequest,
  kUvmInit,
  kUnknown,
  kMissing = 255
};
enum class SyncKind : std::uint8_t {
  kEventSynchronize,
  kStreamWaitEvent,
  kStreamSynchronize,
  kContextSynchronize,
  kUnknown,
  kMissing = 255
};
enum class WindowCause : std::uint8_t {
  kAttach,
  kDelay,
  kProfiler,
  kRange,
  kStep,
  kDuration,
  kStopped,
  kExit,
  kUnknown,
  kMissing = 255
};
enum class Timing : std::uint8_t { kCupti, kEnqueue, kMissing = 255 };
enum class JoinPath : std::uint8_t { kExternal, kScope, kGraph, kOrder, kMissing = 255 };
enum class NicSource : std::uint8_t { kNone, kNetlink, kSysfs, kNetdev, kMissing = 255 };
enum class ClockMethod : std::uint8_t {
  kReference,
  kUdpKernelStamps,
  kUdpUserStamps,
  kWallClock,
  kWallClockUnknown,
  kMissing = 255
};
enum class ClockStepKind : std::uint8_t { kWallClockSet, kClockSource, kRawJump, kMissing = 255 };
// Between what a variable differs: nothing; ranks of a node, and all nodes alike; nodes; or otherwise.
enum class EnvScope : std::uint8_t { kAlike, kLocalRank, kNode, kTask, kMissing = 255 };
enum class TaskState : std::uint8_t { kProfiled, kUnprofiled, kNoAgent, kMissingTask, kFailed, kMissing = 255 };

// `words` are the names in the file, position = value; `type_name` is the name below /types.
template <typename E>
struct EnumWords;

// Everything about one list that does not depend on its C++ type.
struct EnumView {
  std::string_view type_name;
  std::span<const std::string_view> words;  // without "missing"
};

#define JAXPROF_ENUM_WORDS(type, name, ...)                                       \
  template <>                                                                     \
  struct EnumWords<type> {                                                        \
    static constexpr std::string_view type_name = name;                           \
    static constexpr auto words = std::to_array<std::string_view>({__VA_ARGS__}); \
  }

JAXPROF_ENUM_WORDS(Coll, "coll", "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce", "AllToAll", "Gather",
                   "Scatter", "Send", "Recv", "Barrier", "Other", "unknown");
JAXPROF_ENUM_WORDS(Dtype, "dtype", "f16", "bf16", "f32", "f64", "f8e4m3", "f8e5m2", "i8", "u8", "i32", "u32", "i64",
                   "u64", "unknown");
JAXPROF_ENUM_WORDS(Redop, "redop", "sum", "prod", "max", "min", "avg", "other");
JAXPROF_ENUM_WORDS(Algo, "algo", "ring", "tree", "nvls", "nvls_tree", "collnet_direct", "collnet_chain", "pat", "ce",
                   "p2p", "unknown");
JAXPROF_ENUM_WORDS(Proto, "proto", "ll", "ll128", "simple", "unknown");
JAXPROF_ENUM_WORDS(NcclSource, "nccl_source", "cupti", "nccl_plugin", "nvtx", "nccl_kernel_name",
                   "nccl_plugin_and_nvtx");
JAXPROF_ENUM_WORDS(NvtxKind, "nvtx_kind", "push_pop", "start_end", "mark");
JAXPROF_ENUM_WORDS(StepSource, "step_source", "payload", "ordinal", "xla_module");
JAXPROF_ENUM_WORDS(Severity, "severity", "info", "warning", "error");
JAXPROF_ENUM_WORDS(TaskState, "task_state", "profiled", "unprofiled", "no_agent", "missing", "failed");
JAXPROF_ENUM_WORDS(GpuMode, "gpu_mode", "none", "shared", "alone", "unavailable", "not_asked");
JAXPROF_ENUM_WORDS(MemopKind, "memop_kind", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH",
                   "PtoP", "memset", "unknown");
JAXPROF_ENUM_WORDS(MemoryKind, "memory_kind", "pageable", "pinned", "device", "array", "managed", "device_static",
                   "managed_static", "unknown");
JAXPROF_ENUM_WORDS(ApiLayer, "api_layer", "driver", "runtime");
JAXPROF_ENUM_WORDS(OverheadKind, "overhead_kind", "driver_compiler", "buffer_flush", "instrumentation", "resource",
                   "module_loading", "function_loading", "command_buffer_full", "buffer_request", "uvm_init",
                   "unknown");
JAXPROF_ENUM_WORDS(SyncKind, "sync_kind", "event_synchronize", "stream_wait_event", "stream_synchronize",
                   "context_synchronize", "unknown");
JAXPROF_ENUM_WORDS(WindowCause, "window_cause", "attach", "delay", "profiler", "range", "step", "duration", "stopped",
                   "exit", "unknown");
JAXPROF_ENUM_WORDS(Timing, "timing", "cupti", "enqueue");
JAXPROF_ENUM_WORDS(JoinPath, "join_path", "external", "scope", "graph", "order");
JAXPROF_ENUM_WORDS(NicSource, "nic_source", "none", "netlink", "sysfs", "netdev");
JAXPROF_ENUM_WORDS(ClockMethod, "clock_method", "reference", "udp_kernel_stamps", "udp_user_stamps", "wall_clock",
                   "wall_clock_unknown");
JAXPROF_ENUM_WORDS(ClockStepKind, "clock_step", "wall_clock_set", "clock_source", "raw_jump");
JAXPROF_ENUM_WORDS(EnvScope, "env_scope", "alike", "local_rank", "node", "task");
#undef JAXPROF_ENUM_WORDS

template <typename E>
concept FileEnum = requires {
  EnumWords<E>::type_name;
};

template <FileEnum E>
constexpr EnumView enum_view() {
  return {EnumWords<E>::type_name, EnumWords<E>::words};
}

// The word of `value`; "missing" also for 255 and for a number that this version does not know.
template <FileEnum E>
constexpr std::string_view word(E value) {
  const auto index = static_cast<std::size_t>(value);
  return index < EnumWords<E>::words.size() ? EnumWords<E>::words[index] : std::string_view{"missing"};
}

// The value with this word, exactly as written in the file.
template <FileEnum E>
constexpr std::optional<E> from_word(std::string_view text) {
  for (std::size_t i = 0; i < EnumWords<E>::words.size(); ++i) {
    if (EnumWords<E>::words[i] == text) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace jaxprof::runfile
