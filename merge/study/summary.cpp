// One function a section, each appending its rows.
#include "merge/study/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <utility>

#include "merge/clock/clock_words.h"
#include "merge/runfile/rank_ranges.h"
#include "merge/study/env_summary.h"
#include "merge/study/event_counts.h"
#include "merge/study/gpu_summary.h"
#include "merge/study/node_summary.h"
#include "merge/study/sections.h"
#include "merge/study/step_summary.h"
#include "merge/study/summary_verdict.h"
#include "merge/study/time_span.h"
#include "merge/study/window_summary.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

std::string or_unknown(const std::string& text) {
  return text.empty() ? "unknown" : text;
}
std::string text_of(const RunTables& run, StringId id) {
  return std::string(run.strings.text(id));
}
std::int64_t signed_count(std::uint64_t n) {
  return static_cast<std::int64_t>(n);
}

// The first few names; a list of 500 hosts helps nobody.
std::string node_names(const RunTables& run) {
  constexpr std::size_t kShown = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(kShown, run.nodes.host.size()); ++i) {
    names += (i > 0 ? ", " : "") + or_unknown(text_of(run, run.nodes.host[i]));
  }
  if (run.nodes.host.size() > kShown) names += fmt::format(" and {} more", run.nodes.host.size() - kShown);
  return names;
}

void add_job(Sections& out, const RunTables& run) {
  const RunAttributes& a = run.attributes;
  out.begin("job");
  out.text("run", or_unknown(a.run_id));
  out.text("launcher", or_unknown(a.launcher));
  out.text("command", or_unknown(a.cmdline));
  out.text("selection", a.selection.empty() ? "all ranks" : a.selection);
  if (a.world_size > 0) {
    out.count("ranks", a.world_size);
  } else {
    out.text("ranks", "unknown");
  }
  out.count("nodes", a.n_nodes, node_names(run));
  out.count("processes", signed_count(run.processes.process.size()), "with a spool");
}

// The ranks of each task: those of its processes, which a launcher such as torchrun may have started as ranks of their
// own. Where none of them knows its rank, or there are none, the task's.
std::vector<std::vector<std::int32_t>> ranks_of_tasks(const RunTables& run) {
  std::vector<std::vector<std::int32_t>> ranks(run.tasks.task.size());
  for (std::size_t i = 0; i < run.processes.process.size(); ++i) {
    const std::uint32_t task = run.processes.task[i];
    if (task < ranks.size() && run.processes.rank[i] >= 0) ranks[task].push_back(run.processes.rank[i]);
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].empty()) ranks[i].push_back(run.tasks.rank[i]);
  }
  return ranks;
}

// All tasks with the same state and reason are one row, with every rank named.
void add_tasks(Sections& out, const RunTables& run) {
  struct Tasks {
    std::size_t n = 0;
    std::vector<std::int32_t> ranks;
  };
  std::map<std::pair<TaskState, std::string>, Tasks> all;
  const auto ranks_of = ranks_of_tasks(run);
  for (std::size_t i = 0; i < run.tasks.task.size(); ++i) {
    Tasks& tasks = all[{run.tasks.state[i], text_of(run, run.tasks.reason[i])}];
    ++tasks.n;
    tasks.ranks.insert(tasks.ranks.end(), ranks_of[i].begin(), ranks_of[i].end());
  }
  out.begin("tasks");
  for (const auto& [key, tasks] : all) {
    const auto& [state, reason] = key;
    std::string detail = rank_ranges(tasks.ranks);
    if (state != TaskState::kProfiled) detail += ": " + (reason.empty() ? "no reason recorded" : reason);
    out.count(std::string(word(state)), signed_count(tasks.n), detail);
  }
  if (all.empty()) out.count("tasks", 0, "the run directory lists none");
  std::int64_t n_cut = 0;
  for (const std::uint8_t is_complete : run.processes.is_complete) n_cut += is_complete == 0 ? 1 : 0;
  out.count("spools without a footer", n_cut, n_cut > 0 ? "these processes were killed or are still running" : "");
}

void add_events(Sections& out, const EventCounts& counts) {
  const auto of_kind = [&counts](NvtxKind kind) { return counts.nvtx_by_kind[static_cast<std::size_t>(kind)]; };
  out.begin("events");
  out.count("NVTX push/pop ranges", of_kind(NvtxKind::kPushPop));
  out.count("NVTX start/end ranges", of_kind(NvtxKind::kStartEnd));
  out.count("NVTX marks", of_kind(NvtxKind::kMark));
  out.count("NCCL calls", counts.calls.n_calls);
  for (const auto& [coll, n] : counts.calls.by_operation) out.count("NCCL " + std::string(word(coll)), n);
  out.count("NCCL parts of calls", counts.calls.n_parts);
}

