#include "merge/assembly/run_sources.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>

#include "agent/contract/run_layout.h"
#include "merge/assembly/namespace_shift.h"

namespace jaxprof::assembly {
namespace {

using spool::IdentityKey;

constexpr std::ptrdiff_t kLeastAnchors = 2;  // of a line

// Unknown ranks come after all known ones.
std::int64_t rank_order(std::int64_t rank) {
  return rank < 0 ? INT64_MAX : rank;
}

auto process_order(const SourceProcess& process) {
  const spool::SpoolIdentity& id = process.trace.identity();
  return std::tuple(rank_order(process.rank), id.number(IdentityKey::kAttachRealtimeNs), id.number(IdentityKey::kPid),
                    process.trace.path());
}

// Hosts without a readable boot id are told apart by name.
std::string node_key(const std::string& boot_id, const std::string& host) {
  return boot_id.empty() ? "host:" + host : boot_id;
}

std::uint32_t position_of(const std::vector<SourceNode>& nodes, const std::string& key) {
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [&key](const SourceNode& node) { return node_key(node.boot_id, node.host) == key; });
  return static_cast<std::uint32_t>(found - nodes.begin());
}

RunSources::ClockKey clock_key(const rundir::SpoolTrace& trace) {
  const spool::SpoolIdentity& id = trace.identity();
  const bool is_counter = trace.event_clock() == ClockId::kTsc || trace.event_clock() == ClockId::kCntvct;
  return {node_key(id.text(IdentityKey::kBootId), id.text(IdentityKey::kHost)),
          static_cast<std::int64_t>(trace.event_clock()), is_counter ? 0 : id.number(IdentityKey::kTimeNamespace)};
}

// Does a spool have the name that its process gave it, or that it had while it was being published?
bool has_own_name(const rundir::SpoolTrace& trace) {
  const spool::SpoolIdentity& id = trace.identity();
  const std::string stem = id.text(IdentityKey::kStem);
  const std::string long_stem =
      run_layout::stem_of_process(stem, id.text(IdentityKey::kHost), id.number(IdentityKey::kPid));
  const std::string name = trace.path().substr(trace.path().rfind('/') + 1);
  const auto is_named = [&name](const std::string& own) {
    const std::string whole = own + run_layout::kSpoolSuffix;
    return name == whole || name == whole + run_layout::kPartSuffix;
  };
  return is_named(stem) || is_named(long_stem);
}

// A complete spool tells more than a cut one, and of cut ones the longer. Of complete ones the copy is the one that has
// another's name.
auto completeness(const SourceProcess& process) {
  const bool is_complete = process.trace.footer().has_value();
  const bool is_own = has_own_name(process.trace);
  return std::tuple(is_complete, is_complete && is_own, process.trace.health().file_bytes, is_own);
}

bool are_identical(const std::string& path, const std::string& other) {
  std::ifstream a(path, std::ios::binary);
  std::ifstream b(other, std::ios::binary);
  return a && b &&
         std::equal(std::istreambuf_iterator<char>(a), std::istreambuf_iterator<char>(),
                    std::istreambuf_iterator<char>(b), std::istreambuf_iterator<char>());
}

// A spool that was copied beside itself must not be counted twice: the copies have one file id.
void leave_out_duplicates(RunSources* sources) {
  std::map<std::uint64_t, std::size_t> first_of;  // position in `kept`, by file id
  std::vector<SourceProcess> kept;
  for (SourceProcess& process : sources->processes) {
    const auto [first, is_new] = first_of.try_emplace(process.trace.file_id(), kept.size());
    if (is_new) {
      kept.push_back(std::move(process));
      continue;
    }
    SourceProcess& rival = kept[first->second];
    if (completeness(rival) < completeness(process)) std::swap(rival, process);
    sources->duplicates.push_back(
        {rival.trace.path(), process.trace.path(), are_identical(rival.trace.path(), process.trace.path())});
  }
  sources->processes = std::move(kept);
}

void collect_nodes(RunSources* sources) {
  struct Candidate {
    std::int64_t rank;
    SourceNode node;
  };
  std::vector<Candidate> candidates;
  for (const rundir::FoundTask& task : sources->tasks) {
    candidates.push_back({rank_order(task.start.rank), {task.start.boot_id, task.start.host}});
  }
  for (const SourceProcess& process : sources->processes) {
    const spool::SpoolIdentity& id = process.trace.identity();
    candidates.push_back({rank_order(process.rank), {id.text(IdentityKey::kBootId), id.text(IdentityKey::kHost)}});
  }
  for (const SourceObserver& observer : sources->observers) {
    const spool::SpoolIdentity& id = observer.trace.identity();
    candidates.push_back({rank_order(-1), {id.text(IdentityKey::kBootId), id.text(IdentityKey::kHost)}});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.rank < b.rank; });
  for (Candidate& candidate : candidates) {
    const std::string key = node_key(candidate.node.boot_id, candidate.node.host);
    const bool is_known = std::any_of(sources->nodes.begin(), sources->nodes.end(), [&key](const SourceNode& node) {
      return node_key(node.boot_id, node.host) == key;
    });
    if (!is_known) sources->nodes.push_back(std::move(candidate.node));
  }
}

