#include "merge/study/straggler_facts.h"

#include <algorithm>
#include <numeric>

namespace jaxprof::study {
namespace {

double share_of(std::int64_t part_ns, double whole_ns) {
  return whole_ns > 0 ? static_cast<double>(part_ns) / whole_ns : 0;
}

void add_to(std::int64_t& sum_ns, std::int64_t ns) {
  sum_ns = instant_after(sum_ns, ns);
}

}  // namespace

Result<StragglerFacts> StragglerFacts::gather(const runfile::RunTables& run, const runfile::RunFileReader* reader,
                                              const StudyOptions& options) {
  StragglerFacts facts;
  facts.scope_ = std::make_unique<Scope>(run, options);
  auto arrivals = reader == nullptr ? find_arrivals(run, *facts.scope_, options)
                                    : read_arrivals({run, *reader}, *facts.scope_, options);
  if (!arrivals) return tl::unexpected(std::move(arrivals.error()));
  facts.arrivals_ = std::make_unique<Arrivals>(std::move(*arrivals));
  facts.judged_ = judged_instances(*facts.arrivals_);
  facts.units_ = std::make_unique<Subjects>(run, *facts.arrivals_, By::kMember);
  facts.lanes_ = std::make_unique<Subjects>(run, *facts.arrivals_, By::kGpu);
  const std::size_t n_steps = facts.scope_->axis().steps().size();
  facts.transfers_ = slow_transfers(run, *facts.arrivals_, facts.judged_, n_steps);
  facts.fault_ = trace_fault(*facts.arrivals_, facts.judged_, *facts.units_, facts.transfers_.over_usual_ns,
                             facts.lanes_->size(), n_steps);
  auto own = own_time(run, reader, *facts.arrivals_, facts.judged_, *facts.lanes_, n_steps);
  if (!own) return tl::unexpected(std::move(own.error()));
  facts.own_ = std::move(*own);
  facts.excess_ = excess_over_peers(facts.own_);
  facts.sum_lanes();
  facts.measure_scope(run);
  facts.look_at_ports(run);
  facts.judge_all();
  return facts;
}

void StragglerFacts::sum_lanes() {
  lane_of_unit_.assign(units_->size(), 0);
  for (std::size_t i = 0; i < arrivals_->members.call.size(); ++i) lane_of_unit_[units_->of(i)] = lanes_->of(i);
  const std::size_t n_steps = fault_.n_steps;
  lane_fault_ns_.assign(n_steps * lanes_->size(), 0);
  certain_ns_.assign(n_steps, 0);
  wait_ns_.assign(n_steps, 0);
  for (std::size_t step = 0; step < n_steps; ++step) {
    for (std::size_t unit = 0; unit < units_->size(); ++unit) {
      const std::size_t at = step * units_->size() + unit;
      add_to(lane_fault_ns_[step * lanes_->size() + lane_of_unit_[unit]], fault_.fault_ns[at]);
      add_to(certain_ns_[step], fault_.certain_ns[at]);
      add_to(wait_ns_[step], fault_.wait_ns[at]);
    }
  }
  n_resolved_.assign(n_steps, 0);
  n_instances_.assign(n_steps, 0);
  for (std::size_t i = 0; i < arrivals_->size(); ++i) {
    if (judged_.is_counted[i] == 0 || !arrivals_->has(i, kArrivalSynchronizing)) continue;
    const auto step = static_cast<std::size_t>(std::max(0, arrivals_->instances.step[i]));
    ++n_instances_[step];
    if (arrivals_->has(i, kArrivalResolved)) ++n_resolved_[step];
  }
}

void StragglerFacts::measure_scope(const runfile::RunTables& run) {
  if (!scope_->has_steps()) {
    steps_ = {0};
    std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t end_ns = 0;
    for (std::size_t i = 0; i < arrivals_->size(); ++i) {
      if (judged_.is_counted[i] == 0) continue;
      begin_ns = std::min(begin_ns, arrivals_->instances.first_ns[i]);
      end_ns = std::max(end_ns, arrivals_->instances.end_ns[i]);
    }
    length_ns_ = std::max<std::int64_t>(0, span_ns(begin_ns, end_ns));
    return;
  }
  for (std::uint32_t i = 0; i < scope_->axis().steps().size(); ++i) {
    if (scope_->is_step_wanted(i)) steps_.push_back(i);
  }
  std::vector<std::int64_t> lengths_ns;
  for (std::size_t process = 0; process < run.processes.process.size(); ++process) {
    lengths_ns.push_back(scope_->of_process(process).length_ns());
  }
  if (!lengths_ns.empty()) length_ns_ = median_ns(lengths_ns);
}

std::int64_t StragglerFacts::gpu_time_ns() const {
  std::int64_t product_ns = 0;
  return __builtin_mul_overflow(length_ns_, static_cast<std::int64_t>(lanes_->size()), &product_ns)
             ? std::numeric_limits<std::int64_t>::max()
             : product_ns;
}

Intervals when_of(const StragglerFacts& facts, const std::vector<std::uint32_t>& steps) {
  Intervals when;
  if (facts.scope().has_steps()) {
    for (const std::uint32_t step : steps) when.add(facts.scope().axis().steps()[step].span);
  } else {
    const ArrivalInstances& t = facts.arrivals().instances;
    for (std::size_t i = 0; i < facts.arrivals().size(); ++i) {
      if (facts.judged().is_counted[i] != 0) when.add({t.first_ns[i], t.end_ns[i]});
    }
  }
  when.settle();
  return when;
}

// A port may be slow in the steps whose transfers are slow, or in all the others too, which makes none of them slower
// than usual.
void StragglerFacts::look_at_ports(const runfile::RunTables& run) {
  std::vector<std::uint32_t> slow;
  std::vector<std::uint32_t> usual;
  std::int64_t network_ns = 0;
  for (const std::uint32_t step : steps_) {
    add_to(network_ns, transfers_.network_ns[step]);
    const std::int64_t length_ns = scope_->has_steps() ? scope_->axis().steps()[step].length_ns : length_ns_;
    const double gpu_time_ns = static_cast<double>(length_ns) * static_cast<double>(lanes_->size());
    (share_of(transfers_.excess_ns[step], gpu_time_ns) >= kWorthAWord ? slow : usual).push_back(step);
  }
  network_share_ = share_of(network_ns, static_cast<double>(length_ns_) * static_cast<double>(lanes_->size()));
  if (!usual.empty()) usual_ports_ = find_slow_port(run, when_of(*this, usual));
  slow_ports_ = slow.empty() ? usual_ports_ : find_slow_port(run, when_of(*this, slow));
  if (!slow_ports_.port) slow_ports_.port = usual_ports_.port;  // one step alone is read too seldom
}

Judgement StragglerFacts::judge(const std::vector<std::uint32_t>& steps, std::int64_t length_ns) const {
  Judgement found;
  found.length_ns = length_ns;
  std::vector<std::int64_t> fault_ns(lanes_->size(), 0);
  std::vector<CauseSplit> excess(lanes_->size());
  std::int64_t certain_ns = 0;
  for (const std::uint32_t step : steps) {
    for (std::size_t lane = 0; lane < lanes_->size(); ++lane) {
      add_to(fault_ns[lane], lane_fault_ns(step, lane));
      excess[lane].add(excess_[own_.at(step, lane)]);
    }
    add_to(certain_ns, certain_ns_[step]);
    add_to(found.wait_ns, wait_ns_[step]);
    add_to(found.network_ns, instant_after(transfers_.excess_ns[step], fault_.transfers_ns[step]));
    found.n_resolved += n_resolved_[step];
    found.n_instances += n_instances_[step];
  }
  found.culprit = find_culprit(*lanes_, fault_ns, excess);
  if (!own_.has_work) found.culprit.cause = {};  // host times alone: nothing tells what a GPU did
  std::int64_t all_ns = found.network_ns;
  for (const std::int64_t ns : fault_ns) add_to(all_ns, ns);
  const double gpu_time_ns = static_cast<double>(length_ns) * static_cast<double>(lanes_->size());
  const double by_culprit = share_of(found.culprit.fault_ns, gpu_time_ns);
  const double by_network = share_of(found.network_ns, gpu_time_ns);
  found.is_certain = 2 * static_cast<double>(certain_ns) > static_cast<double>(all_ns - found.network_ns);
  if (by_network >= kWorthAWord && by_network > by_culprit) {
    found.level = slow_ports_.port ? Level::kNic : Level::kNetwork;
    found.port = slow_ports_.port;
    found.cause = {Cause::kNetwork, share_of(found.network_ns, static_cast<double>(all_ns))};
    found.impact = by_network;
    found.share = found.cause.share;
    found.is_certain = true;  // within one instance, without any clock but that of the last to arrive
  } else if (by_culprit >= kWorthAWord && found.is_certain) {
    found.level = found.culprit.level;
    found.cause = found.culprit.cause;
    found.impact = by_culprit;
    found.share = share_of(found.culprit.fault_ns, static_cast<double>(all_ns));
  } else if (usual_ports_.port && network_share_ >= kWarningImpact) {
    // Slow all the time, so that no step is slower than others; what it costs cannot be told.
    found.level = Level::kNic;
    found.port = usual_ports_.port;
    found.cause = {Cause::kNetwork, 1};
    found.is_certain = true;
  }
  return found;
}

void StragglerFacts::judge_all() {
  for (const std::uint32_t step : steps_) {
    const std::int64_t length_ns = scope_->has_steps() ? scope_->axis().steps()[step].length_ns : length_ns_;
    by_step_.push_back(judge({step}, length_ns));
    by_step_.back().step = step;
  }
  of_scope_ = judge(steps_, length_ns_);
}

bool straggler_facts_want(std::string_view path) {
  return arrivals_of_gpus_want(path) || gpu_evidence_wants(path) || path.starts_with("/counters/nic/") ||
         path == "/events/kernels/process_offset" || path == "/events/memops/process_offset" ||
         path == "/events/api/process_offset" || path == "/collectives/clock_sigma_ns" ||
         path == "/collectives/dtype" || path == "/collectives/size_bytes";
}

}  // namespace jaxprof::study
