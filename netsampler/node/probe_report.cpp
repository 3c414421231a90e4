#include "netsampler/node/probe_report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "agent/spool/clock_record.h"
#include "netsampler/gpu/gpu_columns.h"
#include "netsampler/gpu/gpu_state.h"

namespace jaxprof::netsampler {
namespace {

using nlohmann::json;

constexpr std::uint64_t kLookNs = 50'000'000;
constexpr unsigned kGpuHz = 2;  // as GpuSettings has it

const char* word_of(spool::NicSource source) {
  switch (source) {
    case spool::NicSource::kNetlink:
      return "netlink";
    case spool::NicSource::kSysfs:
      return "sysfs";
    case spool::NicSource::kNetdev:
      return "netdev";
    case spool::NicSource::kNone:
      break;
  }
  return "none";
}

const char* word_of(spool::NodeNote note) {
  switch (note) {
    case spool::NodeNote::kNoNic:
      return "no-nic";
    case spool::NodeNote::kNicTrouble:
      return "nic-trouble";
    case spool::NodeNote::kNoGpu:
      return "no-gpu";
    case spool::NodeNote::kGpuTrouble:
      return "gpu-trouble";
    case spool::NodeNote::kSlowReads:
      return "slow-reads";
    case spool::NodeNote::kNotSampled:
      return "not-sampled";
    case spool::NodeNote::kClockTrouble:
      return "clock-trouble";
  }
  return "other";
}

json note_of(spool::NodeNote note, const std::string& text) {
  return {{"kind", word_of(note)}, {"text", text}};
}

json not_asked_for() {
  return note_of(spool::NodeNote::kNotSampled, "not sampled: it was not asked for");
}

double hz_of(std::uint64_t period_ns) {
  return period_ns == 0 ? 0 : 1e9 / static_cast<double>(period_ns);
}

// A part without its lists would be another document.
json empty_part(const char* list) {
  return {{list, json::array()}, {"notes", json::array()}};
}

json describe(const Port& port, const Reading& reading) {
  json columns = json::array();
  for (const Column& column : port.columns) columns.push_back(column.name);
  const PortInfo& info = port.info;
  return {{"name", info.name},
          {"port", info.port},
          {"driver", info.driver},
          {"pci", info.pci},
          {"guid", info.guid},
          {"netdev", info.netdev},
          {"numa", info.numa},
          {"source", word_of(info.source)},
          {"reason", info.reason},
          {"bits_per_s", info.bits_per_s},
          {"is_active", info.is_active},
          {"hz", hz_of(info.period_ns)},
          {"slow_hz", hz_of(info.slow_period_ns)},
          {"read_us", reading.is_ok ? (reading.end_ns - reading.begin_ns + 999) / 1000 : 0},
          {"columns", std::move(columns)},
          {"fast_columns", port.fast_count}};
}

json describe_nics(NicSource* nics) {
  json part = empty_part("ports");
  if (nics == nullptr) {
    part["notes"].push_back(not_asked_for());
    return part;
  }
  const NicUpdate update = nics->rescan();
  for (std::size_t i = 0; i < nics->ports().size(); ++i) {
    const Port& port = nics->ports()[i];
    if (!port.is_present) continue;
    Reading reading;
    nics->read(i, false, &reading);
    part["ports"].push_back(describe(port, reading));
  }
  for (const NicNote& note : update.notes) part["notes"].push_back(note_of(note.note, note.text));
  return part;
}

// What the probe said of the boards, by number.
struct GpuFindings {
  std::map<std::uint32_t, GpuBoard> boards;
  std::map<std::uint32_t, std::set<std::string>> columns;  // those with a value
  std::vector<GpuNote> notes;