// By the task's name, which is its own in the run. Older spools do not have it: there the wrapper's process id has to
// do, with boot id and host name, because in containers of one node wrappers have the same one.
std::int64_t task_of(const RunSources& sources, const rundir::SpoolTrace& trace) {
  const spool::SpoolIdentity& id = trace.identity();
  const std::string name = id.text(IdentityKey::kTask);
  const auto is_its_task = [&](const TaskStart& start) {
    if (!name.empty()) return start.task == name;
    return start.pid == id.number(IdentityKey::kWrapperPid) && start.boot_id == id.text(IdentityKey::kBootId) &&
           start.host == id.text(IdentityKey::kHost);
  };
  for (std::size_t i = 0; i < sources.tasks.size(); ++i) {
    if (is_its_task(sources.tasks[i].start)) return static_cast<std::int64_t>(i);
  }
  return -1;
}

void note_foreign(const std::string& path, RunSources* sources) {
  const auto trace = rundir::SpoolTrace::load(path);
  if (!trace) return;  // it could be read a moment ago: somebody took it away
  const spool::SpoolIdentity& id = trace->identity();
  sources->foreign.push_back({path, id.text(IdentityKey::kRunId), id.number(IdentityKey::kRank),
                              id.text(IdentityKey::kHost), id.number(IdentityKey::kAttachRealtimeNs)});
}

// A process's anchors on the raw clock of `scale`.
std::vector<spool::AnchorRecord> anchors_on(const RunSources& sources, std::size_t scale,
                                            const SourceProcess& process) {
  std::vector<spool::AnchorRecord> anchors(process.trace.anchors().begin(), process.trace.anchors().end());
  const ClockScale& to = sources.run_clocks.scales()[scale];
  if (process.trace.identity().number(IdentityKey::kTimeNamespace) == to.time_namespace) return anchors;
  std::vector<spool::ClockReading> readings;
  for (const std::size_t observer : to.observers) {
    const auto own = clock_readings(sources.observers[observer].trace);
    readings.insert(readings.end(), own.begin(), own.end());
  }
  const auto shift_ns = namespace_shift_ns(std::move(readings), anchors);
  for (spool::AnchorRecord& anchor : anchors) anchor.monotonic_raw_ns += shift_ns.value_or(0);
  return anchors;
}

