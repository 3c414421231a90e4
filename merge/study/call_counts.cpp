// A stretch is counted into numbers of its own, which are added under the lock.
#include "merge/study/call_counts.h"

#include <algorithm>

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

using ByWord = std::array<std::int64_t, 256>;

bool is_point_to_point(Coll coll) {
  return coll == Coll::kSend || coll == Coll::kRecv;
}

// The first thing that matching lacked.
const char* why_unmatched(const NcclTable& t, std::size_t row) {
  if (t.comm[row] == kNoIndex) return "communicator unknown";
  if (t.seq[row] == kNoRow) return "no sequence number";
  if (t.replay[row] != kNoRow) return "which replay of the graph it was is not known";
  return "another call has its member, function and sequence number";
}

template <typename Word>
void add_words(std::map<Word, std::int64_t>& to, const ByWord& counts) {
  for (std::size_t word = 0; word < counts.size(); ++word) {
    if (counts[word] > 0) to[static_cast<Word>(word)] += counts[word];
  }
}

bool is_column(std::string_view path, std::span<const std::string_view> names) {
  constexpr std::string_view kTable = "/events/nccl/";
  return path.starts_with(kTable) && std::find(names.begin(), names.end(), path.substr(kTable.size())) != names.end();
}

}  // namespace

std::uint8_t& GroupedCalls::next_adds(std::uint64_t group) {
  if (group >= most_calls_) return large_[group];
  if (group >= small_.size()) small_.resize(std::min(most_calls_, std::max(group + 1, 2 * small_.size())));
  return small_[group];
}

void GroupedCalls::take(std::uint64_t group) {
  std::uint8_t& adds = next_adds(group);
  n_ += adds;
  adds = adds == 0 ? 2 : 1;
}

CallCounter::CallCounter(std::span<const std::uint64_t> process_offset) : process_offset_(process_offset) {
  for (std::size_t process = 0; process + 1 < process_offset.size(); ++process) {
    grouped_.emplace_back(process_offset[process + 1] - process_offset[process]);
  }
}

bool CallCounter::wants(std::string_view path) {
  constexpr std::array<std::string_view, 8> kColumns = {"coll",  "parent",   "gpu_dur_ns", "group",
                                                        "graph", "instance", "replay",     "path"};
  return is_column(path, kColumns);
}

bool CallCounter::wants_for_reasons(std::string_view path) {
  constexpr std::array<std::string_view, 6> kColumns = {"coll", "parent", "instance", "comm", "seq", "replay"};
  return is_column(path, kColumns);
}

void CallCounter::take(const NcclTable& rows, std::uint64_t first) {
  CallCounts own;
  ByWord by_operation{};
  ByWord by_path{};
  for (std::size_t row = 0; row < rows.coll.size(); ++row) {
    if (rows.parent[row] != kNoRow) {
      ++own.n_parts;
      continue;
    }
    ++own.n_calls;
    ++by_operation[static_cast<std::uint8_t>(rows.coll[row])];
    const bool is_replay = rows.replay[row] != kNoRow;
    own.n_replays += is_replay ? 1 : 0;
    own.n_captured += !is_replay && rows.graph[row] == 1 ? 1 : 0;
    const bool has_kernel = rows.path[row] != JoinPath::kMissing;
    own.n_with_kernel += has_kernel ? 1 : 0;
    ++by_path[static_cast<std::uint8_t>(rows.path[row])];
    own.n_without_time += has_kernel && rows.gpu_dur_ns[row] < 0 ? 1 : 0;
    const bool is_matched = rows.instance[row] != kNoRow;
    own.n_matched += is_matched ? 1 : 0;
    own.n_point_to_point += !is_matched && is_point_to_point(rows.coll[row]) ? 1 : 0;
  }
  by_path[static_cast<std::uint8_t>(JoinPath::kMissing)] = 0;
  const std::lock_guard lock(mutex_);
  counts_.n_calls += own.n_calls;
  counts_.n_parts += own.n_parts;
  counts_.n_with_kernel += own.n_with_kernel;
  counts_.n_without_time += own.n_without_time;
  counts_.n_captured += own.n_captured;
  counts_.n_replays += own.n_replays;
  counts_.n_point_to_point += own.n_point_to_point;
  counts_.n_matched += own.n_matched;
  add_words(counts_.by_operation, by_operation);
  add_words(counts_.by_path, by_path);
  take_groups(rows, first);
}

void CallCounter::take_groups(const NcclTable& rows, std::uint64_t first) {
  const auto after = std::upper_bound(process_offset_.begin(), process_offset_.end(), first);
  auto process = static_cast<std::size_t>(after - process_offset_.begin());  // the one after the row's
  for (std::size_t row = 0; row < rows.group.size(); ++row) {
    if (rows.group[row] == kNoRow || rows.parent[row] != kNoRow) continue;
    while (process < process_offset_.size() && process_offset_[process] <= first + row) ++process;
    if (process == 0 || process >= process_offset_.size()) continue;  // a row of no process
    grouped_[process - 1].take(rows.group[row]);
  }
}

void CallCounter::take_reasons(const NcclTable& rows) {
  std::map<std::string, std::int64_t> reasons;
  for (std::size_t row = 0; row < rows.coll.size(); ++row) {
    const bool is_unmatched =
        rows.parent[row] == kNoRow && rows.instance[row] == kNoRow && !is_point_to_point(rows.coll[row]);
    if (is_unmatched) ++reasons[why_unmatched(rows, row)];
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [reason, n] : reasons) counts_.unmatched[reason] += n;
}

CallCounts CallCounter::counts() const {
  const std::lock_guard lock(mutex_);
  CallCounts counts = counts_;
  for (const GroupedCalls& process : grouped_) counts.n_grouped += process.count();
  return counts;
}

CallCounts count_calls(const RunTables& run) {
  CallCounter counter(run.nccl_process_offset);
  counter.take(run.nccl, 0);
  counter.take_reasons(run.nccl);
  return counter.counts();
}

}  // namespace jaxprof::study
