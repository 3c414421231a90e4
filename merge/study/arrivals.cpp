// Which kind of times, which instances, their members, their steps, in order of time; then what each did before.
#include "merge/study/arrivals.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "merge/runfile/schema.h"
#include "merge/study/call_steps.h"
#include "merge/study/in_parallel.h"
#include "merge/study/previous_ops.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

bool is_point_to_point(Coll coll) {
  return coll == Coll::kSend || coll == Coll::kRecv;
}

constexpr std::size_t kInstancesWorthAThread = 2'048;

// The process of a row of /events/nccl. The k-th member of an instance is mostly of the same process as that of the
// instance before. One thread.
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

// The value that most have; of as many, the lowest. -1 for none.
std::int32_t most_frequent(std::vector<std::int32_t>& values) {
  std::sort(values.begin(), values.end());
  std::int32_t winner = values.empty() ? -1 : values.front();
  std::size_t most = 0;
  for (std::size_t i = 0, begin = 0; i < values.size(); ++i) {
    if (values[i] != values[begin]) begin = i;
    if (i - begin + 1 > most) {
      most = i - begin + 1;
      winner = values[i];
    }
  }
  return winner;
}

class Gathering {
 public:
  Gathering(const RunTables& run, const Scope& scope, const StudyOptions& options, const NcclTable& host)
      : run_(run), options_(options), host_(host), steps_(run, scope) {}

  Arrivals gather() {
    count_recorded_members();
    std::vector<std::uint64_t> rows = wanted_rows();
    find_steps(rows);
    found_.is_gpu = are_times_of_gpus(rows);
    std::erase_if(rows, [this](std::uint64_t row) { return is_left_out(row); });
    sort(rows);
    place(rows);
    in_parallel(rows.size(), kInstancesWorthAThread,
                [&](std::size_t begin, std::size_t end) { fill(rows, begin, end); });
    find_previous_ops(run_.processes.process.size(), run_.devices.device.size(), found_);
    return std::move(found_);
  }

 private:
  // A GPU that several processes share is nobody's own: what one of them does there is not what another was late for.
  std::int32_t own_device(std::int32_t device) const {
    const auto row = static_cast<std::size_t>(device);
    const bool is_shared = device >= 0 && row < run_.devices.process.size() && run_.devices.process[row] == kNoIndex;
    return is_shared ? -1 : device;
  }
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

  // In which step each instance is, and whether that is asked for.
  void find_steps(const std::vector<std::uint64_t>& rows) {
    step_.assign(run_.collectives.comm.size(), -1);
    is_asked_.assign(run_.collectives.comm.size(), 0);
    in_parallel(rows.size(), kInstancesWorthAThread, [&](std::size_t begin, std::size_t end) {
      std::vector<std::int32_t> votes;
      for (std::size_t i = begin; i < end; ++i) {
        step_[rows[i]] = step_of(rows[i], votes);
        is_asked_[rows[i]] = is_asked(rows[i], step_[rows[i]]) ? 1 : 0;
      }
    });
  }

