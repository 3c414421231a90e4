// For each GPU, how long compute had been busy at the begin and at the end of each call: the difference is hidden.
#include "merge/study/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <tuple>

#include "merge/study/comm_kind.h"
#include "merge/study/gpu_absence.h"
#include "merge/study/gpu_sweep.h"
#include "merge/study/group_axis.h"
#include "merge/study/human.h"
#include "merge/study/recorded_time.h"
#include "merge/study/sum_columns.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

struct Operation {
  Coll coll = Coll::kMissing;
  CommKind over = CommKind::kUnknown;
  std::uint64_t size_bytes = kNoRow;
  auto operator<=>(const Operation&) const = default;
};

struct Call {
  TimeSpan gpu;
  std::int32_t device = -1;
  Operation operation;
};

struct Sums {
  std::int64_t n = 0;
  std::int64_t total_ns = 0;
  std::int64_t hidden_ns = 0;
  std::int64_t worst_ns = 0;  // exposed, of one call
  std::int64_t exposed_ns() const { return span_ns(hidden_ns, total_ns); }
};

// How long compute was busy on one GPU before each of some ascending instants.
class ComputeBefore {
 public:
  explicit ComputeBefore(std::vector<std::int64_t> instants_ns) : instants_ns_(std::move(instants_ns)) {
    before_ns_.reserve(instants_ns_.size());
  }
  void busy(TimeSpan span, unsigned classes) {
    const bool is_compute = (classes & kBusyCompute) != 0;
    pass(span, is_compute);
    if (is_compute) sum_ns_ += span.end_ns - span.begin_ns;
  }
  void idle(TimeSpan span, const GpuWork*, const GpuWork*) { pass(span, false); }

  std::int64_t at(std::int64_t instant_ns) const {
    const auto found = std::lower_bound(instants_ns_.begin(), instants_ns_.end(), instant_ns);
    return before_ns_[static_cast<std::size_t>(found - instants_ns_.begin())];
  }

 private:
  void pass(TimeSpan span, bool is_compute) {
    while (before_ns_.size() < instants_ns_.size() && instants_ns_[before_ns_.size()] <= span.end_ns) {
      const std::int64_t into_ns = is_compute ? instants_ns_[before_ns_.size()] - span.begin_ns : 0;
      before_ns_.push_back(sum_ns_ + into_ns);
    }
  }
  std::vector<std::int64_t> instants_ns_;  // ascending, each once
  std::vector<std::int64_t> before_ns_;
  std::int64_t sum_ns_ = 0;
};

bool is_column_wanted(std::string_view path) {
  constexpr std::string_view kTable = "/events/nccl/";
  if (!path.starts_with(kTable)) return false;
  path.remove_prefix(kTable.size());
  constexpr std::array<std::string_view, 10> kColumns = {"start_ns", "gpu_start_ns", "gpu_dur_ns", "comm",  "device",
                                                         "coll",     "size_bytes",   "parent",     "graph", "replay"};
  return std::find(kColumns.begin(), kColumns.end(), path) != kColumns.end();
}

// The calls of one process after the other.
class Calls {
 public:
  Calls(const StudyRun& run, const StudyOptions& options, const RecordedTime& time, RowCursor<NcclTable> cursor)
      : run_(run.tables), options_(options), time_(time), cursor_(std::move(cursor)) {}

  Status load(std::size_t process) {
    calls_.clear();
    Walker in_scope(time_.of_process(process));
    const std::vector<std::uint64_t>& offset = run_.nccl_process_offset;
    for (std::uint64_t row = offset[process]; row < offset[process + 1]; ++row) {
      if (auto read = cursor_.seek(row); !read) return read;
      add(cursor_.table(), row - cursor_.begin(), in_scope);
    }
    return {};
  }
  // Of that GPU; of calls that do not tell theirs, if the process has one only.
  std::vector<Call> of_device(std::int32_t device, bool is_only_one) const {
    std::vector<Call> calls;
    for (const Call& call : calls_) {
      if (call.device == device || (call.device < 0 && is_only_one)) calls.push_back(call);
    }
    return calls;
  }
  std::size_t size() const { return calls_.size(); }
  std::int64_t n_without_gpu_time() const { return n_without_gpu_time_; }

