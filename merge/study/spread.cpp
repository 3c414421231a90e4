// Kinds become rows: three samples of each, raw, net and wait, and four bandwidths.
#include "merge/study/spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "merge/study/bandwidth.h"
#include "merge/study/call_kinds.h"
#include "merge/study/distribution.h"
#include "merge/study/drift.h"
#include "merge/study/human.h"
#include "merge/study/nccl_tests_output.h"
#include "merge/study/spread_histogram.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

constexpr double kStableCv = 0.02;

// A sample's figures, of the samples that a row shows.
struct Sample {
  Distribution d;
  Width width;
};

struct Line {
  bool is_gpu = false;
  Sample raw, net, wait;
  std::optional<double> drift;
  std::optional<double> fast_ns, mean_ns, xfer_ns, wall_ns;
};

template <typename T>
Cell cell(const std::optional<T>& value) {
  return value ? Cell{*value} : Cell{Missing{}};
}
template <typename T>
Cell cell(T value, T missing) {
  return value == missing ? Cell{Missing{}} : Cell{static_cast<std::int64_t>(value)};
}

Sample sample_of(std::vector<std::int64_t>& values_ns) {
  Sample sample{describe_in_place(values_ns), {}};
  sample.width = width_of(sample.d, values_ns);
  return sample;
}

// Reorders the kind's samples.
Line line_of(KindTimes& times) {
  Line line;
  line.is_gpu = !times.raw_ns.empty();
  if (line.is_gpu) line.drift = drift_of(times.raw_ns, times.raw_step);
  line.raw = sample_of(line.is_gpu ? times.raw_ns : times.host_ns);
  line.net = sample_of(times.net_ns);
  line.wait = sample_of(times.wait_ns);
  line.fast_ns = describe_in_place(times.fast_ns).p50;
  line.mean_ns = describe_in_place(times.mean_ns).p50;
  line.xfer_ns = describe_in_place(times.xfer_ns).p50;
  line.wall_ns = describe_in_place(times.wall_ns).p50;
  return line;
}

// A kind a thread.
std::vector<Line> lines_of(std::vector<KindTimes>& kinds) {
  std::vector<Line> lines(kinds.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < kinds.size(); i = next++) lines[i] = line_of(kinds[i]);
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency() && i < kinds.size(); ++i) threads.emplace_back(work);
  work();
  return lines;
}

void add_sample_columns(std::vector<Column>& columns, const std::string& prefix, const std::string& heading,
                        bool has_range) {
  const auto add = [&](const char* name, Unit unit, bool is_detail) {
    columns.push_back({prefix + name + (unit == Unit::kTimeNs ? "_ns" : ""), heading + name, unit, is_detail});
  };
  add("n", Unit::kNone, true);
  add("min", Unit::kTimeNs, true);
  add("p01", Unit::kTimeNs, true);
  add("p05", Unit::kTimeNs, !has_range);
  add("p25", Unit::kTimeNs, true);
  add("p50", Unit::kTimeNs, false);
  add("p75", Unit::kTimeNs, true);
  add("p95", Unit::kTimeNs, !has_range);
  add("p99", Unit::kTimeNs, true);
  add("max", Unit::kTimeNs, !has_range);
  add("mean", Unit::kTimeNs, true);
  add("std", Unit::kTimeNs, true);
  add("iqr", Unit::kTimeNs, true);
  for (const char* name : {"cv", "qcd", "rcv", "tail", "span", "sarle"}) add(name, Unit::kRatio, true);
}

void add_sample_cells(Row& row, const Sample& sample) {
  const Distribution& d = sample.d;
  const Width& w = sample.width;
  row.insert(row.end(), {static_cast<std::int64_t>(d.n), cell(d.min), cell(d.p01), cell(d.p05), cell(d.p25),
                         cell(d.p50), cell(d.p75), cell(d.p95), cell(d.p99), cell(d.max), cell(d.mean), cell(d.std),
                         cell(w.iqr), cell(w.cv), cell(w.qcd), cell(w.rcv), cell(w.tail), cell(w.span), cell(w.sarle)});
}

