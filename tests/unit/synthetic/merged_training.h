// A training job of tests/synthetic as the merge sees it, without a file: all tables in memory, and the truth beside
// them. A run of eight ranks and twenty steps takes some hundredths of a second.
#pragma once

#include "agent/base/result.h"
#include "merge/runfile/run_tables.h"
#include "tests/synthetic/run.h"
#include "tests/synthetic/training_truth.h"

namespace jaxprof::test {

struct MergedTraining {
  runfile::RunTables tables;
  synthetic::TrainingTruth truth;
};

// `plan` is a training. Its directory lies in memory where /dev/shm can be written, and is gone afterwards. Any thread.
Result<MergedTraining> merge_training(const synthetic::RunPlan& plan);

}  // namespace jaxprof::test
