// Which kind of times, which instances, their members, their steps, in order of time; then what each did before.
#include "merge/study/arrivals.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "merge/runfile/schema.h"
#include "merge/study/call_steps.h"
#include "merge/study/previous_ops.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

bool is_point_to_point(Coll coll) {
  return coll == Coll::kSend || coll == Coll::kRecv;
}

// The process of a row of /events/nccl. The k-th member of an instance is mostly of the same process as that of the
// instance before.
class ProcessOf {
 public:
  explicit ProcessOf(const std::vector<std::uint64_t>& offset) : offset_(offset) {}

  std::uint32_t find(std::size_t place, std::uint64_t row) {
    if (place >= guess_.size()) guess_.resize(place + 1, 0);
    std::uint32_t& guess = guess_[place];
    if (row < offset_[guess] || row >= offset_[guess + 1]) {
      guess = static_cast<std::uint32_t>(std::upper_bound(offset_.begin(), offset_.end(), row) - offset_.begin() - 1);
    }
    return guess;
  }

 private:
  const std::vector<std::uint64_t>& offset_;
  std::vector<std::uint32_t> guess_;
};

class Gathering {
 public:
  Gathering(const RunTables& run, const Scope& scope, const StudyOptions& options)
      : run_(run), scope_(scope), options_(options), steps_(run, scope), process_of_(run.nccl_process_offset) {}

  Arrivals gather() {
    count_recorded_members();
    const std::vector<std::uint64_t> rows = wanted_rows();
    found_.is_gpu = are_times_of_gpus(rows);
    for (const std::uint64_t row : in_order(rows)) add(row);
    find_previous_ops(run_.processes.process.size(), run_.devices.device.size(), found_);
    return std::move(found_);
  }

 private:
  std::span<const std::uint64_t> calls_of(std::uint64_t row) const {
    const auto& offset = run_.collective_member_offset;
    return std::span(run_.collective_members.event_row).subspan(offset[row], offset[row + 1] - offset[row]);
  }

  // By communicator, how many of its members' processes have a spool; 0: nothing tells.
  void count_recorded_members() {
    const auto& offset = run_.comm_member_offset;
    for (std::size_t comm = 0; comm + 1 < offset.size(); ++comm) {
      std::uint32_t n = 0;
      for (std::uint64_t i = offset[comm]; i < offset[comm + 1]; ++i) {
        if (run_.comm_members.member_process[i] != kNoIndex) ++n;
      }
      n_recorded_.push_back(n);
    }
  }

  // Without sends and receives, and without captured calls of communicators whose replays are there.
  std::vector<std::uint64_t> wanted_rows() {
    const CollectiveTable& t = run_.collectives;
    std::vector<std::uint8_t> has_replays(run_.comms.comm.size(), 0);
    for (std::size_t row = 0; row < t.comm.size(); ++row) {
      if (t.replay[row] != kNoRow && t.comm[row] != kNoIndex) has_replays[t.comm[row]] = 1;
    }
    std::vector<std::uint64_t> rows;
    rows.reserve(t.comm.size());
    for (std::size_t row = 0; row < t.comm.size(); ++row) {
      if (is_point_to_point(t.coll[row]) || calls_of(row).empty()) continue;
      const bool is_capture = t.capture[row] != kNoRow && t.replay[row] == kNoRow;
      if (is_capture && t.comm[row] != kNoIndex && has_replays[t.comm[row]] != 0) {
        ++found_.n_captures;
        continue;
      }
      rows.push_back(row);
    }
    return rows;
  }

  // Has one that is asked for GPU times? Where none is asked for, has any?
  bool are_times_of_gpus(const std::vector<std::uint64_t>& rows) {
    bool is_any_asked = false;
    bool has_any_gpu = false;
    for (const std::uint64_t row : rows) {
      const bool has_gpu_times = run_.collectives.first_start_ns[row] >= 0;
      has_any_gpu = has_any_gpu || has_gpu_times;
      if ((is_any_asked && !has_gpu_times) || !is_asked(row, step_of(row))) continue;
      if (has_gpu_times) return true;
      is_any_asked = true;
    }
    return has_any_gpu && !is_any_asked;
  }

