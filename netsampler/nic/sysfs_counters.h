// Counters that are files: kept open, for opening one costs ten times what reading it does. A file that was renamed
// with its device stays readable; one whose device is gone says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/unique_fd.h"
#include "netsampler/nic/counter_source.h"

namespace jaxprof::netsampler {

class SysfsCounter {
 public:
  SysfsCounter(std::string name, UniqueFd file) : name_(std::move(name)), file_(std::move(file)) {}

  // errno; ENODATA if what is there is no number ("N/A").
  int read(std::uint64_t* value) const;
  const std::string& name() const { return name_; }

  // Opens and reads it once: `error` is 0, or why it cannot be used.
  static SysfsCounter open(const std::string& path, std::string name, int* error);

 private:
  std::string name_;
  UniqueFd file_;
};

class SysfsCounters : public CounterSource {
 public:
  // With the column of each. They are read in this order, but for mlx5's first counter: see the implementation.
  explicit SysfsCounters(std::vector<std::pair<SysfsCounter, std::size_t>> counters);
  ReadOutcome read(std::span<std::uint64_t> values) override;

 private:
  std::vector<std::pair<SysfsCounter, std::size_t>> counters_;
};

}  // namespace jaxprof::netsampler