// Where the node's raw clock may have jumped it tells nothing of the counter, which goes on evenly through that.
void leave_out_holes(const std::vector<clock::ClockHole>& holes, std::vector<spool::AnchorRecord>* anchors) {
  const auto is_in_hole = [&](const spool::AnchorRecord& anchor) {
    return std::any_of(holes.begin(), holes.end(), [&](const clock::ClockHole& hole) {
      return hole.before_ns < anchor.monotonic_raw_ns && anchor.monotonic_raw_ns < hole.after_ns;
    });
  };
  const auto left = std::count_if(anchors->begin(), anchors->end(), std::not_fn(is_in_hole));
  if (left >= kLeastAnchors) std::erase_if(*anchors, is_in_hole);
}

void fit_clocks(RunSources* sources) {
  struct Pool {
    std::int64_t scale = -1;  // with a model; -1: none
    std::vector<spool::AnchorRecord> anchors;
  };
  std::map<RunSources::ClockKey, Pool> pools;
  for (const SourceProcess& process : sources->processes) {
    const auto [pool, is_new] = pools.try_emplace(clock_key(process.trace));
    if (is_new) {
      pool->second.scale =
          sources->run_clocks.scale_of(process.node, process.trace.identity().number(IdentityKey::kTimeNamespace));
    }
    const std::int64_t scale = pool->second.scale;
    const auto anchors = scale >= 0 ? anchors_on(*sources, static_cast<std::size_t>(scale), process)
                                    : std::vector(process.trace.anchors().begin(), process.trace.anchors().end());
    pool->second.anchors.insert(pool->second.anchors.end(), anchors.begin(), anchors.end());
  }
  for (auto& [key, pool] : pools) {
    const auto scale = static_cast<std::size_t>(pool.scale);
    if (pool.scale >= 0) leave_out_holes(sources->run_clocks.solution().nodes[scale].holes, &pool.anchors);
    sources->clocks[key] = pool.scale < 0 ? clock::AxisClock::fit(pool.anchors)
                                          : clock::AxisClock::fit(pool.anchors, [&](std::int64_t raw_ns) {
                                              return sources->run_clocks.axis_ns(scale, raw_ns);
                                            });
  }
  for (SourceProcess& process : sources->processes) {
    const clock::AxisClock& model = sources->clocks[clock_key(process.trace)];
    process.clock = model.is_valid() ? &model : nullptr;
  }
}

// Where a process of the node stands on the run's axis; nothing if none has a clock in that time namespace.
std::optional<clock::ClockReference> reference_of(const RunSources& sources, std::uint32_t node,
                                                  std::int64_t time_namespace) {
  for (const SourceProcess& process : sources.processes) {
    const bool is_comparable = process.node == node && process.clock != nullptr && !process.trace.anchors().empty() &&
                               process.trace.identity().number(IdentityKey::kTimeNamespace) == time_namespace;
    if (!is_comparable) continue;
    const spool::AnchorRecord& first = process.trace.anchors().front();
    return clock::ClockReference{first.monotonic_raw_ns, process.clock->axis_ns(first.counter)};
  }
  return std::nullopt;
}

// All observers of a node get one clock, from the anchors of all.
void fit_node_clocks(RunSources* sources) {
  using Key = std::pair<std::uint32_t, std::int64_t>;  // node and time namespace
  const auto key_of = [](const SourceObserver& observer) {
    return Key{observer.node, observer.trace.identity().number(IdentityKey::kTimeNamespace)};
  };
  std::map<Key, std::vector<spool::AnchorRecord>> anchors;
  for (const SourceObserver& observer : sources->observers) {
    auto& pool = anchors[key_of(observer)];
    pool.insert(pool.end(), observer.trace.anchors().begin(), observer.trace.anchors().end());
  }
  for (SourceObserver& observer : sources->observers) {
    const Key key = key_of(observer);
    const std::int64_t scale = sources->run_clocks.scale_of(key.first, key.second);
    const bool has_model =
        scale >= 0 && sources->run_clocks.scales()[static_cast<std::size_t>(scale)].time_namespace == key.second;
    observer.clock =
        has_model ? clock::NodeClock::fit(anchors[key],
                                          [&](std::int64_t raw_ns) {
                                            return sources->run_clocks.axis_ns(static_cast<std::size_t>(scale), raw_ns);
                                          })
                  : clock::NodeClock::fit(anchors[key], reference_of(*sources, key.first, key.second));
  }
}

