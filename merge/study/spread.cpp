// One pass over the calls collects the times of each kind; each kind becomes a row.
#include "merge/study/spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <unordered_map>

#include "merge/study/bandwidth.h"
#include "merge/study/distribution.h"
#include "merge/study/human.h"
#include "merge/study/time_span.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

struct Kind {
  Coll coll;
  Dtype dtype;
  Algo algo;
  Proto proto;
  std::uint32_t n_ranks;
  std::uint64_t size_bytes;
  auto operator<=>(const Kind&) const = default;
};

// The members of one instance that have a GPU time.
struct Fastest {
  std::int64_t ns = 0;
  std::uint32_t n_members = 0;
};

struct Times {
  std::int64_t n_calls = 0;
  std::vector<std::int64_t> host_ns;
  std::vector<std::int64_t> gpu_ns;
  std::vector<std::int64_t> wait_ns;
  // Calls that were captured into a CUDA graph: they count only if no replay is seen.
  std::int64_t n_captured = 0;
  std::vector<std::int64_t> captured_host_ns;
  std::int64_t n_replays = 0;
  std::unordered_map<std::uint64_t, Fastest> instances;  // by row of /collectives
};

using Kinds = std::map<Kind, Times>;

Kind kind_of(const RunTables& run, std::size_t row) {
  const NcclTable& t = run.nccl;
  const std::uint32_t comm = t.comm[row];
  return {
      t.coll[row],      t.dtype[row], t.algo[row], t.proto[row], comm == kNoIndex ? kNoIndex : run.comms.n_ranks[comm],
      t.size_bytes[row]};
}

void add_instance(Times& times, const NcclTable& t, std::size_t row) {
  if (t.instance[row] == kNoRow) return;
  Fastest& fastest = times.instances[t.instance[row]];
  fastest.ns = fastest.n_members == 0 ? t.gpu_dur_ns[row] : std::min(fastest.ns, t.gpu_dur_ns[row]);
  ++fastest.n_members;
}

// Have all members of the instance GPU times that can be compared?
bool is_comparable(const RunTables& run, std::uint64_t instance) {
  const std::uint16_t flags = run.collectives.flags[instance];
  const bool has_clocks = (flags & kInstanceUnresolved) == 0 || !std::isnan(run.collectives.clock_bound_ns[instance]);
  return run.collectives.last_start_ns[instance] >= 0 && (flags & kInstancePartial) == 0 && has_clocks;
}

void add_call(const RunTables& run, std::size_t row, Times& times) {
  const NcclTable& t = run.nccl;
  const bool is_capture = t.graph[row] == 1 && t.replay[row] == kNoRow;
  if (t.replay[row] != kNoRow) ++times.n_replays;
  ++(is_capture ? times.n_captured : times.n_calls);
  if (t.gpu_dur_ns[row] >= 0) times.gpu_ns.push_back(t.gpu_dur_ns[row]);
  if (t.end_api_ns[row] >= 0) {
    (is_capture ? times.captured_host_ns : times.host_ns).push_back(span_ns(t.start_ns[row], t.end_api_ns[row]));
  }
  const std::uint64_t instance = t.instance[row];
  if (instance != kNoRow && is_comparable(run, instance)) {
    times.wait_ns.push_back(span_ns(t.gpu_start_ns[row], run.collectives.last_start_ns[instance]));
  }
}

// Where no replay was seen, what was captured is all that there is.
void settle_captures(Times& times) {
  if (times.n_replays > 0) return;
  times.n_calls += times.n_captured;
  times.host_ns.insert(times.host_ns.end(), times.captured_host_ns.begin(), times.captured_host_ns.end());
}

Kinds collect(const RunTables& run, const StudyOptions& options) {
  Kinds kinds;
  const NcclTable& t = run.nccl;
  for (std::size_t process = 0; process < run.processes.process.size(); ++process) {
    const bool is_counted = is_rank_wanted(run.processes.rank[process], options);
    for (std::uint64_t row = run.nccl_process_offset[process]; row < run.nccl_process_offset[process + 1]; ++row) {
      if (t.parent[row] != kNoRow || (options.op && t.coll[row] != *options.op)) continue;
      const bool has_gpu_time = t.gpu_dur_ns[row] >= 0;
      if (!is_counted && !has_gpu_time) continue;
      Times& times = kinds[kind_of(run, row)];
      if (has_gpu_time) add_instance(times, t, row);  // an instance's bandwidth is that of all its members
      if (is_counted) add_call(run, row, times);
    }
  }
  for (auto& [kind, times] : kinds) settle_captures(times);
  std::erase_if(kinds, [](const auto& kind) { return kind.second.n_calls == 0; });
  return kinds;
}

