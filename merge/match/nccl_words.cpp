#include "merge/match/nccl_words.h"

namespace jaxprof::match {

using runfile::Algo;
using runfile::Coll;
using runfile::Dtype;
using runfile::Proto;
using runfile::Redop;
using spool::NcclAlgorithm;
using spool::NcclFunction;
using spool::NcclProtocol;
using spool::NcclType;

Coll coll_of(NcclFunction function) {
  switch (function) {
    case NcclFunction::kAllGather:
      return Coll::kAllGather;
    case NcclFunction::kAllReduce:
      return Coll::kAllReduce;
    case NcclFunction::kAllToAll:
      return Coll::kAllToAll;
    case NcclFunction::kBroadcast:
      return Coll::kBroadcast;
    case NcclFunction::kGather:
      return Coll::kGather;
    case NcclFunction::kRecv:
      return Coll::kRecv;
    case NcclFunction::kReduce:
      return Coll::kReduce;
    case NcclFunction::kReduceScatter:
      return Coll::kReduceScatter;
    case NcclFunction::kScatter:
      return Coll::kScatter;
    case NcclFunction::kSend:
      return Coll::kSend;
    case NcclFunction::kSendRecv:
      return Coll::kOther;
    case NcclFunction::kUnknown:
      break;
  }
  return Coll::kUnknown;
}

Dtype dtype_of(NcclType type) {
  switch (type) {
    case NcclType::kInt8:
      return Dtype::kI8;
    case NcclType::kUint8:
      return Dtype::kU8;
    case NcclType::kInt32:
      return Dtype::kI32;
    case NcclType::kUint32:
      return Dtype::kU32;
    case NcclType::kInt64:
      return Dtype::kI64;
    case NcclType::kUint64:
      return Dtype::kU64;
    case NcclType::kFloat16:
      return Dtype::kF16;
    case NcclType::kFloat32:
      return Dtype::kF32;
    case NcclType::kFloat64:
      return Dtype::kF64;
    case NcclType::kBfloat16:
      return Dtype::kBf16;
    case NcclType::kFloat8E4m3:
      return Dtype::kF8e4m3;
    case NcclType::kFloat8E5m2:
      return Dtype::kF8e5m2;
    case NcclType::kUnknown:
      break;
  }
  return Dtype::kUnknown;
}

Algo algo_of(NcclAlgorithm algorithm) {
  switch (algorithm) {
    case NcclAlgorithm::kTree:
      return Algo::kTree;
    case NcclAlgorithm::kRing:
      return Algo::kRing;
    case NcclAlgorithm::kCollnetDirect:
      return Algo::kCollnetDirect;
    case NcclAlgorithm::kCollnetChain:
      return Algo::kCollnetChain;
    case NcclAlgorithm::kNvls:
      return Algo::kNvls;
    case NcclAlgorithm::kNvlsTree:
      return Algo::kNvlsTree;
    case NcclAlgorithm::kPat:
      return Algo::kPat;
    case NcclAlgorithm::kUnknown:
      break;
  }
  return Algo::kUnknown;
}

Proto proto_of(NcclProtocol protocol) {
  switch (protocol) {
    case NcclProtocol::kLl:
      return Proto::kLl;
    case NcclProtocol::kLl128:
      return Proto::kLl128;
    case NcclProtocol::kSimple:
      return Proto::kSimple;
    case NcclProtocol::kUnknown:
      break;
  }
  return Proto::kUnknown;
}

Redop redop_of(std::string_view name, std::int64_t value) {
  if (name == "Sum") return Redop::kSum;
  if (name == "Product" || name == "Prod") return Redop::kProd;
  if (name == "Max") return Redop::kMax;
  if (name == "Min") return Redop::kMin;
  if (name == "Avg" || name == "Average") return Redop::kAvg;
  if (!name.empty()) return Redop::kOther;
  switch (value) {  // ncclRedOp_t, nccl.h
    case 0:
      return Redop::kSum;
    case 1:
      return Redop::kProd;
    case 2:
      return Redop::kMax;
    case 3:
      return Redop::kMin;
    case 4:
      return Redop::kAvg;
    default:
      return Redop::kOther;
  }
}

namespace {

struct Api {
  std::string_view name;
  Coll coll;
};
constexpr Api kApis[] = {
    {"ncclAllReduce", Coll::kAllReduce},
    {"ncclAllGather", Coll::kAllGather},
    {"ncclReduceScatter", Coll::kReduceScatter},
    {"ncclBroadcast", Coll::kBroadcast},
    {"ncclBcast", Coll::kBroadcast},
    {"ncclReduce", Coll::kReduce},
    {"ncclAlltoAll", Coll::kAllToAll},
    {"ncclAllToAll", Coll::kAllToAll},
    {"ncclGather", Coll::kGather},
    {"ncclScatter", Coll::kScatter},
    {"ncclSend", Coll::kSend},
    {"ncclRecv", Coll::kRecv},
};

}  // namespace

std::optional<Coll> coll_of_api(std::string_view api) {
  // NCCL 2.31 has a twin of each that takes a configuration.
  constexpr std::string_view kConfig = "Config";
  if (api.size() > kConfig.size() && api.ends_with(kConfig)) api.remove_suffix(kConfig.size());
  for (const Api& known : kApis) {
    if (known.name == api) return known.coll;
  }
  return std::nullopt;
}

std::string_view api_of_coll(Coll coll) {
  for (const Api& known : kApis) {
    if (known.coll == coll) return known.name;
  }
  return {};
}

std::uint64_t element_bytes(NcclType type) {
  switch (type) {
    case NcclType::kInt8:
    case NcclType::kUint8:
    case NcclType::kFloat8E4m3:
    case NcclType::kFloat8E5m2:
      return 1;
    case NcclType::kFloat16:
    case NcclType::kBfloat16:
      return 2;
    case NcclType::kInt32:
    case NcclType::kUint32:
    case NcclType::kFloat32:
      return 4;
    case NcclType::kInt64:
    case NcclType::kUint64:
    case NcclType::kFloat64:
      return 8;
    case NcclType::kUnknown:
      break;
  }
  return 0;
}

bool is_point_to_point(Coll coll) {
  return coll == Coll::kSend || coll == Coll::kRecv;
}

bool is_size_per_rank(Coll coll) {
  return coll == Coll::kAllGather || coll == Coll::kReduceScatter || coll == Coll::kAllToAll || coll == Coll::kGather ||
         coll == Coll::kScatter;
}

bool has_root(Coll coll) {
  return coll == Coll::kBroadcast || coll == Coll::kReduce || coll == Coll::kGather || coll == Coll::kScatter;
}

}  // namespace jaxprof::match
