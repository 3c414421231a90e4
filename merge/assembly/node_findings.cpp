#include "merge/assembly/node_findings.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "merge/assembly/run_time.h"
#include "merge/assembly/unobserved_nodes.h"

namespace jaxprof::assembly {
namespace {

using runfile::Severity;
using spool::NicEvent;
using spool::NodeNote;

// A tick in a hundred: a mean over what is left is still one.
constexpr double kManyMissed = 0.01;

using ToldNotes = std::set<std::pair<std::uint32_t, std::string>>;  // by node

class ObserverFindings {
 public:
  ObserverFindings(const SourceObserver& observer, const rundir::SampleLosses& losses, const RunTime& time,
                   ToldNotes* told, Diagnostics* diagnostics)
      : observer_(observer),
        trace_(observer.trace),
        losses_(losses),
        time_(time),
        told_(told),
        diagnostics_(diagnostics) {}

  void add_all() {
    if (has_nothing()) {
      add(Severity::kInfo, "node.not-observed", 1,
          "was not observed: its observer was killed before its first reading");
    } else {
      if (!observer_.clock.is_valid()) {
        add(Severity::kError, "node.no-clock", 1, "has no clock anchor: its samples cannot be placed in time");
      }
      add_end();
    }
    add_damage();
    if (trace_.observer().is_shared != 0) {
      add(Severity::kWarning, "node.shared", 1,
          "was shared with another run of jaxprof: its counters hold the traffic of both");
    }
    add_ticks();
    for (const rundir::NodeLine& note : trace_.notes()) add_note(note);
    add_events();
  }

 private:
  void add(Severity severity, const char* code, std::uint64_t count, const std::string& text) {
    diagnostics_->add(severity, code, {runfile::kNoNumber, runfile::kNoIndex, observer_.node}, count,
                      "node " + trace_.identity().text(spool::IdentityKey::kHost) + " " + text);
  }

  // A job of less than a second ends while its observer still opens what it is to read, and then nothing is lost.
  bool has_nothing() const {
    if (trace_.has_footer() || !trace_.anchors().empty() || trace_.implausible_anchors() > 0) return false;
    if (losses_.damaged_blocks + losses_.skipped_sections + losses_.strange_rows > 0) return false;
    bool has_rows = false;
    trace_.for_each_row([&has_rows](const rundir::NodeStream&, const spool::SampleRow&) { has_rows = true; });
    return !has_rows;
  }

  void add_end() {
    if (trace_.has_footer()) return;
    std::string text =
        "has an observer without an end: it was killed, as batch systems do when a job ends, or its disk was full";
    if (observer_.clock.is_valid() && !trace_.anchors().empty()) {
      text += "; its last samples are of " + time_.words(observer_.clock.axis_ns(trace_.anchors().back().counter));
    }
    add(Severity::kInfo, "node.killed", 1, text);
  }

  void add_damage() {
    const spool::SpoolHealth& health = trace_.health();
    const rundir::ClockLosses clock_losses = trace_.clock().for_each({});
    const std::uint64_t damaged = trace_.damaged_blocks() + losses_.damaged_blocks + clock_losses.damaged_blocks;
    if (health.skipped_bytes > 0 || health.lost_blocks > 0 || damaged > 0) {
      add(Severity::kError, "node.damaged", damaged + health.lost_blocks + health.skipped_stretches,
          "has a spool with " + counted(damaged, "damaged block") + ", " +
              counted(health.lost_blocks, "missing block") + " and " + counted(health.skipped_bytes, "byte") +
              " that are none: " + trace_.path());
    }
    const std::uint64_t implausible = trace_.implausible_anchors() + clock_losses.implausible_readings;
    if (implausible > 0) {
      add(Severity::kError, "node.implausible", implausible,
          "has " + counted(implausible, "reading") + " of its clocks that no clock shows, and which " +
              (implausible == 1 ? "is" : "are") + " left out: " + trace_.path());
    }
    const std::uint64_t lost = losses_.skipped_sections + losses_.strange_rows;
    if (lost > 0) {
      add(Severity::kError, "node.lost-samples", lost,
          "lacks samples: " + counted(losses_.skipped_sections, "second of a port or GPU|seconds of ports or GPUs") +
              " that build on damaged ones, and " + counted(losses_.strange_rows, "row") + " of nothing that is known");
    }
  }

  void add_ticks() {
    const auto& ticks = trace_.ticks();
    if (!ticks || ticks->missed == 0) return;
    const double share =
        static_cast<double>(ticks->missed) / static_cast<double>(std::max<std::uint64_t>(ticks->ticks, 1));
    add(share > kManyMissed ? Severity::kWarning : Severity::kInfo, "node.missed-ticks", ticks->missed,
        "was not read at " + std::to_string(ticks->missed) + " of " + counted(ticks->ticks, "time") +
            " at which it should have been, for the observer was late; rates are over the time that passed");
  }

  // What an observer finds on its node, the next one there finds again.
  void add_note(const rundir::NodeLine& note) {
    if (!told_->insert({observer_.node, note.text}).second) return;
    const std::string text = "(observer): " + note.text;
    switch (note.note) {
      case NodeNote::kNoNic:
        return add(Severity::kInfo, "nic.none", 1, text);
      case NodeNote::kNicTrouble:
        return add(Severity::kWarning, "nic.trouble", 1, text);
      case NodeNote::kNoGpu:
        return add(Severity::kInfo, "gpu.not-watched", 1, text);
      case NodeNote::kGpuTrouble:
        return add(Severity::kWarning, "gpu.watch-trouble", 1, text);
      case NodeNote::kSlowReads:
        return add(Severity::kWarning, "nic.slow-reads", 1, text);
      case NodeNote::kNotSampled:
        return add(Severity::kInfo, "node.not-sampled", 1, text);
      case NodeNote::kClockTrouble:
        return add(Severity::kInfo, "clock.trouble", 1, text);
    }
    add(Severity::kInfo, "node.note", 1, text);  // of a newer observer
  }