std::vector<Column> columns_of(By by, bool has_grouped, bool has_reference) {
  std::vector<Column> columns = {{"op", "op"},
                                 {"dtype", "type"},
                                 {"algo", "algo"},
                                 {"proto", "proto"},
                                 {"ranks", "ranks"},
                                 {"size_bytes", "size", Unit::kBytes},
                                 {"grouped", "grouped", Unit::kNone, !has_grouped}};
  if (by != By::kRun) columns.push_back({std::string(word(by)), std::string(word(by))});
  columns.insert(columns.end(), {{"count", "count"}, {"time", "time"}, {"source", "source", Unit::kNone, true}});
  add_sample_columns(columns, "", "", true);
  add_sample_columns(columns, "net_", "net ", false);
  add_sample_columns(columns, "wait_", "wait ", false);
  columns.insert(columns.end(), {{"early_exits", "early exits", Unit::kNone, true},
                                 {"drift", "drift", Unit::kRatio, true},
                                 {"is_stable", "stable", Unit::kNone, true},
                                 {"is_bimodal", "bimodal", Unit::kNone, true},
                                 {"fast_p50_ns", "fast", Unit::kTimeNs, true},
                                 {"xfer_p50_ns", "xfer", Unit::kTimeNs, true},
                                 {"wall_p50_ns", "wall", Unit::kTimeNs, true},
                                 {"mean_p50_ns", "mean of members", Unit::kTimeNs, true},
                                 {"clock_check", "clock check", Unit::kRatio, true},
                                 {"algbw_gb_per_s", "algbw", Unit::kGbPerS},
                                 {"busbw_gb_per_s", "busbw", Unit::kGbPerS},
                                 {"busbw_xfer_gb_per_s", "busbw xfer", Unit::kGbPerS, true},
                                 {"busbw_wall_gb_per_s", "busbw wall", Unit::kGbPerS, true},
                                 {"busbw_mean_gb_per_s", "busbw mean", Unit::kGbPerS, true}});
  if (has_reference) {
    columns.insert(columns.end(), {{"ref_ns", "ref", Unit::kTimeNs}, {"to_ref", "/ ref", Unit::kRatio}});
  }
  return columns;
}

// S over one of the four times, and that times the bus factor; neither for operations that have no factor.
struct Bandwidths {
  double bytes = 0;
  std::optional<double> bus_bytes;
  std::optional<double> alg(std::optional<double> ns) const { return over(bytes, ns); }
  std::optional<double> bus(std::optional<double> ns) const { return over(bus_bytes.value_or(0), ns); }

 private:
  std::optional<double> over(double amount_bytes, std::optional<double> ns) const {
    const bool is_known = ns && *ns > 0 && bytes > 0 && bus_bytes;
    return is_known ? std::optional(amount_bytes / *ns) : std::nullopt;
  }
};

Bandwidths bandwidths_of(const KindTimes& times) {
  const CallKind& kind = times.kind;
  if (kind.is_grouped && times.grouped_bus_bytes <= 0) return {};
  if (kind.is_grouped) return {times.grouped_bytes, times.grouped_bus_bytes};
  if (kind.size_bytes == kNoRow) return {};
  const auto factor = bus_factor(kind.coll, kind.n_ranks == kNoIndex ? 0 : kind.n_ranks);
  const auto bytes = static_cast<double>(kind.size_bytes);
  return {bytes, factor ? std::optional(bytes * *factor) : std::nullopt};
}

std::string part_words(const RunTables& run, By by, std::int64_t part) {
  if (part < 0) return "missing";
  if (by == By::kNode) return std::string(run.strings.text(run.nodes.host[static_cast<std::size_t>(part)]));
  return std::to_string(part);
}

