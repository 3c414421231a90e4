// NVTX payload bytes as named integers, read by the schema that the program registered. Nothing is known here about
// whose schema it is: NCCL's numbers for its schemas have changed from release to release, their field names have not.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merge/rundir/spool_trace.h"

namespace jaxprof::match {

struct PayloadField {
  std::string_view name;       // lives as long as the trace
  std::int64_t value = 0;      // sign-extended; unsigned 64-bit values keep their bits
  std::string_view enum_name;  // "" unless the field is an enumeration with this value in it
};

// The integer fields of one payload. Fields that the bytes do not reach are left out.
std::vector<PayloadField> decode_payload(const rundir::SpoolTrace& trace, std::uint32_t domain, std::uint64_t schema,
                                         std::span<const std::uint8_t> bytes);

// All payloads of an event's bytes (spool/event_record.h, PayloadHeader), decoded and joined.
std::vector<PayloadField> decode_payloads(const rundir::SpoolTrace& trace, std::uint32_t domain,
                                          std::span<const std::uint8_t> event_payload);

// The field of that name; null if there is none.
const PayloadField* find_field(std::span<const PayloadField> fields, std::string_view name);
// Its value as an int32, -1 if there is none.
std::int32_t number_of_field(std::span<const PayloadField> fields, std::string_view name);

}  // namespace jaxprof::match
