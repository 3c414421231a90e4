#include "tests/synthetic/run_writer.h"

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "agent/base/atomic_file.h"
#include "agent/contract/run_layout.h"
#include "tests/synthetic/node_clocks.h"
#include "tests/synthetic/process_writer.h"
#include "tests/synthetic/run_records.h"
#include "tests/synthetic/training_record.h"
#include "tests/synthetic/training_truth.h"
#include "tests/synthetic/training_writer.h"

namespace jaxprof::synthetic {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

Result<bool> keep(const std::string& path, const std::string& content) {
  return write_atomic_file(path, content, Publish::kIfAbsent, Durable::kInCache);
}

// Spool and records of one rank.
Result<RunTruth> write_rank(const Run& run, std::uint32_t rank, const std::string& directory,
                            const std::string& state_directory, std::int64_t end_ns) {
  if (!has_spool(run, rank)) return RunTruth{};
  auto spool = run.course() != nullptr ? TrainingWriter(run, rank, directory).write()
                                       : ProcessWriter(run, rank, directory).write();
  if (!spool) return tl::unexpected(spool.error());
  const TaskStart start = task_start_of(run, rank);
  if (const auto kept = keep(run_layout::task_start_path(state_directory, start.task), to_json(start)); !kept) {
    return tl::unexpected(kept.error());
  }
  if (run.has_fault(rank, FaultKind::kDuplicate)) {
    std::error_code error;
    std::filesystem::copy_file(directory + "/" + spool->name,
                               run_layout::spool_path(directory, stem_of(rank) + ".copy"), error);
    if (error) return fail(ErrorCode::kOutputFailed, "cannot copy " + spool->name + ": " + error.message());
  }
  if (run.has_fault(rank, FaultKind::kTorn)) return std::move(spool->truth);  // killed with its wrapper
  TaskEnd end = task_end_of(run, rank, end_ns);
  PublishedProcess process;
  process.pid = end.pid;
  process.rank = rank;
  process.state = "ended";
  process.spool = spool->name;
  process.events = static_cast<std::int64_t>(spool->events);
  process.dropped = static_cast<std::int64_t>(spool->dropped);
  process.bytes = static_cast<std::int64_t>(spool->bytes);
  end.processes.push_back(std::move(process));
  if (const auto kept = keep(run_layout::task_end_path(state_directory, end.task), to_json(end)); !kept) {
    return tl::unexpected(kept.error());
  }
  return std::move(spool->truth);
}

std::int64_t end_of(const Run& run) {
  if (run.course() != nullptr) return run.course()->end_ns();
  Timeline timeline = run.timeline();
  for (Slot slot; timeline.next(&slot);) {
  }
  return timeline.end_ns();
}

}  // namespace

Result<RunTruth> write_run(const Run& run, const std::string& directory, unsigned n_threads) {
  const std::string state_directory = run_layout::run_state_directory(directory, kRunId);
  std::error_code error;
  std::filesystem::create_directories(state_directory, error);
  if (error) return fail(ErrorCode::kOutputFailed, "cannot make " + state_directory + ": " + error.message());

  const std::int64_t end_ns = end_of(run) + kSecondNs;
  std::atomic<std::uint32_t> next_rank{0};
  std::mutex mutex;
  RunTruth truth;
  std::optional<Error> failure;
  const auto work = [&] {
    for (std::uint32_t rank = next_rank++; rank < run.plan().processes; rank = next_rank++) {
      auto part = write_rank(run, rank, directory, state_directory, end_ns);
      const std::lock_guard lock(mutex);
      if (failure) return;
      if (part) {
        truth.add(std::move(*part));
      } else {
        failure = part.error();
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < n_threads; ++i) threads.emplace_back(work);
  }
  if (failure) return tl::unexpected(*failure);
  if (run.course() != nullptr) count_training(run, &truth);
  if (run.plan().has_observers()) {
    for (const std::uint32_t node : observed_nodes(run.plan())) {
      write_node_spool(run, node, end_ns, state_directory);
    }
  }
  return truth;
}

}  // namespace jaxprof::synthetic