// S / (median over the whole, ungrouped instances of their shortest member's time); none without one.
std::optional<double> median_algbw(const RunTables& run, const Kind& kind, const Times& times) {
  if (kind.size_bytes == kNoRow) return std::nullopt;
  std::vector<std::int64_t> fastest_ns;
  for (const auto& [instance, fastest] : times.instances) {
    const bool is_grouped = (run.collectives.flags[instance] & kInstanceGrouped) != 0;
    if (fastest.n_members == kind.n_ranks && !is_grouped && fastest.ns > 0) fastest_ns.push_back(fastest.ns);
  }
  const auto ns = describe(std::move(fastest_ns)).p50;
  if (!ns) return std::nullopt;
  return gb_per_s(kind.size_bytes, *ns);
}

std::optional<double> median_xfer_ns(const RunTables& run, const Times& times) {
  std::vector<std::int64_t> xfer_ns;
  for (const auto& [instance, fastest] : times.instances) {
    if (!is_comparable(run, instance)) continue;
    xfer_ns.push_back(span_ns(run.collectives.last_start_ns[instance], run.collectives.last_end_ns[instance]));
  }
  return describe(std::move(xfer_ns)).p50;
}

template <typename T>
Cell cell(std::optional<T> value) {
  return value ? Cell{*value} : Cell{Missing{}};
}
template <typename T>
Cell cell(T value, T missing) {
  return value == missing ? Cell{Missing{}} : Cell{static_cast<std::int64_t>(value)};
}

std::vector<Column> columns() {
  return {{"op", "op"},
          {"dtype", "type"},
          {"algo", "algo"},
          {"proto", "proto"},
          {"ranks", "ranks"},
          {"size_bytes", "size", Unit::kBytes},
          {"count", "count"},
          {"time", "time"},
          {"source", "source", Unit::kNone, true},
          {"n", "n", Unit::kNone, true},
          {"min_ns", "min", Unit::kTimeNs},
          {"p01_ns", "p01", Unit::kTimeNs, true},
          {"p05_ns", "p05", Unit::kTimeNs},
          {"p25_ns", "p25", Unit::kTimeNs, true},
          {"p50_ns", "p50", Unit::kTimeNs},
          {"p75_ns", "p75", Unit::kTimeNs, true},
          {"p95_ns", "p95", Unit::kTimeNs},
          {"p99_ns", "p99", Unit::kTimeNs, true},
          {"max_ns", "max", Unit::kTimeNs},
          {"mean_ns", "mean", Unit::kTimeNs},
          {"std_ns", "std", Unit::kTimeNs, true},
          {"wait_p50_ns", "wait", Unit::kTimeNs},
          {"xfer_p50_ns", "xfer", Unit::kTimeNs, true},
          {"algbw_gb_per_s", "algbw", Unit::kGbPerS},
          {"busbw_gb_per_s", "busbw", Unit::kGbPerS}};
}

Row row_of(const RunTables& run, const Kind& kind, const Times& times) {
  const bool is_gpu = !times.gpu_ns.empty();
  const Distribution d = describe(is_gpu ? times.gpu_ns : times.host_ns);
  const std::optional<double> algbw = median_algbw(run, kind, times);
  const std::optional<double> factor = bus_factor(kind.coll, kind.n_ranks == kNoIndex ? 0 : kind.n_ranks);
  return {std::string(word(kind.coll)),
          std::string(word(kind.dtype)),
          std::string(word(kind.algo)),
          std::string(word(kind.proto)),
          cell(kind.n_ranks, kNoIndex),
          cell(kind.size_bytes, kNoRow),
          times.n_calls,
          std::string(is_gpu ? "gpu" : "host"),
          std::string(word(is_gpu ? Timing::kCupti : Timing::kEnqueue)),
          static_cast<std::int64_t>(d.n),
          cell(d.min),
          cell(d.p01),
          cell(d.p05),
          cell(d.p25),
          cell(d.p50),
          cell(d.p75),
          cell(d.p95),
          cell(d.p99),
          cell(d.max),
          cell(d.mean),
          cell(d.std),
          cell(describe(times.wait_ns).p50),
          cell(median_xfer_ns(run, times)),
          cell(algbw),
          algbw && factor ? Cell{*algbw * *factor} : Cell{Missing{}}};
}