  bool is_complete() const {
    return !boards.empty() && std::all_of(boards.begin(), boards.end(), [this](const auto& entry) {
      return !has_samples(entry.second) || entry.second.is_lost || columns.contains(entry.first);
    });
  }
};

void take(const GpuUpdate& update, GpuFindings* findings) {
  for (const GpuBoard& board : update.boards) findings->boards[board.number] = board;
  for (const GpuRow& row : update.rows) {
    std::set<std::string>& names = findings->columns[row.board];
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      if (row.values[i] != spool::kMissingSample) names.insert(gpu_columns()[i].name);
    }
  }
  findings->notes.insert(findings->notes.end(), update.notes.begin(), update.notes.end());
}

GpuFindings ask(GpuSource* gpus, std::uint64_t wait_ns, NodeClock* clock) {
  GpuFindings findings;
  std::string why;
  if (!gpus->start(&why)) {
    findings.notes.push_back({spool::NodeNote::kNoGpu, why});
    return findings;
  }
  const std::uint64_t end_ns = clock->now_ns() + wait_ns;
  bool was_running = true;
  while (was_running && !findings.is_complete()) {
    if (clock->now_ns() >= end_ns) {
      findings.notes.push_back({spool::NodeNote::kGpuTrouble, "the GPUs' driver gave no values in time"});
      break;
    }
    was_running = gpus->is_running();  // asked before: what it left when it ended is taken
    take(gpus->poll(), &findings);
    if (was_running && !findings.is_complete()) clock->sleep_until(clock->now_ns() + kLookNs);
  }
  return findings;
}

json describe_gpus(GpuSource* gpus, std::uint64_t wait_ns, NodeClock* clock) {
  json part = empty_part("boards");
  part["hz"] = kGpuHz;
  if (gpus == nullptr) {
    part["notes"].push_back(not_asked_for());
    return part;
  }
  const GpuFindings findings = ask(gpus, wait_ns, clock);
  for (const auto& [number, board] : findings.boards) {
    const auto columns = findings.columns.find(number);
    part["boards"].push_back({{"name", board.name},
                              {"uuid", board.uuid},
                              {"pci", board.pci},
                              {"driver", board.driver},
                              {"numa", board.numa},
                              {"memory_bytes", board.memory_bytes},
                              {"power_limit_mw", board.power_limit_mw},
                              {"sm_clock_max_mhz", board.sm_clock_max_mhz},
                              {"is_instance", board.instance_of.has_value()},
                              {"is_lost", board.is_lost},
                              {"columns", columns == findings.columns.end() ? json::array() : json(columns->second)}});
  }
  for (const GpuNote& note : findings.notes) part["notes"].push_back(note_of(note.note, note.text));
  return part;
}

json describe_meeting(const ClockMeeting* meeting) {
  if (meeting == nullptr) return nullptr;
  json nodes = json::array();
  for (const MetNode& node : meeting->asked) {
    nodes.push_back({{"host", node.host},
                     {"address", node.address},
                     {"n_asked", node.n_asked},
                     {"n_answered", node.n_answered},
                     {"round_trip_ns", node.round_trip_ns}});
  }
  return {{"is_anothers", meeting->is_anothers},
          {"n_others", meeting->n_others},
          {"reason", meeting->reason},
          {"nodes", std::move(nodes)}};
}

json describe_clock(const ClockFindings* clocks, const ClockMeeting* meeting) {
  const ClockFindings found = clocks != nullptr ? *clocks : ClockFindings();
  json stamps = json::array();
  if (found.hears_itself && (found.stamps & spool::kStampReceive) != 0) stamps.push_back("receive");
  if (found.hears_itself && (found.stamps & spool::kStampSend) != 0) stamps.push_back("send");
  json notes = json::array();
  const bool is_told_by_another = meeting != nullptr && meeting->is_anothers;
  if (clocks == nullptr && !is_told_by_another) notes.push_back(not_asked_for());
  for (const std::string& text : {found.reason, found.remark}) {
    if (!text.empty()) notes.push_back(note_of(spool::NodeNote::kClockTrouble, text));
  }
  return {{"interface", found.interface},
          {"address", found.address},
          {"port", found.port},
          {"stamps", std::move(stamps)},
          {"hears_itself", found.hears_itself},
          {"clocksource", found.clocksource},
          {"is_wall_known", found.is_wall_known},
          {"is_wall_synchronised", found.is_wall_synchronised},
          {"wall_bound_ns", found.wall_bound_ns},
          {"notes", std::move(notes)},
          {"meeting", describe_meeting(meeting)}};
}

}  // namespace

std::string probe_report(const ProbedParts& parts, const std::string& host, std::uint64_t gpu_wait_ns,
                         NodeClock* clock) {
  const json report = {{"version", JAXPROF_VERSION},
                       {"host", host},
                       {"nic", describe_nics(parts.nics)},
                       {"gpu", describe_gpus(parts.gpus, gpu_wait_ns, clock)},
                       {"clock", describe_clock(parts.clocks, parts.meeting)}};
  // Names come from the system, and need not be text.
  return report.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace jaxprof::netsampler
