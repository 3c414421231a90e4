#include "agent/nccl/names.h"

#include <cstring>

namespace jaxprof::nccl {
namespace {

template <typename Code>
struct Name {
  const char* text;
  Code code;
};

using spool::NcclAlgorithm;
using spool::NcclFunction;
using spool::NcclProtocol;
using spool::NcclType;

// Ordered by how often they are seen: a lookup is a handful of first-letter comparisons.
constexpr Name<NcclFunction> kFunctions[] = {
    {"AllReduce", NcclFunction::kAllReduce},
    {"AllGather", NcclFunction::kAllGather},
    {"ReduceScatter", NcclFunction::kReduceScatter},
    {"Send", NcclFunction::kSend},
    {"Recv", NcclFunction::kRecv},
    {"Broadcast", NcclFunction::kBroadcast},
    {"Reduce", NcclFunction::kReduce},
    {"AlltoAll", NcclFunction::kAllToAll},
    {"SendRecv", NcclFunction::kSendRecv},
    {"Gather", NcclFunction::kGather},
    {"Scatter", NcclFunction::kScatter},
};
constexpr Name<NcclType> kTypes[] = {
    {"ncclBfloat16", NcclType::kBfloat16}, {"ncclFloat32", NcclType::kFloat32},
    {"ncclFloat16", NcclType::kFloat16},   {"ncclInt8", NcclType::kInt8},
    {"ncclInt32", NcclType::kInt32},       {"ncclInt64", NcclType::kInt64},
    {"ncclUint32", NcclType::kUint32},     {"ncclUint64", NcclType::kUint64},
    {"ncclFloat64", NcclType::kFloat64},   {"ncclFloat8e4m3", NcclType::kFloat8E4m3},
    {"ncclUint8", NcclType::kUint8},       {"ncclFloat8e5m2", NcclType::kFloat8E5m2},
};
constexpr Name<NcclAlgorithm> kAlgorithms[] = {
    {"RING", NcclAlgorithm::kRing},
    {"TREE", NcclAlgorithm::kTree},
    {"NVLS", NcclAlgorithm::kNvls},
    {"NVLS_TREE", NcclAlgorithm::kNvlsTree},
    {"PAT", NcclAlgorithm::kPat},
    {"COLLNET_DIRECT", NcclAlgorithm::kCollnetDirect},
    {"COLLNET_CHAIN", NcclAlgorithm::kCollnetChain},
};
constexpr Name<NcclProtocol> kProtocols[] = {
    {"SIMPLE", NcclProtocol::kSimple}, {"LL128", NcclProtocol::kLl128}, {"LL", NcclProtocol::kLl}};

// By NCCL's numbers (ncclFunc_t, ncclDataType_t and its NCCL_ALGO_* and NCCL_PROTO_* as of 2.23).
constexpr NcclFunction kNumberedFunctions[] = {
    NcclFunction::kBroadcast, NcclFunction::kReduce,   NcclFunction::kAllGather, NcclFunction::kReduceScatter,
    NcclFunction::kAllReduce, NcclFunction::kSendRecv, NcclFunction::kSend,      NcclFunction::kRecv};
constexpr NcclType kNumberedTypes[] = {NcclType::kInt8,    NcclType::kUint8,   NcclType::kInt32,   NcclType::kUint32,
                                       NcclType::kInt64,   NcclType::kUint64,  NcclType::kFloat16, NcclType::kFloat32,
                                       NcclType::kFloat64, NcclType::kBfloat16};
constexpr NcclAlgorithm kNumberedAlgorithms[] = {
    NcclAlgorithm::kTree,         NcclAlgorithm::kRing, NcclAlgorithm::kCollnetDirect,
    NcclAlgorithm::kCollnetChain, NcclAlgorithm::kNvls, NcclAlgorithm::kNvlsTree,
    NcclAlgorithm::kPat};
constexpr NcclProtocol kNumberedProtocols[] = {NcclProtocol::kLl, NcclProtocol::kLl128, NcclProtocol::kSimple};

template <typename Code, std::size_t n>
Code numbered(const Code (&codes)[n], std::uint8_t number) noexcept {
  return number < n ? codes[number] : Code::kUnknown;
}

template <typename Code, std::size_t n>
Code look_up(const Name<Code> (&names)[n], const char* text) noexcept {
  if (text == nullptr) return Code::kUnknown;
  for (const Name<Code>& name : names) {
    if (std::strcmp(name.text, text) == 0) return name.code;
  }
  return Code::kUnknown;
}

}  // namespace

spool::NcclFunction function_of(const char* name) noexcept {
  return look_up(kFunctions, name);
}
spool::NcclType type_of(const char* name) noexcept {
  return look_up(kTypes, name);
}
spool::NcclAlgorithm algorithm_of(const char* name) noexcept {
  return look_up(kAlgorithms, name);
}
spool::NcclProtocol protocol_of(const char* name) noexcept {
  return look_up(kProtocols, name);
}

spool::NcclFunction function_of(std::uint8_t number) noexcept {
  return numbered(kNumberedFunctions, number);
}
spool::NcclType type_of(std::uint8_t number) noexcept {
  return numbered(kNumberedTypes, number);
}
spool::NcclAlgorithm algorithm_of(std::uint8_t number) noexcept {
  return numbered(kNumberedAlgorithms, number);
}
spool::NcclProtocol protocol_of(std::uint8_t number) noexcept {
  return numbered(kNumberedProtocols, number);
}

}  // namespace jaxprof::nccl
