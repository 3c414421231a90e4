#include "netsampler/gpu/probe_parser.h"

#include <algorithm>

namespace jaxprof::netsampler {

bool ProbeParser::feed(std::span<const std::uint8_t> bytes, const Visit& visit) {
  while (!is_foreign_ && !bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), sizeof partial_ - partial_bytes_);
    std::memcpy(partial_ + partial_bytes_, bytes.data(), count);
    partial_bytes_ += count;
    bytes = bytes.subspan(count);
    if (partial_bytes_ < sizeof partial_) break;
    partial_bytes_ = 0;
    ProbeRecord record;
    std::memcpy(&record, partial_, sizeof record);
    is_foreign_ = record.magic != kProbeMagic || record.version != kProbeVersion || !visit(record);
  }
  return !is_foreign_;
}

}  // namespace jaxprof::netsampler
