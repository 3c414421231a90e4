// A counter is shown as its growth a second, from the middle of one reading to that of the next; a gauge as it was
// read.
#include "merge/export/counter_tracks.h"

#include <fmt/format.h>

#include <map>

#include "merge/export/event_names.h"
#include "merge/export/exported_process.h"
#include "merge/study/counter_growth.h"
#include "merge/study/port_traffic.h"

namespace jaxprof::exporting {
namespace {

using namespace runfile;

struct Point {
  std::int64_t t_ns = 0;
  double value = 0;
};

std::int64_t middle_ns(const CounterTable& table, std::uint64_t row) {
  return table.time_ns[row] + std::max<std::int64_t>(table.read_ns[row], 0) / 2;
}

// Growth a second in the column's unit; nothing where all of it is 0.
std::vector<Point> rates(const CounterTable& table, const CounterColumn& column, RowRun rows, study::TimeSpan around) {
  std::vector<Point> points;
  bool has_grown = false;
  std::uint64_t previous = kNoSample;
  std::int64_t previous_ns = 0;
  for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
    const std::uint64_t now = column.values[row];
    if ((table.flags[row] & kRowStale) != 0 || now == kNoSample) continue;
    const std::int64_t now_ns = middle_ns(table, row);
    const auto growth =
        (table.flags[row] & kRowReset) == 0 ? study::counter_growth(column, previous, now) : std::nullopt;
    if (growth && now_ns > previous_ns && previous_ns >= 0 && now_ns > around.begin_ns && previous_ns < around.end_ns) {
      const double amount = static_cast<double>(*growth) * column.scale;
      points.push_back({previous_ns, amount * 1e9 / static_cast<double>(now_ns - previous_ns)});
      has_grown = has_grown || *growth > 0;
    }
    previous = now;
    previous_ns = now_ns;
  }
  return has_grown ? points : std::vector<Point>{};
}

std::vector<Point> readings(const CounterTable& table, const CounterColumn& column, RowRun rows,
                            study::TimeSpan around) {
  std::vector<Point> points;
  for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
    const std::int64_t t_ns = middle_ns(table, row);
    if ((table.flags[row] & kRowStale) != 0 || column.values[row] == kNoSample) continue;
    if (t_ns >= 0 && around.contains(t_ns))
      points.push_back({t_ns, static_cast<double>(column.values[row]) * column.scale});
  }
  return points;
}

class CounterTracks {
 public:
  CounterTracks(const RunTables& run, const RanksAndTime& chosen, const std::vector<std::uint64_t>& process_tracks,
                Trace& trace)
      : run_(run), chosen_(chosen), process_tracks_(process_tracks), trace_(trace) {
    for (std::size_t process = 0; process < process_tracks.size(); ++process) {
      if (process_tracks[process] != 0) node_tracks_.try_emplace(run.processes.node[process], 0);
    }
  }

  void add(const CounterTable& table) {
    for (std::size_t subject = 0; subject + 1 < table.offset.size(); ++subject) {
      const RowRun rows{table.offset[subject], table.offset[subject + 1]};
      if (rows.begin == rows.end || !is_wanted(table.subject, subject)) continue;
      for (const CounterColumn& column : table.columns) {
        if (table.subject == CounterSubject::kNic) {
          add_port(table, column, rows, subject);
        } else {
          add_gpu(table, column, rows, subject);
        }
      }
    }
  }

 private:
  bool is_wanted(CounterSubject subject, std::size_t row) const {
    return node_tracks_.contains(subject == CounterSubject::kNic ? run_.nics.node[row] : run_.devices.node[row]);
  }

  void add_port(const CounterTable& table, const CounterColumn& column, RowRun rows, std::size_t nic) {
    if (column.kind == CounterKind::kGauge || study::traffic_of(column) == study::Traffic::kOther) return;
    const auto points = rates(table, column, rows, chosen_.around);
    const std::string_view unit = kCounterUnitWords[static_cast<std::size_t>(column.unit)];
    add_track(node_track(run_.nics.node[nic]), study::name_of_port(run_, nic) + " " + column.name,
              fmt::format("{}/s", unit), points);
  }

  void add_gpu(const CounterTable& table, const CounterColumn& column, RowRun rows, std::size_t device) {
    if (column.kind != CounterKind::kGauge || column.unit == CounterUnit::kBits) return;
    const std::uint32_t process = run_.devices.process[device];
    const bool has_process = process < process_tracks_.size() && process_tracks_[process] != 0;
    const std::string_view unit = kCounterUnitWords[static_cast<std::size_t>(column.unit)];
    add_track(has_process ? process_tracks_[process] : node_track(run_.devices.node[device]),
              name_of_gpu(run_, static_cast<std::int32_t>(device)) + " " + column.name, std::string(unit),
              readings(table, column, rows, chosen_.around));
  }

  void add_track(std::uint64_t parent, std::string name, std::string unit, const std::vector<Point>& points) {
    if (points.empty()) return;
    const std::uint64_t track = trace_.add_track({parent, std::move(name), kThenCounters, true, std::move(unit)});
    for (const Point& point : points) trace_.value(track, point.t_ns, point.value);
  }

  std::uint64_t node_track(std::uint32_t node) {
    std::uint64_t& track = node_tracks_[node];
    if (track == 0) {
      const auto pid = static_cast<std::int32_t>(process_tracks_.size() + 1 + node);
      track = trace_.add_process(pid, "node " + name_of_node(run_, node), pid);
    }
    return track;
  }

  const RunTables& run_;
  const RanksAndTime& chosen_;
  const std::vector<std::uint64_t>& process_tracks_;
  Trace& trace_;
  std::map<std::uint32_t, std::uint64_t> node_tracks_;  // of the nodes that are exported; 0: not made yet
};

}  // namespace

void add_counters(const RunTables& run, const RanksAndTime& chosen, const std::vector<std::uint64_t>& process_tracks,
                  Trace& trace) {
  CounterTracks tracks(run, chosen, process_tracks, trace);
  for (const CounterTable& table : run.counters) tracks.add(table);
}

}  // namespace jaxprof::exporting