std::string name_of(const Kind& kind) {
  const std::string size = kind.size_bytes == kNoRow ? "" : " " + human_bytes(static_cast<double>(kind.size_bytes));
  return std::string(word(kind.coll)) + " " + std::string(word(kind.dtype)) + size;
}

// "12 calls of 3 kinds; widest: AllReduce f32 1 KiB, max 2.3 x p50".
std::string verdict_of(const Kinds& kinds) {
  std::int64_t n_calls = 0;
  double widest = 0;
  const Kind* widest_kind = nullptr;
  for (const auto& [kind, times] : kinds) {
    n_calls += times.n_calls;
    const Distribution d = describe(times.gpu_ns.empty() ? times.host_ns : times.gpu_ns);
    if (d.n < 2 || *d.p50 <= 0 || static_cast<double>(*d.max) / *d.p50 <= widest) continue;
    widest = static_cast<double>(*d.max) / *d.p50;
    widest_kind = &kind;
  }
  std::string text = fmt::format("{} call{} of {} kind{}", n_calls, n_calls == 1 ? "" : "s", kinds.size(),
                                 kinds.size() == 1 ? "" : "s");
  if (widest_kind != nullptr) text += fmt::format("; widest: {}, max {:.2f} x p50", name_of(*widest_kind), widest);
  return text;
}

std::string why_empty(const RunTables& run, const StudyOptions& options) {
  if (run.nccl.coll.empty() && !is_asked_for(run, "nccl")) {
    return "the run file has no NCCL calls: -t " + run.attributes.trace + " did not ask for them; add nccl to it";
  }
  if (run.nccl.coll.empty()) {
    return "the run file has no NCCL calls: neither NCCL's profiler plugin nor its NVTX ranges reported one; "
           "jaxprof-study summary lists what is missing";
  }
  std::string filters;
  if (options.op) filters += " --op " + std::string(word(*options.op));
  if (!options.ranks.empty()) filters += " --ranks " + options.ranks;
  return "none of the run file's NCCL calls fits" + (filters.empty() ? " (all are parts of other calls)" : filters);
}

void add_notes(Table& table, const Kinds& kinds) {
  const auto has_gpu = [](const auto& kind) { return !kind.second.gpu_ns.empty(); };
  const bool is_any_gpu = std::any_of(kinds.begin(), kinds.end(), has_gpu);
  const bool is_all_gpu = std::all_of(kinds.begin(), kinds.end(), has_gpu);
  table.heading = is_all_gpu   ? "GPU time: kernel length, waiting for other ranks included"
                  : is_any_gpu ? "time gpu: kernel length, waiting included; time host: enqueue, not transfer"
                               : "host time: enqueue, not transfer";
  if (!is_any_gpu) {
    table.notes.emplace_back("algbw and busbw are empty: bandwidth needs GPU times, and this run file has none");
  }
  table.notes.emplace_back(fmt::format("p05 and p95 need {} values, p01 and p99 need {}", kMinForP05, kMinForP01));
  table.notes.emplace_back("definitions: jaxprof-study spread --explain");
}

}  // namespace

bool spread_wants(std::string_view path) {
  if (path.starts_with("/job/") || path.starts_with("/comms/")) return true;
  constexpr std::array<std::string_view, 19> kColumns = {
      "/events/nccl/process_offset", "/events/nccl/start_ns",    "/events/nccl/end_api_ns",
      "/events/nccl/gpu_dur_ns",     "/events/nccl/comm",        "/events/nccl/coll",
      "/events/nccl/dtype",          "/events/nccl/algo",        "/events/nccl/proto",
      "/events/nccl/size_bytes",     "/events/nccl/parent",      "/events/nccl/instance",
      "/events/nccl/gpu_start_ns",   "/events/nccl/graph",       "/events/nccl/replay",
      "/collectives/last_start_ns",  "/collectives/last_end_ns", "/collectives/flags",
      "/collectives/clock_bound_ns"};
  return std::find(kColumns.begin(), kColumns.end(), path) != kColumns.end();
}

Table spread(const RunTables& run, const StudyOptions& options) {
  Table table;
  table.study = kSpread.name;
  table.columns = columns();
  const Kinds kinds = collect(run, options);
  for (const auto& [kind, times] : kinds) table.rows.push_back(row_of(run, kind, times));
  if (kinds.empty()) {
    table.verdict = "no NCCL calls to compare";
    table.empty_reason = why_empty(run, options);
    return table;
  }
  table.verdict = verdict_of(kinds);
  add_notes(table, kinds);
  return table;
}

}  // namespace jaxprof::study
