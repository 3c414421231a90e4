// One pass over the calls of each process.
#include "merge/study/call_counts.h"

#include <unordered_map>

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

bool is_point_to_point(Coll coll) {
  return coll == Coll::kSend || coll == Coll::kRecv;
}

// The first thing that matching lacked.
std::string why_unmatched(const NcclTable& t, std::size_t row) {
  if (t.comm[row] == kNoIndex) return "communicator unknown";
  if (t.seq[row] == kNoRow) return "no sequence number";
  if (t.replay[row] != kNoRow) return "which replay of the graph it was is not known";
  return "another call has its member, function and sequence number";
}

}  // namespace

CallCounts count_calls(const RunTables& run) {
  CallCounts counts;
  const NcclTable& t = run.nccl;
  for (std::size_t process = 0; process < run.processes.process.size(); ++process) {
    std::unordered_map<std::uint64_t, std::int64_t> calls_of_group;
    for (std::uint64_t row = run.nccl_process_offset[process]; row < run.nccl_process_offset[process + 1]; ++row) {
      if (t.parent[row] != kNoRow) {
        ++counts.n_parts;
        continue;
      }
      ++counts.n_calls;
      ++counts.by_operation[t.coll[row]];
      if (t.replay[row] != kNoRow) {
        ++counts.n_replays;
      } else if (t.graph[row] == 1) {
        ++counts.n_captured;
      }
      if (t.path[row] != JoinPath::kMissing) {
        ++counts.n_with_kernel;
        ++counts.by_path[t.path[row]];
        if (t.gpu_dur_ns[row] < 0) ++counts.n_without_time;
      }
      if (t.group[row] != kNoRow) ++calls_of_group[t.group[row]];
      if (t.instance[row] != kNoRow) {
        ++counts.n_matched;
      } else if (is_point_to_point(t.coll[row])) {
        ++counts.n_point_to_point;
      } else {
        ++counts.unmatched[why_unmatched(t, row)];
      }
    }
    for (const auto& [group, n] : calls_of_group) counts.n_grouped += n > 1 ? n : 0;
  }
  return counts;
}

}  // namespace jaxprof::study
