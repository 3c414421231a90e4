// Writes the spool of one rank: its kernels, CUDA calls, ranges and NCCL calls, slot by slot, and counts what is in it.
// What other ranks do is known from the plan alone, so that ranks are written in any order and side by side.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/synthetic/arrivals.h"
#include "tests/synthetic/process_spool.h"
#include "tests/synthetic/truth.h"

namespace jaxprof::synthetic {

// What the task's records say of the spool.
struct WrittenSpool {
  std::string name;  // in the run directory
  std::uint64_t bytes = 0;
  std::uint64_t events = 0;
  std::uint64_t dropped = 0;
  RunTruth truth;
};

class ProcessWriter {
 public:
  // `run` is borrowed. The spool goes into `directory`, which exists.
  ProcessWriter(const Run& run, std::uint32_t rank, const std::string& directory);
  // kOutputFailed where the disk does not take it.
  Result<WrittenSpool> write() &&;

 private:
  void begin(std::int64_t attach_ns, bool is_from_start);

  void write_slot(const Slot& slot);
  void write_ranges(const Slot& slot);
  void write_unit(const Slot& slot);
  void count_instances(const Comm& comm, const Unit& unit, const CallTruth& truth);
  CallChange change_of(const Slot& slot, const Comm& comm);
  std::vector<NcclCall> calls_of(const Comm& comm, const Unit& unit, const CallChange& change);
  void count_unit(const Slot& slot, const Comm& comm, const Unit& unit, const CallTruth& truth);
  void note_odd(const Comm& comm, std::vector<OddCall>* list, spool::NcclFunction function);
  Status tear(const Slot& slot);
  void settle();

  const Run& run_;
  const RunPlan& plan_;
  const Arrivals arrivals_;
  const std::uint32_t rank_;
  const FaultyRank* const faulty_;
  const std::int64_t late_ns_;
  const std::string directory_;
  ProcessSpool spool_;
  HostThread& host_;
  GpuWriter& gpu_;
  test::SimRandom random_;
  RunTruth truth_;
  RankTruth own_;
  std::uint64_t sequence_[3][16] = {};  // next number, by communicator and function
  std::uint64_t dropped_ = 0;
};

}  // namespace jaxprof::synthetic
