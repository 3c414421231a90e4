#include "merge/study/node_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "merge/study/counter_growth.h"
#include "merge/study/time_span.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

// Bits of NVML's nvmlClocksEventReasons.
constexpr std::uint64_t kIdle = 0x1;
constexpr std::uint64_t kHeldBack = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;  // power cap, slowdown, thermal, power brake

void add_ports(Sections& out, const RunTables& run) {
  std::map<std::string, std::int64_t> by_kind;
  for (std::size_t i = 0; i < run.nics.nic.size(); ++i) {
    const std::string_view driver = run.strings.text(run.nics.driver[i]);
    ++by_kind[fmt::format("{} ({})", driver.empty() ? "driver unknown" : driver, word(run.nics.source[i]))];
  }
  std::string detail;
  for (const auto& [kind, n] : by_kind) detail += fmt::format("{}{} x {}", detail.empty() ? "" : ", ", n, kind);
  out.count("ports", static_cast<std::int64_t>(run.nics.nic.size()), detail);
}

const CounterTable* gpu_table(const RunTables& run) {
  const auto found = std::find_if(run.counters.begin(), run.counters.end(),
                                  [](const CounterTable& table) { return table.subject == CounterSubject::kGpu; });
  return found == run.counters.end() ? nullptr : &*found;
}

const CounterColumn* column_of(const CounterTable& table, std::string_view name) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                  [name](const CounterColumn& column) { return column.name == name; });
  return found == table.columns.end() ? nullptr : &*found;
}

// "GPU-7… on n0", or its row where it has no UUID.
std::string gpu_name(const RunTables& run, std::size_t device) {
  const std::string_view uuid = run.devices.uuid[device].view();
  const std::uint32_t node = run.devices.node[device];
  return fmt::format("{} on {}", uuid.empty() ? fmt::format("device {}", device) : std::string(uuid),
                     node == kNoIndex ? std::string_view("an unknown node") : run.strings.text(run.nodes.host[node]));
}

}  // namespace

void add_network(Sections& out, const RunTables& run) {
  const ObserverTable& observers = run.observers;
  out.begin("network");
  const std::set<std::uint32_t> nodes(observers.node.begin(), observers.node.end());
  out.count(
      "nodes sampled", static_cast<std::int64_t>(nodes.size()),
      nodes.empty() ? "no observer (jaxprof-netsampler) left a spool" : fmt::format("of {}", run.attributes.n_nodes));
  if (nodes.empty()) return;
  add_ports(out, run);
  std::uint64_t ticks = 0;
  std::uint64_t missed = 0;
  std::int64_t lateness_max_ns = 0;
  double cpu_ns = 0;
  double reading_ns = 0;
  double time_ns = 0;  // of those that told what they cost
  for (std::size_t i = 0; i < observers.node.size(); ++i) {
    if (observers.ticks[i] == kNoRow) continue;
    ticks += observers.ticks[i];
    missed += observers.missed_ticks[i];
    lateness_max_ns = std::max(lateness_max_ns, observers.lateness_max_ns[i]);
    const auto amount = [](std::int64_t ns) { return static_cast<double>(std::max<std::int64_t>(ns, 0)); };
    cpu_ns += amount(observers.cpu_ns[i]);
    reading_ns += amount(observers.reading_ns[i]);
    time_ns += amount(span_ns(observers.start_ns[i], observers.end_ns[i]));
  }
  if (ticks == 0) return out.text("missed ticks", "unknown: no observer told before it was killed");
  out.count("missed ticks", static_cast<std::int64_t>(missed), fmt::format("of {}", ticks));
  out.amount("lateness, largest", lateness_max_ns, "ns");
  const auto share = [time_ns](double ns) {
    return time_ns > 0 ? fmt::format("{:.2f} % of a core", 100.0 * ns / time_ns) : std::string();
  };
  out.amount("processor time", whole_number(cpu_ns), "ns", share(cpu_ns));
  out.amount("time in readings", whole_number(reading_ns), "ns", share(reading_ns));
}

void add_gpu_clocks(Sections& out, const RunTables& run) {
  const CounterTable* table = gpu_table(run);
  if (table == nullptr) return;
  const CounterColumn* reasons = column_of(*table, "clock_reasons");
  const CounterColumn* clock = column_of(*table, "sm_clock");
  std::int64_t n_watched = 0;
  std::optional<double> worst_share;
  std::size_t worst = 0;
  std::optional<std::uint64_t> lowest_mhz;
  std::size_t lowest = 0;
  for (std::size_t device = 0; device + 1 < table->offset.size(); ++device) {
    std::uint64_t n_known = 0;
    std::uint64_t n_held_back = 0;
    for (std::uint64_t row = table->offset[device]; row < table->offset[device + 1]; ++row) {
      // An idle GPU's clock is low because it is idle.
      const std::uint64_t why = reasons == nullptr ? kNoSample : reasons->values[row];
      if (why == kNoSample || (why & kIdle) != 0) continue;
      ++n_known;
      if ((why & kHeldBack) != 0) ++n_held_back;
      const std::uint64_t mhz = clock == nullptr ? kNoSample : clock->values[row];
      if (mhz != kNoSample && mhz < lowest_mhz.value_or(kNoSample)) {
        lowest_mhz = mhz;
        lowest = device;
      }
    }
    if (table->offset[device] < table->offset[device + 1]) ++n_watched;
    const double share = n_known == 0 ? 0 : static_cast<double>(n_held_back) / static_cast<double>(n_known);
    if (n_known > 0 && share >= worst_share.value_or(0)) {
      worst_share = share;
      worst = device;
    }
  }
  out.begin("gpu clocks");
  out.count("GPUs watched", n_watched);
  if (!worst_share) return out.text("held back", "unknown: no reading of a busy GPU tells why its clock is what it is");
  out.amount("held back, largest share of busy readings", *worst_share, "1",
             *worst_share > 0 ? gpu_name(run, worst) + ": by its power limit or temperature" : "");
  if (lowest_mhz) {
    const std::uint32_t most_mhz = run.devices.sm_clock_max_mhz[lowest];
    out.amount("lowest SM clock of a busy GPU", static_cast<std::int64_t>(*lowest_mhz), "MHz",
               gpu_name(run, lowest) + (most_mhz == kNoIndex ? "" : fmt::format(", of at most {} MHz", most_mhz)));
  }
}

bool node_summary_wants(std::string_view path) {
  constexpr std::array<std::string_view, 4> kColumns = {"/counters/gpu/clock_reasons", "/counters/gpu/sm_clock",
                                                        "/counters/gpu/device_offset", "/counters/gpu/flags"};
  return std::find(kColumns.begin(), kColumns.end(), path) != kColumns.end();
}

}  // namespace jaxprof::study