// Captured calls run when their graph is launched, as its replays.
std::string why_without_kernel(const EventCounts& events) {
  if (events.n_kernels == 0 && events.n_memops == 0) return "no GPU kernels were recorded";
  if (events.calls.n_captured == 0) return "";
  return fmt::format("{} of them captured into CUDA graphs: their replays are calls of their own",
                     events.calls.n_captured);
}

void add_calls(Sections& out, const EventCounts& events) {
  const CallCounts& counts = events.calls;
  out.begin("calls");
  out.count("with kernel", counts.n_with_kernel,
            counts.n_without_time > 0 ? fmt::format("{} of them without its times", counts.n_without_time) : "");
  constexpr std::pair<JoinPath, const char*> kPaths[] = {
      {JoinPath::kExternal, "exact: NCCL's plugin marked the launch"},
      {JoinPath::kScope, "launched inside the call"},
      {JoinPath::kGraph, "by the graph's node"},
      {JoinPath::kOrder, "approximate: the k-th kernel of the stream"}};
  for (const auto& [path, meaning] : kPaths) {
    const auto n = counts.by_path.find(path);
    if (n != counts.by_path.end()) out.count("with kernel, " + std::string(word(path)), n->second, meaning);
  }
  out.count("without kernel", counts.n_calls - counts.n_with_kernel, why_without_kernel(events));
  out.count("replays of CUDA graphs", counts.n_replays);
  out.count("grouped", counts.n_grouped);
  out.count("matched", counts.n_matched);
  out.count("point-to-point", counts.n_point_to_point, counts.n_point_to_point > 0 ? "not matched to instances" : "");
  out.count("unmatched", counts.n_unmatched());
  for (const auto& [reason, n] : counts.unmatched) out.count("unmatched, " + reason, n);
}

void add_instances(Sections& out, const EventCounts& counts) {
  const auto with = [&counts](std::uint16_t flag) { return counts.n_instances_with(flag); };
  out.begin("instances");
  out.count("instances", counts.n_instances);
  out.count("with every member", counts.n_instances - with(kInstancePartial));
  out.count("partial", with(kInstancePartial), with(kInstancePartial) > 0 ? "a member is not in this run file" : "");
  out.count("grouped", with(kInstanceGrouped));
  out.count("mismatch", with(kInstanceMismatch));
  out.count("unresolved", with(kInstanceUnresolved),
            with(kInstanceUnresolved) > 0
                ? "on several nodes, within what their clocks can tell apart: which member came last is unknown"
                : "");
}

void add_communicators(Sections& out, const RunTables& run) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> shapes;
  for (std::size_t i = 0; i < run.comms.comm.size(); ++i) ++shapes[{run.comms.n_ranks[i], run.comms.n_nodes[i]}];
  out.begin("communicators");
  out.count("communicators", signed_count(run.comms.comm.size()));
  const auto number = [](std::uint32_t n) { return n == kNoIndex ? std::string("unknown") : std::to_string(n); };
  for (const auto& [shape, n] : shapes) {
    out.count("ranks " + number(shape.first) + ", nodes " + number(shape.second), n);
  }
}

struct Cause {
  std::int64_t n = 0;
  std::int64_t n_findings = 0;
  std::string text;  // the first
  std::vector<std::int32_t> ranks;
};

// Diagnostics by code; `is_loss` picks those whose count is dropped events.
std::map<std::string, Cause> causes(const RunTables& run, bool is_loss) {
  std::map<std::string, Cause> by_code;
  const DiagnosticTable& d = run.diagnostics;
  for (std::size_t i = 0; i < d.code.size(); ++i) {
    const std::string code = text_of(run, d.code[i]);
    if (code.starts_with("drop.") != is_loss) continue;
    Cause& cause = by_code[code];
    cause.n += d.count[i] == kNoRow ? 1 : signed_count(d.count[i]);
    ++cause.n_findings;
    if (cause.text.empty()) cause.text = text_of(run, d.text[i]);
    if (d.rank[i] >= 0) cause.ranks.push_back(d.rank[i]);
  }
  return by_code;
}