  std::string port_name(std::uint32_t nic) const {
    const auto port = trace_.ports().find(nic);
    if (port == trace_.ports().end()) return "an unknown port";
    const std::uint32_t number = port->second.state.port;
    return port->second.name + (number > 0 ? " port " + std::to_string(number) : "");
  }

  // What happened to each port, one finding a kind.
  void add_events() {
    std::map<std::pair<std::uint32_t, NicEvent>, std::vector<const rundir::NodeEvent*>> events;
    for (const rundir::NodeEvent& event : trace_.events()) events[{event.nic, event.event}].push_back(&event);
    for (const auto& [key, all] : events) {
      const std::uint64_t n = all.size();
      const std::string port = port_name(key.first);
      const std::string times = n == 1 ? "" : " " + counted(n, "time");
      const std::string last = all.back()->text;
      switch (key.second) {
        case NicEvent::kVanished: {
          const auto returned = events.find({key.first, NicEvent::kReturned});
          const bool is_back = returned != events.end() && returned->second.size() >= n;
          add(Severity::kWarning, "nic.vanished", n,
              "lost " + port + times + (is_back ? "; it came back" : " and it did not come back"));
          break;
        }
        case NicEvent::kRenamed:
          add(Severity::kInfo, "nic.renamed", n, "renamed " + port + times + (last.empty() ? "" : "; it was " + last));
          break;
        case NicEvent::kLinkDown:
          add(Severity::kWarning, "nic.link-down", n, "had the link of " + port + " down" + times);
          break;
        case NicEvent::kColumnDropped:
          add(Severity::kInfo, "nic.column-dropped", n,
              "has counters of " + port + " that cannot be read: " + texts(all));
          break;
        case NicEvent::kSourceChanged:
          add(Severity::kInfo, "nic.source-changed", n,
              "reads " + port + " from another source since then" + (last.empty() ? "" : ": " + last));
          break;
        default:  // it appeared, returned, or its link came up: told by the rows
          break;
      }
    }
  }

  static std::string texts(const std::vector<const rundir::NodeEvent*>& events) {
    constexpr std::size_t kShown = 4;
    std::string text;
    for (std::size_t i = 0; i < std::min(kShown, events.size()); ++i) text += (i > 0 ? "; " : "") + events[i]->text;
    return events.size() > kShown ? text + " and " + std::to_string(events.size() - kShown) + " more" : text;
  }

  const SourceObserver& observer_;
  const rundir::NodeTrace& trace_;
  const rundir::SampleLosses& losses_;
  const RunTime& time_;
  ToldNotes* told_;
  Diagnostics* diagnostics_;
};

void diagnose_overlaps(const RunSources& sources, const NodeSamples& samples, Diagnostics* diagnostics) {
  std::map<std::uint32_t, std::uint64_t> left_out;  // subjects, by node
  for (const auto* subjects : {&samples.nics, &samples.gpus}) {
    for (const SampledSubject& subject : *subjects) {
      if (!subject.left_out.empty()) ++left_out[subject.node];
    }
  }
  for (const auto& [node, count] : left_out) {
    diagnostics->add(Severity::kInfo, "node.observed-twice", {runfile::kNoNumber, runfile::kNoIndex, node}, count,
                     "node " + sources.nodes[node].host + " had two observers at a time: of " +
                         counted(count, "port or GPU|ports and GPUs") + " the longer samples are kept");
  }
}

// What the rows themselves tell.
void diagnose_rows(const RunSources& sources, const runfile::RunTables& run, const std::vector<PortFlags>& ports,
                   Diagnostics* diagnostics) {
  for (const runfile::CounterTable& table : run.counters) {
    if (table.subject != runfile::CounterSubject::kNic) continue;
    for (std::size_t nic = 0; nic + 1 < table.offset.size(); ++nic) {
      if (table.offset[nic] == table.offset[nic + 1]) continue;
      const std::uint32_t node = run.nics.node[nic];
      const std::string port =
          "node " + sources.nodes[node].host + ", " + std::string(run.strings.text(run.nics.full_name[nic])) + ": ";
      const Place place{runfile::kNoNumber, runfile::kNoIndex, node};
      if (const std::uint64_t n = ports[nic].resets; n > 0) {
        diagnostics->add(Severity::kWarning, "nic.reset", place, n,
                         port + "counters went back " + counted(n, "time") +
                             " (the driver was loaded anew or the card reset); totals do not reach over that");
      }
      if (const std::uint64_t n = ports[nic].saturated; n > 0) {
        diagnostics->add(Severity::kInfo, "nic.saturated", place, n,
                         port + "a counter is at its end and stays there; what it would count is not known");
      }
    }
  }
}

}  // namespace

void diagnose_nodes(const RunSources& sources, const NodeSamples& samples, const runfile::RunTables& run,
                    const std::vector<PortFlags>& ports, Diagnostics* diagnostics) {
  const RunTime time(sources);
  ToldNotes told;
  for (std::size_t i = 0; i < sources.observers.size(); ++i) {
    ObserverFindings(sources.observers[i], samples.losses[i], time, &told, diagnostics).add_all();
  }
  diagnose_unobserved(sources, time, diagnostics);
  diagnose_overlaps(sources, samples, diagnostics);
  diagnose_rows(sources, run, ports, diagnostics);
}

}  // namespace jaxprof::assembly