Row row_of(const RunTables& run, const KindTimes& times, const Line& line, By by, const Reference* reference) {
  const CallKind& kind = times.kind;
  Row row = {std::string(word(kind.coll)),  std::string(word(kind.dtype)), std::string(word(kind.algo)),
             std::string(word(kind.proto)), cell(kind.n_ranks, kNoIndex),  cell(kind.size_bytes, kNoRow),
             std::int64_t{kind.is_grouped}};
  if (by == By::kNode) row.emplace_back(part_words(run, by, kind.part));
  if (by == By::kRank || by == By::kComm) row.push_back(kind.part < 0 ? Cell{Missing{}} : Cell{kind.part});
  row.insert(row.end(), {times.n_calls, std::string(line.is_gpu ? "gpu" : "host"),
                         std::string(word(line.is_gpu ? Timing::kCupti : Timing::kEnqueue))});
  add_sample_cells(row, line.raw);
  add_sample_cells(row, line.net);
  add_sample_cells(row, line.wait);
  const Sample& steady = line.net.d.n > 0 ? line.net : line.raw;
  const auto& sarle = line.raw.width.sarle;
  const Bandwidths bandwidths = bandwidths_of(times);
  const bool has_check = line.fast_ns && line.xfer_ns && *line.fast_ns > 0;
  row.insert(row.end(), {line.net.d.n > 0 ? Cell{times.n_early_exits} : Cell{Missing{}}, cell(line.drift),
                         steady.width.cv ? Cell{std::int64_t{*steady.width.cv < kStableCv}} : Cell{Missing{}},
                         sarle ? Cell{std::int64_t{*sarle > kUniformSarle}} : Cell{Missing{}}, cell(line.fast_ns),
                         cell(line.xfer_ns), cell(line.wall_ns), cell(line.mean_ns),
                         has_check ? Cell{std::abs(*line.fast_ns - *line.xfer_ns) / *line.fast_ns} : Cell{Missing{}},
                         cell(bandwidths.alg(line.fast_ns)), cell(bandwidths.bus(line.fast_ns)),
                         cell(bandwidths.bus(line.xfer_ns)), cell(bandwidths.bus(line.wall_ns)),
                         cell(bandwidths.bus(line.mean_ns))});
  if (reference != nullptr) {
    const auto us = kind.is_grouped || kind.size_bytes == kNoRow
                        ? std::nullopt
                        : reference_us(*reference, kind.coll, kind.dtype, kind.size_bytes, kind.n_ranks);
    const bool has_ratio = us && line.fast_ns;
    row.insert(row.end(), {us ? Cell{*us * 1e3} : Cell{Missing{}},
                           has_ratio ? Cell{*line.fast_ns / (*us * 1e3)} : Cell{Missing{}}});
  }
  return row;
}

std::string name_of(const CallKind& kind) {
  const std::string size = kind.size_bytes == kNoRow ? "" : " " + human_bytes(static_cast<double>(kind.size_bytes));
  return std::string(word(kind.coll)) + " " + std::string(word(kind.dtype)) + size;
}

// "12 calls of 3 kinds; widest: AllReduce f32 1 KiB, max 2.3 x p50 (1.1 x without waiting)".
std::string verdict_of(const CallTimes& calls, const std::vector<Line>& lines) {
  std::int64_t n_calls = 0;
  double widest = 0;
  std::string who;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    n_calls += calls.kinds[i].n_calls;
    const Distribution& d = lines[i].raw.d;
    if (d.n < 2 || *d.p50 <= 0 || static_cast<double>(*d.max) / *d.p50 <= widest) continue;
    widest = static_cast<double>(*d.max) / *d.p50;
    who = fmt::format("{}, max {:.2f} x p50", name_of(calls.kinds[i].kind), widest);
    const Distribution& net = lines[i].net.d;
    if (net.n >= 2 && *net.p50 > 0)
      who += fmt::format(" ({:.2f} x without waiting)", static_cast<double>(*net.max) / *net.p50);
  }
  std::string text = fmt::format("{} call{} of {} kind{}", n_calls, n_calls == 1 ? "" : "s", lines.size(),
                                 lines.size() == 1 ? "" : "s");
  return who.empty() ? text : text + "; widest: " + who;
}

std::string why_empty(const RunTables& run, const StudyOptions& options, const CallTimes& calls, const Scope& scope) {
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
  if (calls.n_out_of_scope > 0) {
    return fmt::format("the {} calls{} lie outside of {}", calls.n_out_of_scope,
                       filters.empty() ? "" : " that fit" + filters, scope.words());
  }
  return "none of the run file's NCCL calls fits" + (filters.empty() ? " (all are parts of other calls)" : filters);
}

void add_notes(Table& table, const CallTimes& calls, const std::vector<Line>& lines, const Scope& scope, By by) {
  const auto is_gpu = [](const Line& line) { return line.is_gpu; };
  const bool is_any_gpu = std::any_of(lines.begin(), lines.end(), is_gpu);
  const bool is_all_gpu = std::all_of(lines.begin(), lines.end(), is_gpu);
  table.heading = is_all_gpu   ? "GPU time: kernel length, waiting for other ranks included; net: without it"
                  : is_any_gpu ? "time gpu: kernel length, waiting included; time host: enqueue, not transfer"
                               : "host time: enqueue, not transfer";
  if (scope.has_steps()) table.notes.push_back(scope.words());
  if (calls.n_out_of_scope > 0) {
    table.notes.push_back(
        fmt::format("{} calls outside of that are left out; --all-steps takes all", calls.n_out_of_scope));
  }
  if (!is_any_gpu) {
    table.notes.emplace_back("algbw and busbw are empty: bandwidth needs GPU times, and this run file has none");
  } else if (by == By::kRank || by == By::kNode) {
    table.notes.push_back(fmt::format(
        "algbw and busbw are empty: an instance's time is that of all its members, not of one {}", word(by)));
  }
  table.notes.emplace_back(fmt::format("p05 and p95 need {} values, p01 and p99 need {}", kMinForP05, kMinForP01));
  table.notes.emplace_back("definitions: jaxprof-study spread --explain");
}

