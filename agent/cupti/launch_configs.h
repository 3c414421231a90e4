// Numbers of launch configurations: grid, block, cluster, registers and memory of a kernel's launch. There are a few
// hundred in a job, and fifty bytes each in every record. A kernel is mostly launched as it was the last time, so that
// is looked at first. Drain thread only.
#pragma once

#include <cstdint>

#include "agent/cupti/number_table.h"
#include "agent/cupti/record_layout.h"

namespace jaxprof::cupti {

class LaunchConfigs {
 public:
  bool open() noexcept;
  // The number of how `record`, a kernel's, was launched, which is registered when it is new; 0 if too many are known.
  std::uint32_t number_of(const Record& record) noexcept;

 private:
  // As it lies in the record: kGrid to kLocalPerThread, then kCluster.
  struct Config {
    std::uint32_t grid[3], block[3];
    std::uint32_t static_shared, dynamic_shared, local;
    std::uint32_t cluster[3];
    std::uint32_t registers;
  };
  struct Recent {
    Config config;
    std::uint32_t number;
  };
  static constexpr std::uint32_t kRecent = 512;

  static constexpr std::size_t kFirstBytes = kernel_record::kLocalPerThread.offset + 4 - kernel_record::kGrid[0].offset;

  static bool has_config(const Record& record, const Config& config) noexcept;
  static Config config_of(const Record& record) noexcept;
  std::uint32_t look(const Config& config) noexcept;

  NumberTable<Config, 1U << 15> all_;
  Recent recent_[kRecent] = {};  // by the kernel's name
};

}  // namespace jaxprof::cupti