 private:
  void add(const NcclTable& t, std::size_t i, Walker& in_scope) {
    if (t.parent[i] != kNoRow || (options_.op && t.coll[i] != *options_.op)) return;
    if (t.start_ns[i] < 0 || !in_scope.contains(t.start_ns[i])) return;
    if (t.gpu_start_ns[i] < 0 || t.gpu_dur_ns[i] < 0) {
      const bool is_capture = t.graph[i] == 1 && t.replay[i] == kNoRow;
      n_without_gpu_time_ += is_capture ? 0 : 1;
      return;
    }
    calls_.push_back({{t.gpu_start_ns[i], instant_after(t.gpu_start_ns[i], t.gpu_dur_ns[i])},
                      t.device[i],
                      {t.coll[i], kind_of_comm(run_.comms, t.comm[i]), t.size_bytes[i]}});
  }

  const RunTables& run_;
  const StudyOptions& options_;
  const RecordedTime& time_;
  RowCursor<NcclTable> cursor_;
  std::vector<Call> calls_;
  std::int64_t n_without_gpu_time_ = 0;
};

std::vector<std::int64_t> instants_of(const std::vector<Call>& calls) {
  std::vector<std::int64_t> instants_ns;
  for (const Call& call : calls) {
    instants_ns.push_back(call.gpu.begin_ns);
    instants_ns.push_back(call.gpu.end_ns);
  }
  std::sort(instants_ns.begin(), instants_ns.end());
  instants_ns.erase(std::unique(instants_ns.begin(), instants_ns.end()), instants_ns.end());
  return instants_ns;
}

void add(const Call& call, const ComputeBefore& compute, Sums& sums) {
  const std::int64_t total_ns = span_ns(call.gpu.begin_ns, call.gpu.end_ns);
  const std::int64_t hidden_ns = compute.at(call.gpu.end_ns) - compute.at(call.gpu.begin_ns);
  ++sums.n;
  sums.total_ns = instant_after(sums.total_ns, total_ns);
  sums.hidden_ns = instant_after(sums.hidden_ns, hidden_ns);
  sums.worst_ns = std::max(sums.worst_ns, total_ns - hidden_ns);
}

using Rows = std::map<std::pair<Operation, std::uint32_t>, Sums>;  // by operation and group

struct Answer {
  Rows rows;
  Sums all;
  std::int64_t n_without_gpu_time = 0;
  std::int64_t n_without_gpu = 0;  // of several of their process
  SweepCounts counts;
};

Result<Answer> collect(const StudyRun& run, const StudyOptions& options, const RecordedTime& time, GroupAxis& groups) {
  Answer answer;
  auto cursor = RowCursor<NcclTable>::open(run.reader, is_column_wanted);
  if (!cursor) return tl::unexpected(cursor.error());
  Calls calls(run, options, time, std::move(*cursor));
  Status status;
  std::size_t loaded = time.n_processes();
  std::size_t n_used = 0;
  const auto is_only_gpu = [&](std::size_t process) { return own_devices(run.tables, process).size() == 1; };
  const auto close = [&] { answer.n_without_gpu += static_cast<std::int64_t>(calls.size() - n_used); };
  const auto make = [&](std::size_t process, std::int32_t device) {
    if (process != loaded) {
      if (loaded != time.n_processes()) close();
      n_used = 0;
      loaded = process;
      if (auto read = calls.load(process); !read && status) status = std::move(read);
    }
    return ComputeBefore(instants_of(calls.of_device(device, is_only_gpu(process))));
  };
  const auto done = [&](std::size_t process, std::int32_t device, const ComputeBefore& compute) {
    for (const Call& call : calls.of_device(device, is_only_gpu(process))) {
      ++n_used;
      add(call, compute, answer.rows[{call.operation, groups.group_of(process, device)}]);
      add(call, compute, answer.all);
    }
  };
  const auto counts = sweep_gpus(run, options, false, make, done);
  if (!counts) return tl::unexpected(counts.error());
  if (!status) return tl::unexpected(status.error());
  if (loaded != time.n_processes()) close();
  answer.counts = *counts;
  answer.n_without_gpu_time = calls.n_without_gpu_time();
  return answer;
}

std::vector<Column> columns(const GroupAxis& groups) {
  std::vector<Column> all = {{"op", "op"}, {"over", "over"}, {"size_bytes", "size", Unit::kBytes}};
  append(all, groups.columns());
  append(all, {{"count", "count"},
               {"total_ns", "total", Unit::kTimeNs},
               {"hidden_ns", "hidden", Unit::kTimeNs},
               {"exposed_ns", "exposed", Unit::kTimeNs},
               {"hidden_share", "hidden %", Unit::kShare},
               {"worst_exposed_ns", "worst", Unit::kTimeNs}});
  return all;
}