  // By communicator and first arrival.
  std::vector<std::uint64_t> in_order(std::vector<std::uint64_t> rows) const {
    const CollectiveTable& t = run_.collectives;
    const auto& first_ns = found_.is_gpu ? t.first_start_ns : t.first_enqueue_ns;
    std::stable_sort(rows.begin(), rows.end(), [&](std::uint64_t a, std::uint64_t b) {
      return std::pair(t.comm[a], first_ns[a]) < std::pair(t.comm[b], first_ns[b]);
    });
    return rows;
  }

  // The step in which most members' calls begin; of as many, the earlier one.
  std::int32_t step_of(std::uint64_t row) {
    votes_.clear();
    bool is_unanimous = true;
    for (const std::uint64_t call : calls_of(row)) {
      if (call == kNoRow) continue;
      votes_.push_back(steps_.step(call));
      is_unanimous = is_unanimous && votes_.back() == votes_.front();
    }
    if (votes_.empty()) return -1;
    if (is_unanimous) return votes_.front();
    std::sort(votes_.begin(), votes_.end());
    std::int32_t winner = votes_.front();
    std::size_t most = 0;
    for (std::size_t i = 0, run_begin = 0; i < votes_.size(); ++i) {
      if (votes_[i] != votes_[run_begin]) run_begin = i;
      if (i - run_begin + 1 > most) {
        most = i - run_begin + 1;
        winner = votes_[i];
      }
    }
    return winner;
  }

  // Do more than half of the members whose calls begin in `step` begin where it is asked for?
  bool is_asked(std::uint64_t row, std::int32_t step) const {
    if (step < 0 || (options_.op && run_.collectives.coll[row] != *options_.op)) return false;
    std::size_t n_voters = 0;
    std::size_t n_in = 0;
    for (const std::uint64_t call : calls_of(row)) {
      if (call == kNoRow || steps_.step(call) != step) continue;
      ++n_voters;
      if (steps_.is_in_scope(call)) ++n_in;
    }
    return 2 * n_in > n_voters;
  }

  TimeSpan time_of(std::uint64_t call) const {
    const NcclTable& t = run_.nccl;
    if (found_.is_gpu) {
      const bool is_known = t.gpu_start_ns[call] >= 0 && t.gpu_dur_ns[call] >= 0;
      return is_known ? TimeSpan{t.gpu_start_ns[call], instant_after(t.gpu_start_ns[call], t.gpu_dur_ns[call])}
                      : TimeSpan{-1, -1};
    }
    const std::int64_t start_ns = t.enqueue_ns[call] >= 0 ? t.enqueue_ns[call] : t.start_ns[call];
    return {start_ns, std::max(start_ns, t.end_api_ns[call])};
  }

  // False, and nothing added, if a member has no time.
  bool add_members(std::uint64_t row) {
    ArrivalMembers& m = found_.members;
    const std::size_t begin = m.call.size();
    std::size_t place = 0;
    for (const std::uint64_t call : calls_of(row)) {
      if (call == kNoRow) continue;
      const TimeSpan time = time_of(call);
      if (time.begin_ns < 0) {
        for_each_column([begin](auto& column) { column.resize(begin); });
        return false;
      }
      m.call.push_back(call);
      m.process.push_back(process_of_.find(place++, call));
      m.comm_rank.push_back(run_.nccl.comm_rank[call]);
      m.device.push_back(run_.nccl.device[call]);
      m.start_ns.push_back(time.begin_ns);
      m.end_ns.push_back(time.end_ns);
    }
    return m.call.size() > begin;
  }

  template <typename Take>
  void for_each_column(Take take) {
    ArrivalMembers& m = found_.members;
    take(m.call);
    take(m.process);
    take(m.comm_rank);
    take(m.device);
    take(m.start_ns);
    take(m.end_ns);
  }

