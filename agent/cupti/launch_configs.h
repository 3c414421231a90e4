// Numbers of launch configurations: grid, block, cluster, registers and memory of a kernel's launch. There are a few
// hundred in a job, and fifty bytes each in every record. A kernel is mostly launched as it was the last time, so that
// is looked at first. Drain thread only.
#pragma once

#include <cstdint>

#include "agent/cupti/number_table.h"
#include "agent/cupti/record_layout.h"
#include "agent/spool/varint.h"

namespace jaxprof::cupti {

class LaunchConfigs {
 public:
  bool open() noexcept;
  // The number of how `record`, a kernel's, was launched, which is registered when it is new; 0 if too many are known.
  spool::MadeVarint number_of(const Record& record) noexcept {
    const auto name = reinterpret_cast<std::uintptr_t>(record.get(kernel_record::kName));
    Recent& recent = recent_[(name * 0x9e3779b97f4a7c15U) >> 54];
    static_assert(kRecent == 1U << (64 - 54));
    return recent.is_known != 0 && has_config(record, recent.config) ? recent.number : renew(&recent, record);
  }

 private:
  // As it lies in the record: kGrid to kLocalPerThread, then kCluster.
  struct Config {
    std::uint32_t grid[3], block[3];
    std::uint32_t static_shared, dynamic_shared, local;
    std::uint32_t cluster[3];
    std::uint32_t registers;
  };
  struct alignas(64) Recent {
    Config config;
    std::uint32_t is_known;
    spool::MadeVarint number;
  };
  static constexpr std::uint32_t kRecent = 1024;

  static constexpr std::size_t kFirstBytes = kernel_record::kLocalPerThread.offset + 4 - kernel_record::kGrid[0].offset;

  // Compared where they lie: to copy the record's first would cost more than the comparison.
  static bool has_config(const Record& record, const Config& config) noexcept {
    using namespace kernel_record;
    static_assert(kFirstBytes == offsetof(Config, cluster));
    static_assert(kCluster[2].offset + 4 - kCluster[0].offset == sizeof Config::cluster);
    if (!record.has(kCluster[2])) return false;
    return static_cast<int>(are_same_words<kFirstBytes>(record.at + kGrid[0].offset, &config)) &
           static_cast<int>(are_same_words<sizeof config.cluster>(record.at + kCluster[0].offset, config.cluster)) &
           static_cast<int>(record.get(kRegisters) == config.registers);
  }
  spool::MadeVarint renew(Recent* recent, const Record& record) noexcept;
  static Config config_of(const Record& record) noexcept;
  std::uint32_t look(const Config& config) noexcept;

  NumberTable<Config, 1U << 15> all_;
  Recent recent_[kRecent] = {};  // by the kernel's name
};

}  // namespace jaxprof::cupti