double percent(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string name_of(const Operation& operation) {
  const std::string size =
      operation.size_bytes == kNoRow ? "" : " " + human_bytes(static_cast<double>(operation.size_bytes));
  return std::string(word(operation.coll)) + size + ", " + std::string(word(operation.over));
}

// "640 calls, 831 ms on GPUs: 0.3 % hidden under compute, 829 ms exposed; most: AllReduce 64 MiB, mixed, 60.1 % of it".
std::string verdict_of(const Answer& answer) {
  std::map<Operation, std::int64_t> exposed_ns;
  for (const auto& [key, sums] : answer.rows) {
    exposed_ns[key.first] = instant_after(exposed_ns[key.first], sums.exposed_ns());
  }
  const auto most = std::max_element(exposed_ns.begin(), exposed_ns.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  std::string text = fmt::format("{} call{}, {} on GPUs: {:.1f} % hidden under compute, {} exposed", answer.all.n,
                                 answer.all.n == 1 ? "" : "s", human_time(static_cast<double>(answer.all.total_ns)),
                                 percent(answer.all.hidden_ns, answer.all.total_ns),
                                 human_time(static_cast<double>(answer.all.exposed_ns())));
  if (most->second <= 0) return text;
  return text + fmt::format("; most: {}, {:.1f} % of it", name_of(most->first),
                            percent(most->second, answer.all.exposed_ns()));
}

std::string why_empty(const RunTables& run, const StudyOptions& options, const Answer& answer,
                      const std::string& scope_words) {
  if (run.nccl_process_offset.back() == 0) {
    return is_asked_for(run, "nccl")
               ? "the run file has no NCCL calls; jaxprof-study summary lists what is missing"
               : "the run file has no NCCL calls: -t " + run.attributes.trace + " did not ask for them; add nccl to it";
  }
  if (!has_gpu_work(run)) return why_no_gpu_rows(run, "kernels or copies");
  if (answer.n_without_gpu_time > 0) {
    return fmt::format(
        "none of the {} NCCL calls in scope has GPU times: their kernels were not recorded, or not known",
        answer.n_without_gpu_time);
  }
  return why_none_fits(options, scope_words, options.op ? std::string(word(*options.op)) + " calls" : "NCCL calls");
}

}  // namespace

bool overlap_wants(std::string_view path) {
  return recorded_time_wants(path) || group_axis_wants(path) || gpu_work_wants(path) || path.starts_with("/comms/") ||
         path == "/events/nccl/process_offset";
}

Result<Table> overlap(const StudyRun& run, const StudyOptions& options) {
  Table table;
  table.study = kOverlap.name;
  const RecordedTime time(run.tables, options);
  GroupAxis groups(run.tables, options.by.value_or(By::kRun));
  const auto answer = collect(run, options, time, groups);
  if (!answer) return tl::unexpected(answer.error());
  table.columns = columns(groups);
  if (answer->rows.empty()) {
    table.verdict = "no NCCL calls with GPU times";
    table.empty_reason = why_empty(run.tables, options, *answer, time.scope().words());
    return table;
  }
  std::vector<const Rows::value_type*> rows;
  for (const auto& row : answer->rows) rows.push_back(&row);
  if (groups.by() == By::kRun) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto* a, const auto* b) { return a->second.exposed_ns() > b->second.exposed_ns(); });
  }
  for (const auto* row : rows) {
    const auto& [operation, group] = row->first;
    const Sums& sums = row->second;
    const bool has_size = operation.size_bytes <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    Row cells = {std::string(word(operation.coll)), std::string(word(operation.over)),
                 has_size ? Cell{static_cast<std::int64_t>(operation.size_bytes)} : Cell{Missing{}}};
    append(cells, groups.cells(group));
    append(cells, {sums.n, sums.total_ns, sums.hidden_ns, sums.exposed_ns(), share_cell(sums.hidden_ns, sums.total_ns),
                   sums.worst_ns});
    table.rows.push_back(std::move(cells));
  }
  table.verdict = verdict_of(*answer);
  table.heading = "GPU time of NCCL calls, and what of it ran beside compute; " + time.scope().words();
  if (answer->n_without_gpu_time > 0) {
    table.notes.push_back(fmt::format("left out: {} calls without GPU times", answer->n_without_gpu_time));
  }
  if (answer->n_without_gpu > 0) {
    table.notes.push_back(
        fmt::format("left out: {} calls of which it is not known on which GPU they ran", answer->n_without_gpu));
  }
  for (std::string& note : notes_of(answer->counts)) table.notes.push_back(std::move(note));
  table.notes.emplace_back("definitions: jaxprof-study overlap --explain");
  return table;
}

}  // namespace jaxprof::study
