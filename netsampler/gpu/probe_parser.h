// The bytes of the probe's pipe, cut into records. The probe has a vendor's library in its address space, which may
// write anywhere, and a library may print to standard output: so nothing is believed, and a stream that is not the
// probe's is given up as a whole. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>

#include "netsampler/gpu/probe_record.h"

namespace jaxprof::netsampler {

class ProbeParser {
 public:
  // The record lives as long as the call. Returns false if its content makes no sense.
  using Visit = std::function<bool(const ProbeRecord& record)>;

  // Takes bytes in pieces of any size, and hands on each record that is complete. False from the first one on that is
  // foreign or that `visit` refuses.
  bool feed(std::span<const std::uint8_t> bytes, const Visit& visit);

 private:
  std::uint8_t partial_[sizeof(ProbeRecord)] = {};
  std::size_t partial_bytes_ = 0;
  bool is_foreign_ = false;
};

// The payload of a record of the kind that has it.
template <typename Payload>
Payload payload_of(const ProbeRecord& record) {
  static_assert(sizeof(Payload) <= kProbePayloadBytes);
  Payload payload;
  std::memcpy(&payload, record.payload, sizeof payload);
  return payload;
}

}  // namespace jaxprof::netsampler
