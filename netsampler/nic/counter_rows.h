// The rows of the counter table, by driver; counter_table.h is how they are asked. A pattern is a name, or has one
// star for any characters; the first row that fits counts. Sources: Linux 6.1 and 6.12, drivers/infiniband;
// amzn-drivers efa 3.1; Documentation/ABI/stable/sysfs-class-infiniband.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "agent/spool/node_record.h"
#include "netsampler/nic/counter_table.h"

namespace jaxprof::netsampler {

struct CounterRow {
  std::string_view pattern;
  spool::SampleUnit unit = spool::SampleUnit::kOne;
  spool::SampleKind kind = spool::SampleKind::kCounter;
  std::uint8_t bits = 64;
  std::uint32_t scale = 1;
  bool is_error = false;
  bool is_fast = false;
};

struct DriverRows {
  std::string_view driver;
  std::span<const CounterRow> port;    // kPortHw
  std::span<const CounterRow> device;  // kDeviceHw
};

std::span<const DriverRows> driver_rows();
std::span<const CounterRow> pma_rows();     // of all drivers
std::span<const CounterRow> netdev_rows();  // of all drivers

}  // namespace jaxprof::netsampler
