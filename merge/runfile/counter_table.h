// Samples of counters and gauges as columns: what the observers of nodes read from network ports and GPUs. Unlike the
// other tables these have the columns that a driver has, under the driver's names, so what a column means comes with
// it. Values are raw: a rate is for whoever knows where a counter wraps. No HDF5 here.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace jaxprof::runfile {

inline constexpr std::uint64_t kNoSample = std::numeric_limits<std::uint64_t>::max();  // a value that was not read

enum class CounterSubject : std::uint8_t { kNic, kGpu };

// What a value times the column's scale is.
enum class CounterUnit : std::uint8_t {
  kOne,
  kBytes,
  kPackets,
  kTicks,
  kMilliwatts,
  kMegahertz,
  kCelsius,
  kBits,
  kPercent,
  kMillijoules,
  kNanoseconds,
};
inline constexpr std::array<std::string_view, 11> kCounterUnitWords = {
    "1", "bytes", "packets", "ticks", "mW", "MHz", "Celsius", "bits", "%", "mJ", "ns"};

enum class CounterKind : std::uint8_t {
  kUnknown,     // most likely a counter
  kCounter,     // grows, and wraps at 2^bits
  kSaturating,  // grows, and stays at 2^bits - 1
  kGauge,       // means something by itself
};
inline constexpr std::array<std::string_view, 4> kCounterKindWords = {"unknown", "counter", "saturating", "gauge"};

// Bits of `flags`, of a row against the row before it of the same subject.
inline constexpr std::uint32_t kRowReset = 1;      // a counter went back
inline constexpr std::uint32_t kRowWrapped = 2;    // one of less than 64 bits went round
inline constexpr std::uint32_t kRowSaturated = 4;  // a saturating one is at its end
inline constexpr std::uint32_t kRowStale = 8;      // the kernel gave out what it had kept: no reading
inline constexpr std::uint32_t kRowReturned = 16;  // the first after the subject was lost
inline constexpr std::uint32_t kRowLast = 32;      // the last

struct CounterColumn {
  std::string name;  // as the driver calls it
  std::uint32_t scale = 1;
  CounterUnit unit = CounterUnit::kOne;
  CounterKind kind = CounterKind::kUnknown;
  std::uint8_t bits = 64;  // width of the counter in the device
  bool is_error = false;   // more of it means that something went wrong
  std::vector<std::uint64_t> values;

  bool is_same_quantity(const CounterColumn& other) const {
    return scale == other.scale && unit == other.unit && kind == other.kind && bits == other.bits;
  }
};

// All subjects of one driver: rows of subject i, a row of /job/nics or /job/devices, are [offset[i], offset[i + 1]), by
// time. Subjects of other drivers have none.
struct CounterTable {
  CounterSubject subject = CounterSubject::kNic;
  std::string driver;  // part of the path; "" for GPUs
  std::vector<std::int64_t> time_ns;
  std::vector<std::int64_t> read_ns;
  std::vector<std::uint32_t> flags;
  std::vector<std::uint64_t> offset{0};
  std::vector<CounterColumn> columns;  // by name, each name once
};

}  // namespace jaxprof::runfile
