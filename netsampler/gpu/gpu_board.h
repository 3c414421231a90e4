// What the observer of a node knows of its GPUs and keeps of them: a board with its facts, and rows of samples. All
// boards have the same columns (gpu_columns.h). Values only; nothing here talks to a driver.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "agent/spool/node_record.h"
#include "netsampler/gpu/gpu_column.h"

namespace jaxprof::netsampler {

// A GPU, or an instance of one that is partitioned (MIG): that has an identity, by which a process's device is found,
// and no values of its own. Clocks, power and temperature belong to the board.
struct GpuBoard {
  std::uint32_t number = 0;  // counts from 0 over boards and instances; streams carry it
  std::string name;
  std::string uuid;    // GPU-xxxxxxxx-…, of an instance MIG-xxxxxxxx-…
  std::string pci;     // 0000:1b:00.0; of an instance that of its board
  std::string driver;  // version of the kernel driver
  int numa = -1;       // of the processors it is attached to; -1 unknown
  std::uint64_t memory_bytes = 0;
  std::uint64_t power_limit_mw = 0;          // enforced at the start; 0 unknown
  std::uint64_t sm_clock_max_mhz = 0;        // 0 unknown
  std::optional<std::uint32_t> instance_of;  // number of the board
  bool is_lost = false;                      // it fell off the bus, or must be reset
  std::uint64_t stamp = 0;                   // when these facts held; CLOCK_MONOTONIC_RAW in ns
};

// One reading of one board.
struct GpuRow {
  std::uint32_t board = 0;                              // GpuBoard::number
  std::uint64_t stamp = 0;                              // before the read began; CLOCK_MONOTONIC_RAW in ns
  std::uint32_t read_us = 0;                            // how long it took, rounded up
  std::uint32_t flags = 0;                              // spool::SampleFlag
  std::array<std::uint64_t, kGpuColumnCount> values{};  // spool::kMissingSample where there is none
};

// A line for the user.
struct GpuNote {
  spool::NodeNote note = spool::NodeNote::kNoGpu;
  std::string text;
};

}  // namespace jaxprof::netsampler
