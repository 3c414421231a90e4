// What nccl-tests printed: the times of an idle cluster, which --ref holds a job's times against. The output names
// neither the operation nor, in older versions, the number of ranks, so both are checked where they can be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.h"
#include "merge/runfile/enums.h"

namespace jaxprof::study {

// One line of the table, its out-of-place half.
struct ReferenceTime {
  std::uint64_t size_bytes = 0;
  runfile::Dtype dtype = runfile::Dtype::kMissing;
  double time_us = 0;
  double algbw_gb_per_s = 0;  // as printed, two digits behind the point
  double busbw_gb_per_s = 0;
};

struct Reference {
  std::vector<ReferenceTime> times;
  std::uint32_t n_ranks = 0;  // ranks listed under "Using devices"; 0: none is listed
};

// Of the text of an output, which may have anything around its table, and be of several runs. kInputUnreadable if no
// line is one of the table.
Result<Reference> parse_nccl_tests(std::string_view text);
Result<Reference> read_nccl_tests(const std::string& path);

// The time for calls of that kind, the last one printed; none if there is none, or if its bus bandwidth is not what the
// operation's factor makes of its algorithm bandwidth: then it is of another operation.
std::optional<double> reference_us(const Reference& reference, runfile::Coll coll, runfile::Dtype dtype,
                                   std::uint64_t size_bytes, std::uint32_t n_ranks);

}  // namespace jaxprof::study
