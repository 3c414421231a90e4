// A text of sysfs, taken for each thing that it may be.
#include <cstdint>
#include <string>
#include <string_view>

#include "netsampler/nic/counter_table.h"
#include "netsampler/nic/sysfs_text.h"
#include "tests/fuzz/planted_fault.h"

using namespace jaxprof;
using namespace jaxprof::netsampler;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto value = parse_counter_text(text)) {
    fuzz::plant_fault(*value == 1235);
    fuzz::demand(parse_counter_text(std::to_string(*value) + "\n") == value, "a number survives writing");
  }
  fuzz::demand(parse_link_rate(text) <= 1'000'000'000'000'000, "a link is no faster than a petabit");
  fuzz::demand(parse_interface_speed(text) <= 1'000'000'000'000'000, "an interface is no faster than a petabit");
  fuzz::demand(parse_lifespan(text) <= 10'000'000'000, "the kernel keeps nothing longer than 10 s");
  is_active_state(text);
  const std::string pci = find_pci_address(text);
  fuzz::demand(pci.empty() || text.find(pci) != std::string_view::npos, "an address is a part of its path");
  for (const char* driver : {"efa", "mlx5_core", "bnxt_re", "irdma", "hfi1", ""}) {
    const Column column = describe_counter(driver, CounterPlace::kPortHw, text);
    fuzz::demand(column.name == text && column.bits > 0 && column.bits <= 64, "a counter keeps its name");
  }
  return 0;
}
