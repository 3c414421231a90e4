// The run file's words for NCCL's: functions, types, reductions, algorithms and protocols, from the spool's codes and
// from NVTX range names; and the two conventions of "size" (https://github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/spool/event_record.h"
#include "merge/runfile/enums.h"

namespace jaxprof::match {

runfile::Coll coll_of(spool::NcclFunction function);
runfile::Dtype dtype_of(spool::NcclType type);
runfile::Algo algo_of(spool::NcclAlgorithm algorithm);
runfile::Proto proto_of(spool::NcclProtocol protocol);
// A reduction by the name in NCCL's NVTX enumeration ("Sum", …), or by its value where there is none.
runfile::Redop redop_of(std::string_view name, std::int64_t value);

// The operation of an API name such as "ncclAllReduce"; nothing for functions that move no data.
std::optional<runfile::Coll> coll_of_api(std::string_view api);
// "ncclAllReduce" for AllReduce; "" for words that are no API.
std::string_view api_of_coll(runfile::Coll coll);

// Bytes of one element; 0 for an unknown type.
std::uint64_t element_bytes(spool::NcclType type);

// Send and Recv.
bool is_point_to_point(runfile::Coll coll);
// Operations whose count argument is per rank, so that nccl-tests' size is the rank count times it.
bool is_size_per_rank(runfile::Coll coll);
// Calls with a root argument; the plugin reports root 0 of the others too.
bool has_root(runfile::Coll coll);

}  // namespace jaxprof::match
