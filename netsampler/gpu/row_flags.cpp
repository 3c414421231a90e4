#include "netsampler/gpu/row_flags.h"

#include "agent/spool/sample_codec.h"
#include "netsampler/gpu/gpu_columns.h"

namespace jaxprof::netsampler {

std::uint32_t compare_gpu_rows(const GpuRow& previous, const GpuRow& now) {
  std::uint32_t flags = 0;
  const auto columns = gpu_columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::uint64_t before = previous.values[i];
    const std::uint64_t after = now.values[i];
    if (columns[i].kind != spool::SampleKind::kCounter || before == spool::kMissingSample || after >= before) continue;
    // From the upper half to the lower by less than half of all that fits: it went round.
    const std::uint64_t half = std::uint64_t{1} << (columns[i].bits - 1U);
    const bool is_round = columns[i].bits < 64 && before >= half && after < half && before - after > half;
    flags |= is_round ? spool::kSampleWrapped : spool::kSampleReset;
  }
  return flags;
}

}  // namespace jaxprof::netsampler
