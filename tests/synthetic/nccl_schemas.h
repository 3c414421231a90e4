// How NCCL 2.28 describes the payloads of its NVTX ranges: schemas and the enumeration of reductions, by their numbers,
// names and offsets there. Written down once more here and not shared with the puppets, whose files are about a live
// process.
#pragma once

#include <cstdint>

#include "tests/synthetic/spool_file.h"

namespace jaxprof::synthetic {

inline constexpr std::uint32_t kNcclDomain = 1;
inline constexpr std::uint64_t kInitSchema = 1U << 24U;
inline constexpr std::uint64_t kGatherSchema = kInitSchema + 4;
inline constexpr std::uint64_t kAllReduceSchema = kInitSchema + 5;
inline constexpr std::uint64_t kBroadcastSchema = kInitSchema + 6;
inline constexpr std::uint64_t kReduceScatterSchema = kInitSchema + 7;
inline constexpr std::uint64_t kSendSchema = kInitSchema + 9;
inline constexpr std::uint64_t kRecvSchema = kInitSchema + 10;
inline constexpr std::uint64_t kReductionEnum = kInitSchema + 20;

// The payloads' bytes.
struct CallPayload {
  std::uint64_t comm;
  std::uint64_t bytes;
  std::int32_t number;  // reduction, root or peer
  std::int32_t padding;
};
struct InitPayload {
  std::uint64_t comm;
  std::int32_t rank_count;
  std::int32_t rank;
  std::int32_t device;
  std::int32_t padding;
};

void register_nccl_domain(SpoolFile* spool);

}  // namespace jaxprof::synthetic
