// NCCL's vocabulary as the puppet speaks it: functions, data types and reduction operations, each with the number
// that goes into an NVTX payload and the string that goes into a profiler event. One table a vocabulary, so that a
// name and its number cannot drift apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace jaxprof::puppets {

enum class Function : std::uint8_t {
  kAllGather,
  kAllReduce,
  kAlltoAll,
  kBroadcast,
  kGather,
  kRecv,
  kReduce,
  kReduceScatter,
  kScatter,
  kSend,
};

struct FunctionNames {
  const char* event;  // as in profiler events
  const char* api;    // the C function, which is also the NVTX range's name
};
inline constexpr std::array<FunctionNames, 10> kFunctions{{{"AllGather", "ncclAllGather"},
                                                           {"AllReduce", "ncclAllReduce"},
                                                           {"AlltoAll", "ncclAlltoAll"},
                                                           {"Broadcast", "ncclBroadcast"},
                                                           {"Gather", "ncclGather"},
                                                           {"Recv", "ncclRecv"},
                                                           {"Reduce", "ncclReduce"},
                                                           {"ReduceScatter", "ncclReduceScatter"},
                                                           {"Scatter", "ncclScatter"},
                                                           {"Send", "ncclSend"}}};

constexpr std::size_t index_of(Function function) {
  return static_cast<std::size_t>(function);
}
constexpr const char* event_name(Function function) {
  return kFunctions[index_of(function)].event;
}
constexpr const char* api_name(Function function) {
  return kFunctions[index_of(function)].api;
}

constexpr bool is_p2p(Function function) {
  return function == Function::kSend || function == Function::kRecv;
}
constexpr bool has_reduction(Function function) {
  return function == Function::kAllReduce || function == Function::kReduce || function == Function::kReduceScatter;
}
constexpr bool has_root(Function function) {
  return function == Function::kBroadcast || function == Function::kReduce || function == Function::kGather ||
         function == Function::kScatter;
}
// NCCL 2.28 carries these out as sends and receives and forgets the name the caller used.
constexpr bool is_decomposed(Function function) {
  return function == Function::kAlltoAll || function == Function::kGather || function == Function::kScatter;
}

struct DataType {
  const char* option;  // on the puppet's command line
  const char* event;   // in profiler events: NCCL 2.28 has no string for uint8
  std::size_t size_bytes;
};
inline constexpr std::array<DataType, 10> kDataTypes{{{"int8", "ncclInt8", 1},
                                                      {"uint8", "Unknown", 1},
                                                      {"int32", "ncclInt32", 4},
                                                      {"uint32", "ncclUint32", 4},
                                                      {"int64", "ncclInt64", 8},
                                                      {"uint64", "ncclUint64", 8},
                                                      {"float16", "ncclFloat16", 2},
                                                      {"float32", "ncclFloat32", 4},
                                                      {"float64", "ncclFloat64", 8},
                                                      {"bfloat16", "ncclBfloat16", 2}}};

struct Reduction {
  const char* option;
  const char* name;  // in the NVTX enumeration
  int value;
};
inline constexpr std::array<Reduction, 5> kReductions{
    {{"sum", "Sum", 0}, {"prod", "Product", 1}, {"max", "Max", 2}, {"min", "Min", 3}, {"avg", "Avg", 4}}};

// The entry of `table` whose option is `word`.
template <typename Entry, std::size_t n>
constexpr const Entry* find_option(const std::array<Entry, n>& table, std::string_view word) {
  for (const Entry& entry : table) {
    if (word == entry.option) {
      return &entry;
    }
  }
  return nullptr;
}

}  // namespace jaxprof::puppets
