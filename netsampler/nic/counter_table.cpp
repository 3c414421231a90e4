#include "netsampler/nic/counter_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "netsampler/nic/counter_rows.h"

namespace jaxprof::netsampler {
namespace {

// `pattern` is a name, or has one star.
bool fits(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  const std::string_view begin = pattern.substr(0, star);
  const std::string_view end = pattern.substr(star + 1);
  return name.size() >= begin.size() + end.size() && name.starts_with(begin) && name.ends_with(end);
}

const CounterRow* find_row(std::span<const CounterRow> rows, std::string_view name) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const CounterRow& r) { return fits(r.pattern, name); });
  return row == rows.end() ? nullptr : &*row;
}

const CounterRow* find_row(std::string_view driver, CounterPlace place, std::string_view name) {
  if (place == CounterPlace::kPma) return find_row(pma_rows(), name);
  if (place == CounterPlace::kNetdev) return find_row(netdev_rows(), name);
  for (const DriverRows& rows : driver_rows()) {
    if (rows.driver != driver) continue;
    const CounterRow* row = place == CounterPlace::kPortHw ? find_row(rows.port, name) : nullptr;
    return row != nullptr ? row : find_row(rows.device, name);
  }
  return nullptr;
}

}  // namespace

std::string rdma_driver(std::string_view kernel_driver) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kNames{{
      {"bnxt_en", "bnxt_re"},
      {"ice", "irdma"},
      {"i40e", "irdma"},
      {"idpf", "irdma"},
      {"hns3", "hns"},
      {"mana", "mana_ib"},
      {"qede", "qedr"},
  }};
  for (const auto& [card, rdma] : kNames) {
    if (card == kernel_driver) return std::string(rdma);
  }
  return std::string(kernel_driver);
}

Column describe_counter(std::string_view driver, CounterPlace place, std::string_view name) {
  Column column;
  column.name = name;
  if (const CounterRow* row = find_row(driver, place, name)) {
    column.scale = row->scale;
    column.unit = row->unit;
    column.kind = row->kind;
    column.bits = row->bits;
    column.is_error = row->is_error;
    column.is_fast = row->is_fast;
  } else if (driver == "hfi1" && name.ends_with(",32")) {
    column.bits = 32;  // its driver writes the width behind the name
  }
  return column;
}

bool is_known_counter(std::string_view driver, CounterPlace place, std::string_view name) {
  return find_row(driver, place, name) != nullptr;
}

std::string recognize_driver(std::span<const std::string> names) {
  std::string_view best;
  std::size_t best_count = 3;
  bool is_tie = false;
  for (const DriverRows& rows : driver_rows()) {
    const auto count = static_cast<std::size_t>(std::count_if(
        names.begin(), names.end(), [&](const std::string& name) { return find_row(rows.port, name) != nullptr; }));
    if (count < best_count) continue;
    is_tie = count == best_count;
    if (count > best_count) best = rows.driver;
    best_count = count;
  }
  return is_tie || best_count * 2 <= names.size() ? std::string() : std::string(best);
}

std::uint64_t default_period_ns(std::string_view driver, CounterPlace place) {
  if (place == CounterPlace::kNetdev || driver == "efa") return 100'000'000;
  return driver == "bnxt_re" ? 1'000'000'000 : 20'000'000;
}

}  // namespace jaxprof::netsampler
