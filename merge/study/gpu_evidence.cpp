#include "merge/study/gpu_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

constexpr double kLowerClock = 0.95;    // of the others', to be worth a word
constexpr double kHeldBackShare = 0.1;  // of the samples

// Bits of NVML's nvmlClocksEventReasons that hold a busy GPU back.
constexpr std::array<std::pair<std::uint64_t, std::string_view>, 6> kReasons = {{{0x4, "its power limit"},
                                                                                 {0x8, "a hardware slowdown"},
                                                                                 {0x20, "its temperature (software)"},
                                                                                 {0x40, "its temperature (hardware)"},
                                                                                 {0x80, "a power brake"},
                                                                                 {0x2, "a clock that was set"}}};

struct Samples {
  std::vector<std::uint64_t> mhz;
  std::vector<std::uint64_t> milliwatts;
  std::array<std::size_t, kReasons.size()> n_reasons{};
  std::size_t n = 0;
};

const CounterColumn* column_named(const CounterTable& table, std::string_view name) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                  [name](const CounterColumn& column) { return column.name == name; });
  return found == table.columns.end() ? nullptr : &*found;
}

std::optional<double> median(std::vector<std::uint64_t> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return static_cast<double>(*middle);
}

void add_samples(const CounterTable& table, std::size_t device, const Intervals& when, Samples& to) {
  const CounterColumn* clock = column_named(table, "sm_clock");
  const CounterColumn* power = column_named(table, "power");
  const CounterColumn* reasons = column_named(table, "clock_reasons");
  for (std::uint64_t row = table.offset[device]; row < table.offset[device + 1]; ++row) {
    if (!when.contains(table.time_ns[row])) continue;
    ++to.n;
    if (clock != nullptr && clock->values[row] != kNoSample) to.mhz.push_back(clock->values[row]);
    if (power != nullptr && power->values[row] != kNoSample) to.milliwatts.push_back(power->values[row]);
    if (reasons == nullptr || reasons->values[row] == kNoSample) continue;
    for (std::size_t i = 0; i < kReasons.size(); ++i) {
      if ((reasons->values[row] & kReasons[i].first) != 0) ++to.n_reasons[i];
    }
  }
}

}  // namespace

std::string gpu_evidence(const RunTables& run, std::span<const std::int32_t> devices, const Intervals& when) {
  const auto table = std::find_if(run.counters.begin(), run.counters.end(),
                                  [](const CounterTable& t) { return t.subject == CounterSubject::kGpu; });
  if (table == run.counters.end()) return "";
  Samples own;
  Samples others;
  for (std::size_t device = 0; device + 1 < table->offset.size(); ++device) {
    const bool is_own = std::find(devices.begin(), devices.end(), static_cast<std::int32_t>(device)) != devices.end();
    add_samples(*table, device, when, is_own ? own : others);
  }
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const auto own_mhz = median(own.mhz);
  const auto other_mhz = median(others.mhz);
  if (!own_mhz || !other_mhz || *own_mhz >= kLowerClock * *other_mhz) return "";
  add(fmt::format("SM clock {:.0f} MHz against {:.0f} MHz", *own_mhz, *other_mhz));
  const auto own_mw = median(own.milliwatts);
  const auto other_mw = median(others.milliwatts);
  if (own_mw && other_mw) add(fmt::format("{:.0f} W against {:.0f} W", *own_mw / 1000, *other_mw / 1000));
  std::string reasons;
  for (std::size_t i = 0; i < kReasons.size(); ++i) {
    if (static_cast<double>(own.n_reasons[i]) <= kHeldBackShare * static_cast<double>(own.n)) continue;
    reasons += (reasons.empty() ? "" : " and ") + std::string(kReasons[i].second);
  }
  if (!reasons.empty()) add("held back by " + reasons);
  return text;
}

bool gpu_evidence_wants(std::string_view path) {
  constexpr std::array<std::string_view, 5> kColumns = {"/counters/gpu/clock_reasons", "/counters/gpu/sm_clock",
                                                        "/counters/gpu/power", "/counters/gpu/device_offset",
                                                        "/counters/gpu/time_ns"};
  return std::find(kColumns.begin(), kColumns.end(), path) != kColumns.end();
}

}  // namespace jaxprof::study
