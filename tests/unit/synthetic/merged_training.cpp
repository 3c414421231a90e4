#include "tests/unit/synthetic/merged_training.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "merge/assembly/assemble_run.h"
#include "merge/rundir/run_directory.h"
#include "merge/runfile/run_file_writer.h"
#include "tests/synthetic/run_writer.h"

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

Result<FiledTraining> FiledTraining::write(MergedTraining run) {
  auto folder = std::make_unique<TempFolder>(fast_folder());
  const std::string path = folder->file("run.h5");
  runfile::WriteOptions options;
  options.compression = runfile::Compression::kNone;
  options.n_threads = 1;
  if (const auto written = runfile::write_run_file(run.tables, path, options); !written) {
    return tl::unexpected(written.error());
  }
  auto reader = runfile::RunFileReader::open(path);
  if (!reader) return tl::unexpected(reader.error());
  return FiledTraining(std::move(run), std::move(folder), std::move(*reader));
}

}  // namespace jaxprof::test
