#include "netsampler/nic/sysfs_counters.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "netsampler/nic/sysfs_text.h"

namespace jaxprof::netsampler {
namespace {

// mlx5's counter number 0. Reading it asks the firmware for all and keeps them for the others; a read of another one
// alone asks the firmware again for every single one (drivers/infiniband/hw/mlx5/counters.c, do_get_hw_stats). On other
// drivers the first read does this, whichever it is.
constexpr std::string_view kArmsTheCache = "rx_write_requests";

}  // namespace

SysfsCounter SysfsCounter::open(const std::string& path, std::string name, int* error) {
  SysfsCounter counter(std::move(name), UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)));
  std::uint64_t value = 0;
  *error = counter.file_ ? counter.read(&value) : errno;
  return counter;
}

int SysfsCounter::read(std::uint64_t* value) const {
  std::array<char, 64> text;
  const ssize_t size = ::pread(file_.get(), text.data(), text.size(), 0);
  if (size < 0) return errno;
  const std::optional<std::uint64_t> number = parse_counter_text({text.data(), static_cast<std::size_t>(size)});
  if (!number) return ENODATA;
  *value = *number;
  return 0;
}

SysfsCounters::SysfsCounters(std::vector<std::pair<SysfsCounter, std::size_t>> counters)
    : counters_(std::move(counters)) {
  std::stable_partition(counters_.begin(), counters_.end(),
                        [](const auto& counter) { return counter.first.name() == kArmsTheCache; });
}

ReadOutcome SysfsCounters::read(std::span<std::uint64_t> values) {
  for (const auto& [counter, column] : counters_) {
    if (column >= values.size()) continue;
    if (counter.read(&values[column]) == ENODEV) return ReadOutcome::kLost;
  }
  return ReadOutcome::kOk;
}

}  // namespace jaxprof::netsampler
