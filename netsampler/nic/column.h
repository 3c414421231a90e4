// What one counter of a network port is: the name the driver gives it, and what a value of it means. Values are kept
// as they were read; scale, unit and width go beside them, so that whoever takes a difference knows where a counter
// wraps and what it counts.
#pragma once

#include <cstdint>
#include <string>

#include "agent/spool/node_record.h"

namespace jaxprof::netsampler {

struct Column {
  std::string name;
  std::uint32_t scale = 1;  // value × scale is in `unit`
  spool::SampleUnit unit = spool::SampleUnit::kOne;
  spool::SampleKind kind = spool::SampleKind::kUnknown;
  std::uint8_t bits = 64;  // width in the device; beyond it a counter wraps, or stays if it saturates
  bool is_error = false;   // more of it means that something went wrong
  bool is_fast = false;    // read at the port's own rate; the others once a second

  bool operator==(const Column&) const = default;
};

}  // namespace jaxprof::netsampler