// The reference, and why it cannot be one of this run.
Result<std::optional<Reference>> reference_for(const StudyOptions& options, const CallTimes& calls) {
  if (options.reference.empty()) return std::nullopt;
  auto reference = read_nccl_tests(options.reference);
  if (!reference) return tl::unexpected(std::move(reference.error()));
  const std::uint32_t n = reference->n_ranks;
  const auto has_as_many = [n](const KindTimes& times) { return times.kind.n_ranks == n; };
  if (n == 0 || calls.kinds.empty() || std::any_of(calls.kinds.begin(), calls.kinds.end(), has_as_many))
    return *reference;
  return fail(ErrorCode::kUsage, fmt::format("--ref {}: is of {} ranks, and no call of this run is; its first is of {}",
                                             options.reference, n, calls.kinds.front().kind.n_ranks));
}

}  // namespace

bool spread_wants(std::string_view path) {
  return call_kinds_want(path);
}

namespace {

std::int64_t total_ns(const KindTimes& times) {
  std::int64_t sum_ns = 0;
  for (const std::int64_t ns : times.raw_ns.empty() ? times.host_ns : times.raw_ns) sum_ns = instant_after(sum_ns, ns);
  return sum_ns;
}

// A person who sees some of many kinds sees those first that take the most time. True if the order was changed.
bool put_most_time_first(const StudyOptions& options, std::vector<KindTimes>& kinds) {
  const std::size_t shown = options.has_histogram ? kSpreadRows / kBinsForPeople : kSpreadRows;
  if (options.is_for_programs || kinds.size() <= shown) return false;
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const KindTimes& a, const KindTimes& b) { return total_ns(a) > total_ns(b); });
  return true;
}

}  // namespace

Result<Table> spread_with(const RunTables& run, const StudyOptions& options) {
  const Scope scope(run, options);
  const By by = options.by.value_or(By::kRun);
  CallTimes calls = collect_calls(run, scope, options, by);
  const auto reference = reference_for(options, calls);
  if (!reference) return tl::unexpected(reference.error());
  const bool is_by_time = put_most_time_first(options, calls.kinds);
  if (options.has_histogram && !calls.kinds.empty()) return spread_histogram(calls, scope, options);
  const Reference* const ref = *reference ? &**reference : nullptr;
  Table table;
  table.study = kSpread.name;
  const auto is_grouped = [](const KindTimes& times) { return times.kind.is_grouped; };
  table.columns = columns_of(by, std::any_of(calls.kinds.begin(), calls.kinds.end(), is_grouped), ref != nullptr);
  const std::vector<Line> lines = lines_of(calls.kinds);
  for (std::size_t i = 0; i < lines.size(); ++i) table.rows.push_back(row_of(run, calls.kinds[i], lines[i], by, ref));
  if (lines.empty()) {
    table.verdict = "no NCCL calls to compare";
    table.empty_reason = why_empty(run, options, calls, scope);
    return table;
  }
  table.verdict = verdict_of(calls, lines);
  add_notes(table, calls, lines, scope, by);
  if (is_by_time) table.notes.insert(table.notes.begin(), "kinds with the most time first");
  if (ref != nullptr) {
    table.notes.push_back(fmt::format(
        "/ ref: fast p50 over nccl-tests' out-of-place time, {}",
        ref->n_ranks == 0 ? "whose output does not say of how many ranks" : fmt::format("of {} ranks", ref->n_ranks)));
  }
  return table;
}

Result<Table> spread_of(const StudyRun& run, const StudyOptions& options) {
  return spread_with(run.tables, options);
}

Table spread(const RunTables& run, const StudyOptions& options) {
  return *spread_with(run, options);
}

}  // namespace jaxprof::study