void add_causes(Sections& out, const std::map<std::string, Cause>& by_code) {
  for (const auto& [code, cause] : by_code) {
    std::string detail = cause.text;
    if (cause.n_findings > 1) {
      detail = (cause.ranks.empty() ? fmt::format("{} findings", cause.n_findings) : rank_ranges(cause.ranks)) +
               "; the first: " + detail;
    }
    out.count(code, cause.n, detail);
  }
}

// Every row of /diagnostics, in its order.
void add_all_findings(Sections& out, const RunTables& run) {
  const DiagnosticTable& d = run.diagnostics;
  out.begin("diagnostics");
  for (std::size_t i = 0; i < d.code.size(); ++i) {
    out.count(text_of(run, d.code[i]), d.count[i] == kNoRow ? 1 : signed_count(d.count[i]), text_of(run, d.text[i]));
  }
  if (d.code.empty()) out.count("findings of the merge", 0);
}

void add_losses(Sections& out, const RunTables& run, bool lists_all_findings) {
  out.begin("losses");
  out.count("dropped events", signed_count(run.attributes.n_dropped));
  add_causes(out, causes(run, true));
  if (lists_all_findings) return add_all_findings(out, run);
  out.begin("diagnostics");
  const auto others = causes(run, false);
  if (others.empty()) out.count("other findings of the merge", 0);
  add_causes(out, others);
}

std::string utc(std::int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, unix_ns / 1'000'000 % 1000);
}

void add_time(Sections& out, const RunTables& run) {
  std::int64_t first_ns = kNoTime;
  std::int64_t last_ns = kNoTime;
  for (std::size_t i = 0; i < run.processes.process.size(); ++i) {
    const std::int64_t start_ns = run.processes.start_ns[i];
    if (start_ns >= 0 && (first_ns < 0 || start_ns < first_ns)) first_ns = start_ns;
    last_ns = std::max({last_ns, start_ns, run.processes.end_ns[i]});
  }
  out.begin("time");
  if (first_ns < 0) return out.text("span", "unknown: no process has a start time");
  out.text("begin", utc(instant_after(run.attributes.epoch_unix_ns, first_ns)));
  out.amount("span", last_ns - first_ns, "ns");
}

void add_clocks(Sections& out, const RunTables& run) {
  const RunAttributes& a = run.attributes;
  out.begin("clocks");
  out.text("alignment",
           jaxprof::clock::clock_words(or_unknown(a.clock_method), a.clock_sigma_ns, a.clock_bound_ns, a.n_nodes));
}

// What add_calls cannot count in the calls: kernels in graphs that none of them has.
void add_unjoined_graphs(Sections& out, const RunTables& run) {
  const auto by_code = causes(run, false);
  const auto cause = by_code.find("call.graph-unjoined");
  if (cause != by_code.end()) out.count("NCCL kernels in graphs, without call", cause->second.n, cause->second.text);
}

}  // namespace

bool summary_wants(std::string_view path) {
  const bool is_large = path.starts_with("/events/") || path.starts_with("/collectives/") ||
                        path.starts_with("/nccl_work/") || path.starts_with("/transfers/") ||
                        path.starts_with("/launch_configs/") || path.starts_with("/counters/") ||
                        path.starts_with("/clock/");
  return !is_large || node_summary_wants(path) || path == "/events/nccl/process_offset";
}

Table summary(const RunTables& run, const EventCounts& counts, const StudyOptions& options) {
  Table table;
  table.study = kSummary.name;
  table.columns = {{"section", "section"},
                   {"item", "item"},
                   {"value", "value", Unit::kUnitOfRow},
                   {"unit", "unit"},
                   {"detail", "detail"}};
  table.verdict = verdict_of(run, counts);
  Sections out{table};
  add_job(out, run);
  add_tasks(out, run);
  add_environment(out, run);
  add_events(out, counts);
  add_steps(out, run);
  add_calls(out, counts);
  add_unjoined_graphs(out, run);
  add_gpus(out, run, counts);
  add_gpu_clocks(out, run);
  add_network(out, run);
  add_windows(out, run);
  add_instances(out, counts);
  add_communicators(out, run);
  add_losses(out, run, options.lists_all);
  add_time(out, run);
  add_clocks(out, run);
  return table;
}

Table summary(const RunTables& run, const StudyOptions& options) {
  return summary(run, count_events(run), options);
}

Result<Table> summary_of_file(const StudyRun& run, const StudyOptions& options) {
  const auto counts = count_events(run.reader, run.tables);
  if (!counts) return tl::unexpected(counts.error());
  return summary(run.tables, *counts, options);
}

}  // namespace jaxprof::study
