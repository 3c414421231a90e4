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
  // `name_hash` is KernelNames::hash_of() of its kernel's name.
  spool::MadeVarint number_of(const Record& record, std::uint64_t name_hash) noexcept {
    Recent& recent = recent_[name_hash >> (64 - kRecentBits)];
    return is_as(record, recent) ? recent.number : renew(&recent, record);
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
    std::uint32_t registers_and_1;  // 0: none is known
    spool::MadeVarint number;
  };
  static constexpr unsigned kRecentBits = 12;

  static constexpr std::size_t kFirstBytes = kernel_record::kLocalPerThread.offset + 4 - kernel_record::kGrid[0].offset;

  // Compared where they lie: to copy the record's first would cost more than the comparison.
  static bool is_as(const Record& record, const Recent& recent) noexcept {
    using namespace kernel_record;
    static_assert(kFirstBytes == offsetof(Config, cluster));
    static_assert(kCluster[2].offset + 4 - kCluster[0].offset == sizeof Config::cluster);
    if (!record.has(kCluster[2])) return false;
    const std::uint64_t difference =
        difference_of_words<kFirstBytes>(record.at + kGrid[0].offset, &recent.config) |
        difference_of_words<sizeof recent.config.cluster>(record.at + kCluster[0].offset, recent.config.cluster) |
        ((record.get(kRegisters) + 1U) ^ recent.registers_and_1);
    return difference == 0;
  }
  spool::MadeVarint renew(Recent* recent, Record record) noexcept;
  static Config config_of(const Record& record) noexcept;
  std::uint32_t look(const Config& config) noexcept;

  NumberTable<Config, 1U << 15> all_;
  Recent recent_[1U << kRecentBits] = {};  // by the kernel's name
};

}  // namespace jaxprof::cupti
