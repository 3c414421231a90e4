#include "merge/assembly/part_source.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace jaxprof::assembly {
namespace {

// A kernel takes 20 bytes of a spool and, while its process is read, some 250 of memory.
constexpr std::size_t kMemoryOfSpool = 12;

}  // namespace

std::size_t memory_of(const SourceProcess& process) {
  return kMemoryOfSpool * process.trace.health().file_bytes;
}

unsigned threads_of(unsigned asked) {
  return asked > 0 ? asked : std::max(1U, std::thread::hardware_concurrency());
}

LocalParts::LocalParts(const RunSources& sources, std::vector<std::size_t> processes, unsigned n_threads,
                       std::size_t budget_bytes)
    : processes_(std::move(processes)),
      parts_(
          processes_.size(), threads_of(n_threads), budget_bytes,
          [this, &sources](std::size_t i) { return memory_of(sources.processes[processes_[i]]); },
          [this, &sources](std::size_t i) { return read_process(sources, processes_[i]); }) {}

Result<PartHead> LocalParts::next_head() {
  ProcessPart part = parts_.next();
  PartHead head = std::move(part.head);
  waiting_.push_back(std::move(part));
  return head;
}

Status LocalParts::place(Placement placement) {
  ProcessPart part = std::move(waiting_.front());
  waiting_.pop_front();
  PlacedPart placed;
  placed.early = place_rows(placement, &part);
  placed.rows = std::move(part.rows);
  placed.calls = std::move(part.calls);
  placed_.push_back(std::move(placed));
  return {};
}

Result<PlacedPart> LocalParts::next_rows() {
  PlacedPart placed = std::move(placed_.front());
  placed_.pop_front();
  return placed;
}

}  // namespace jaxprof::assembly
