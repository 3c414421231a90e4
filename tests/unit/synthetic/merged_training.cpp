#include "tests/unit/synthetic/merged_training.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "merge/assembly/assemble_run.h"
#include "merge/rundir/run_directory.h"
#include "tests/synthetic/run_writer.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::test {
namespace {

std::string fast_folder() {
  constexpr const char* kInMemory = "/dev/shm";
  return access(kInMemory, W_OK) == 0 ? kInMemory : std::filesystem::temp_directory_path().string();
}

}  // namespace

Result<MergedTraining> merge_training(const synthetic::RunPlan& plan) {
  const auto run = synthetic::Run::prepare(plan);
  if (!run) return tl::unexpected(run.error());
  const TempFolder folder(fast_folder());
  const auto written = synthetic::write_run(*run, folder.path(), 1);
  if (!written) return tl::unexpected(written.error());
  auto directory = rundir::read_run_directory(folder.path());
  if (!directory) return tl::unexpected(directory.error());
  assembly::AssembledRun assembled = assembly::assemble_run(std::move(directory->runs.at(0)));
  return MergedTraining{std::move(assembled.tables), synthetic::training_truth(*run)};
}

}  // namespace jaxprof::test
