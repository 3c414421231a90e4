// Writes the spool of one rank of a training job from the job's course, and counts what is in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/synthetic/process_spool.h"
#include "tests/synthetic/process_writer.h"

namespace jaxprof::synthetic {

class TrainingWriter {
 public:
  // `run` is borrowed, and has a course. The spool goes into `directory`, which exists.
  TrainingWriter(const Run& run, std::uint32_t rank, const std::string& directory);
  // kOutputFailed where the disk does not take it.
  Result<WrittenSpool> write() &&;

 private:
  void begin();
  void write_segment(std::uint32_t step, std::uint32_t unit);
  void write_call(const StepUnit& program, const Segment& segment, bool is_recorded);
  WrittenSpool settle();

  const Run& run_;
  const TrainingCourse& course_;
  const std::uint32_t rank_;
  const std::string directory_;
  ProcessSpool spool_;
  RunTruth truth_;
  RankTruth own_;
  std::uint64_t sequence_[kCommKindCount][16] = {};  // next number, by communicator and function
  std::uint64_t dropped_ = 0;
};

}  // namespace jaxprof::synthetic