void open_observers(const std::vector<std::string>& paths, RunSources* sources) {
  for (const std::string& path : paths) {
    auto trace = rundir::NodeTrace::load(path);
    if (!trace) {
      sources->unreadable.push_back({path, trace.error().message});
    } else if (const std::string run = trace->identity().text(IdentityKey::kRunId); run != sources->run_id) {
      sources->unreadable.push_back({path, path + ": is of run " + run});
    } else {
      sources->observers.push_back({std::move(*trace), 0, {}});
    }
  }
}

void sort_observers(RunSources* sources) {
  for (SourceObserver& observer : sources->observers) {
    const spool::SpoolIdentity& id = observer.trace.identity();
    observer.node = sources->node_of(id.text(IdentityKey::kBootId), id.text(IdentityKey::kHost));
  }
  const auto order = [](const SourceObserver& observer) {
    const auto& anchors = observer.trace.anchors();
    return std::tuple(observer.node, anchors.empty() ? INT64_MAX : anchors.front().monotonic_raw_ns,
                      observer.trace.path());
  };
  std::sort(sources->observers.begin(), sources->observers.end(),
            [&order](const SourceObserver& a, const SourceObserver& b) { return order(a) < order(b); });
}

}  // namespace

std::uint32_t RunSources::node_of(const std::string& boot_id, const std::string& host) const {
  return position_of(nodes, node_key(boot_id, host));
}

std::uint32_t RunSources::node_of_clock(const ClockKey& key) const {
  return position_of(nodes, std::get<0>(key));
}

std::int64_t RunSources::axis_of_wall(std::uint32_t node, std::int64_t wall_ns) const {
  if (!clock::is_plausible_wall(wall_ns)) return -1;
  const std::int64_t lead_ns = node < run_clocks.nodes().size() ? run_clocks.nodes()[node].wall_lead_ns : 0;
  return std::clamp(wall_ns - lead_ns, std::int64_t{0}, clock::kLastWallNs);
}

RunSources open_sources(rundir::FoundRun run) {
  RunSources sources;
  sources.directory = run.directory;
  sources.run_id = run.run_id;
  sources.tasks = std::move(run.tasks);
  sources.variables = std::move(run.variables);
  sources.is_to_be_redacted = run.is_to_be_redacted;
  sources.unreadable = std::move(run.unreadable_records);
  for (const std::string& path : run.spools) {
    auto trace = rundir::SpoolTrace::load(path);
    if (!trace) {
      sources.unreadable.push_back({path, trace.error().message});
      continue;
    }
    SourceProcess process{std::move(*trace)};
    process.rank = static_cast<std::int32_t>(process.trace.identity().number(IdentityKey::kRank));
    process.task = task_of(sources, process.trace);
    process.trace.keep_summary();
    sources.processes.push_back(std::move(process));
  }
  for (const std::string& path : run.foreign_spools) note_foreign(path, &sources);
  open_observers(run.node_spools, &sources);
  leave_out_duplicates(&sources);
  std::sort(sources.processes.begin(), sources.processes.end(),
            [](const SourceProcess& a, const SourceProcess& b) { return process_order(a) < process_order(b); });
  collect_nodes(&sources);
  for (SourceProcess& process : sources.processes) {
    const spool::SpoolIdentity& id = process.trace.identity();
    process.node = sources.node_of(id.text(IdentityKey::kBootId), id.text(IdentityKey::kHost));
  }
  sort_observers(&sources);
  sources.run_clocks = RunClocks(sources.observers, sources.nodes);
  fit_clocks(&sources);
  fit_node_clocks(&sources);
  return sources;
}

}  // namespace jaxprof::assembly