  void add(std::uint64_t row) {
    const std::size_t begin = found_.members.call.size();
    const std::int32_t step = step_of(row);
    const bool is_asked_for = is_asked(row, step);
    const bool has_gpu_times = run_.collectives.first_start_ns[row] >= 0;
    if (has_gpu_times != found_.is_gpu || !add_members(row)) {
      if (is_asked_for) ++found_.n_without_times;
      return;
    }
    const std::size_t end = found_.members.call.size();
    const auto starts_ns = std::span(found_.members.start_ns).subspan(begin);
    const auto ends_ns = std::span(found_.members.end_ns).subspan(begin);
    const auto [first, last] = std::minmax_element(starts_ns.begin(), starts_ns.end());
    ArrivalInstances& t = found_.instances;
    t.collective.push_back(row);
    t.comm.push_back(run_.collectives.comm[row]);
    t.first_ns.push_back(*first);
    t.last_ns.push_back(*last);
    t.end_ns.push_back(*std::max_element(ends_ns.begin(), ends_ns.end()));
    t.step.push_back(step);
    t.member_offset.push_back(end);
    const bool has_early_exit = *std::min_element(ends_ns.begin(), ends_ns.end()) < *last;
    t.flags.push_back(static_cast<std::uint8_t>((is_asked_for ? kArrivalAsked : 0) |
                                                (found_.is_gpu && has_early_exit ? kArrivalEarlyExit : 0) |
                                                flags_of(row, end - begin)));
  }

  int flags_of(std::uint64_t row, std::size_t n_members) const {
    const CollectiveTable& t = run_.collectives;
    const std::uint32_t comm = t.comm[row];
    const std::uint32_t n_recorded = comm == kNoIndex ? 0 : n_recorded_[comm];
    const bool is_complete = (t.flags[row] & kInstancePartial) == 0 && n_members >= t.n_seen[row];
    const bool is_as_recorded = n_members >= 2 && (is_complete || (n_recorded > 0 && n_members >= n_recorded));
    const bool is_resolved = (t.flags[row] & kInstanceUnresolved) == 0;
    const bool is_certain = is_resolved && ((t.flags[row] & kInstanceCertain) != 0 || !(t.clock_bound_ns[row] > 0));
    return (is_complete ? kArrivalComplete : 0) | (is_as_recorded ? kArrivalAsRecorded : 0) |
           (is_resolved ? kArrivalResolved : 0) | (is_certain ? kArrivalCertain : 0) |
           (is_synchronizing(t.coll[row]) ? kArrivalSynchronizing : 0) |
           ((t.flags[row] & kInstanceGrouped) != 0 ? kArrivalGrouped : 0);
  }

  const RunTables& run_;
  const Scope& scope_;
  const StudyOptions& options_;
  CallSteps steps_;
  ProcessOf process_of_;
  std::vector<std::uint32_t> n_recorded_;  // by communicator
  std::vector<std::int32_t> votes_;
  Arrivals found_;
};

}  // namespace

Arrivals find_arrivals(const RunTables& run, const Scope& scope, const StudyOptions& options) {
  return Gathering(run, scope, options).gather();
}

bool is_synchronizing(Coll coll) {
  return coll == Coll::kAllReduce || coll == Coll::kAllGather || coll == Coll::kReduceScatter ||
         coll == Coll::kAllToAll || coll == Coll::kBarrier;
}

bool arrivals_want(std::string_view path) {
  constexpr std::array<std::string_view, 10> kColumns = {
      "/events/nccl/process_offset", "/events/nccl/start_ns",     "/events/nccl/enqueue_ns", "/events/nccl/end_api_ns",
      "/events/nccl/gpu_start_ns",   "/events/nccl/gpu_dur_ns",   "/events/nccl/comm_rank",  "/events/nccl/device",
      "/collectives/event_row",      "/collectives/member_offset"};
  constexpr std::array<std::string_view, 11> kOfInstances = {
      "/collectives/comm",           "/collectives/coll",   "/collectives/n_ranks",
      "/collectives/n_seen",         "/collectives/flags",  "/collectives/first_enqueue_ns",
      "/collectives/first_start_ns", "/collectives/replay", "/collectives/clock_bound_ns",
      "/collectives/capture",        "/collectives/seq"};
  return scope_wants(path) || path.starts_with("/job/") || path.starts_with("/comms/") ||
         std::find(kColumns.begin(), kColumns.end(), path) != kColumns.end() ||
         std::find(kOfInstances.begin(), kOfInstances.end(), path) != kOfInstances.end();
}

}  // namespace jaxprof::study
