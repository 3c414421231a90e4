// Names and meanings of what every group below /counters has, whatever its driver counts: the same for its writer, its
// reader and FORMAT.md. Part of schema.h.
#pragma once

#include "merge/runfile/column_spec.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::runfile {

inline constexpr const char* kNicCounters = "/counters/nic";
inline constexpr const char* kGpuCounters = "/counters/gpu";

inline std::string path_of(const CounterTable& table) {
  return table.subject == CounterSubject::kGpu ? kGpuCounters : kNicCounters + ("/" + table.driver);
}

inline const char* long_name_of(CounterSubject subject) {
  return subject == CounterSubject::kGpu ? "clocks, power and errors of GPUs"
                                         : "counters of one driver's network ports";
}

// The columns beside those of the driver.
template <Is<CounterTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"time_ns", "ns", "when the reading began, on the run's time axis", kNoTime}, t.time_ns);
  visit(ColumnSpec{"read_ns", "ns", "how long it took, rounded up to microseconds", kNoTime}, t.read_ns);
  visit(
      ColumnSpec{
          "flags", "bits",
          "against the row before: 1 reset, 2 wrapped, 4 saturated, 8 stale, 16 returned, 32 last; never missing",
          std::uint32_t{0}},
      t.flags);
}

inline OffsetSpec offset_spec_of(CounterSubject subject) {
  return subject == CounterSubject::kGpu ? OffsetSpec{"device_offset", "row of the group", "first row of each GPU"}
                                         : OffsetSpec{"nic_offset", "row of the group", "first row of each port"};
}

}  // namespace jaxprof::runfile
