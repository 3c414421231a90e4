// A training job of tests/synthetic as the merge sees it: all tables in memory, and the truth beside them. A run of
// eight ranks and twenty steps takes some hundredths of a second.
#pragma once

#include <memory>

#include "agent/base/result.h"
#include "merge/runfile/run_file_reader.h"
#include "tests/synthetic/run.h"
#include "tests/synthetic/training_truth.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::test {

struct MergedTraining {
  runfile::RunTables tables;
  synthetic::TrainingTruth truth;
};

// `plan` is a training. Its directory lies in memory where /dev/shm can be written, and is gone afterwards. Any thread.
Result<MergedTraining> merge_training(const synthetic::RunPlan& plan);

// The same as a run file in a folder of its own, for studies that read in stretches. As HDF5 it is for one thread of
// the process at a time.
class FiledTraining {
 public:
  static Result<FiledTraining> write(MergedTraining run);

  const runfile::RunTables& tables() const { return run_.tables; }
  const synthetic::TrainingTruth& truth() const { return run_.truth; }
  const runfile::RunFileReader& reader() const { return reader_; }

 private:
  FiledTraining(MergedTraining run, std::unique_ptr<TempFolder> folder, runfile::RunFileReader reader)
      : run_(std::move(run)), folder_(std::move(folder)), reader_(std::move(reader)) {}

  MergedTraining run_;
  std::unique_ptr<TempFolder> folder_;
  runfile::RunFileReader reader_;
};

}  // namespace jaxprof::test