  // The step in which most members' calls begin; of as many, the earlier one.
  std::int32_t step_of(std::uint64_t row, std::vector<std::int32_t>& votes) const {
    votes.clear();
    bool is_unanimous = true;
    for (const std::uint64_t call : calls_of(row)) {
      if (call == kNoRow) continue;
      votes.push_back(steps_.step(call));
      is_unanimous = is_unanimous && votes.back() == votes.front();
    }
    return is_unanimous && !votes.empty() ? votes.front() : most_frequent(votes);
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

  // Has one that is asked for GPU times? Where none is asked for, has any?
  bool are_times_of_gpus(const std::vector<std::uint64_t>& rows) const {
    bool is_any_asked = false;
    bool has_any_gpu = false;
    for (const std::uint64_t row : rows) {
      const bool has_gpu_times = run_.collectives.first_start_ns[row] >= 0;
      if (has_gpu_times && is_asked_[row] != 0) return true;
      has_any_gpu = has_any_gpu || has_gpu_times;
      is_any_asked = is_any_asked || is_asked_[row] != 0;
    }
    return has_any_gpu && !is_any_asked;
  }

  // Has it times of the other kind, or not of all members?
  bool is_left_out(std::uint64_t row) {
    bool is_out = (run_.collectives.first_start_ns[row] >= 0) != found_.is_gpu;
    std::size_t n_members = 0;
    for (const std::uint64_t call : calls_of(row)) {
      if (is_out) break;
      if (call == kNoRow) continue;
      ++n_members;
      is_out = time_of(call).begin_ns < 0;
    }
    is_out = is_out || n_members == 0;
    if (is_out && is_asked_[row] != 0) ++found_.n_without_times;
    return is_out;
  }

  // By communicator and first arrival.
  void sort(std::vector<std::uint64_t>& rows) const {
    const CollectiveTable& t = run_.collectives;
    const auto& first_ns = found_.is_gpu ? t.first_start_ns : t.first_enqueue_ns;
    const auto is_before = [&](std::uint64_t a, std::uint64_t b) {
      return std::pair(t.comm[a], first_ns[a]) < std::pair(t.comm[b], first_ns[b]);
    };
    if (!std::is_sorted(rows.begin(), rows.end(), is_before)) std::stable_sort(rows.begin(), rows.end(), is_before);
  }

  // Makes room for all of them.
  void place(const std::vector<std::uint64_t>& rows) {
    ArrivalInstances& t = found_.instances;
    t.collective = rows;
    for (auto* column : {&t.first_ns, &t.last_ns, &t.end_ns}) column->resize(rows.size());
    t.comm.resize(rows.size());
    t.step.resize(rows.size());
    t.flags.resize(rows.size());
    t.member_offset.reserve(rows.size() + 1);
    for (const std::uint64_t row : rows) {
      const auto calls = calls_of(row);
      const auto n_missing = std::count(calls.begin(), calls.end(), kNoRow);
      t.member_offset.push_back(t.member_offset.back() + calls.size() - static_cast<std::uint64_t>(n_missing));
    }
    ArrivalMembers& m = found_.members;
    const std::size_t n_members = t.member_offset.back();
    m.call.resize(n_members);
    m.process.resize(n_members);
    m.comm_rank.resize(n_members);
    m.device.resize(n_members);
    m.start_ns.resize(n_members);
    m.end_ns.resize(n_members);
  }

  TimeSpan time_of(std::uint64_t call) const {
    const NcclTable& t = run_.nccl;
    if (found_.is_gpu) {
      const bool is_known = t.gpu_start_ns[call] >= 0 && t.gpu_dur_ns[call] >= 0;
      return is_known ? TimeSpan{t.gpu_start_ns[call], instant_after(t.gpu_start_ns[call], t.gpu_dur_ns[call])}
                      : TimeSpan{-1, -1};
    }
    const bool has_enqueue = !host_.enqueue_ns.empty() && host_.enqueue_ns[call] >= 0;
    const std::int64_t start_ns = has_enqueue ? host_.enqueue_ns[call] : t.start_ns[call];
    return {start_ns, host_.end_api_ns.empty() ? start_ns : std::max(start_ns, host_.end_api_ns[call])};
  }

  // Instances [begin, end).
  void fill(const std::vector<std::uint64_t>& rows, std::size_t begin, std::size_t end) {
    ArrivalInstances& t = found_.instances;
    ArrivalMembers& m = found_.members;
    ProcessOf process_of(run_.nccl_process_offset);
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t row = rows[i];
      const std::size_t first = t.member_offset[i];
      std::size_t to = first;
      for (const std::uint64_t call : calls_of(row)) {
        if (call == kNoRow) continue;
        const TimeSpan time = time_of(call);
        m.call[to] = call;
        m.process[to] = process_of.find(to - first, call);
        m.comm_rank[to] = run_.nccl.comm_rank[call];
        m.device[to] = own_device(run_.nccl.device[call]);
        m.start_ns[to] = time.begin_ns;
        m.end_ns[to++] = time.end_ns;
      }
      sum_up(row, i);
    }
  }

  void sum_up(std::uint64_t row, std::size_t i) {
    ArrivalInstances& t = found_.instances;
    const auto starts_ns = found_.starts_ns(i);
    const auto ends_ns = std::span(found_.members.end_ns).subspan(found_.begin(i), starts_ns.size());
    const auto [first, last] = std::minmax_element(starts_ns.begin(), starts_ns.end());
    const auto [first_end, last_end] = std::minmax_element(ends_ns.begin(), ends_ns.end());
    t.comm[i] = run_.collectives.comm[row];
    t.first_ns[i] = *first;
    t.last_ns[i] = *last;
    t.end_ns[i] = *last_end;
    t.step[i] = step_[row];
    t.flags[i] = static_cast<std::uint8_t>((is_asked_[row] != 0 ? kArrivalAsked : 0) |
                                           (found_.is_gpu && *first_end < *last ? kArrivalEarlyExit : 0) |
                                           flags_of(row, starts_ns.size()));
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
  const StudyOptions& options_;
  const NcclTable& host_;
  CallSteps steps_;
  std::vector<std::uint32_t> n_recorded_;  // by communicator
  std::vector<std::int32_t> step_;         // by row of /collectives
  std::vector<std::uint8_t> is_asked_;     // the same
  Arrivals found_;
};

bool is_of_host(std::string_view path) {
  return path == "/events/nccl/enqueue_ns" || path == "/events/nccl/end_api_ns";
}

}  // namespace

Arrivals find_arrivals(const RunTables& run, const Scope& scope, const StudyOptions& options, const NcclTable* host) {
  return Gathering(run, scope, options, host != nullptr ? *host : run.nccl).gather();
}

Result<Arrivals> read_arrivals(const StudyRun& run, const Scope& scope, const StudyOptions& options) {
  Arrivals found = find_arrivals(run.tables, scope, options);
  if (found.is_gpu || run.tables.nccl.start_ns.empty()) return found;
  const auto host = run.reader.read(is_of_host);
  if (!host) return tl::unexpected(host.error());
  return find_arrivals(run.tables, scope, options, &host->nccl);
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

bool arrivals_of_gpus_want(std::string_view path) {
  return arrivals_want(path) && !is_of_host(path);
}

}  // namespace jaxprof::study
