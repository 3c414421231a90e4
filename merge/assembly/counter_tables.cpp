#include "merge/assembly/counter_tables.h"

#include <algorithm>
#include <string>
#include <utility>

#include "merge/assembly/board_rows.h"
#include "merge/assembly/counter_rows.h"
#include "merge/assembly/redaction.h"
#include "merge/runfile/counter_writer.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

using runfile::RunTables;

runfile::NicSource source_of(std::uint32_t source) {
  switch (static_cast<spool::NicSource>(source)) {
    case spool::NicSource::kNone:
      return runfile::NicSource::kNone;
    case spool::NicSource::kNetlink:
      return runfile::NicSource::kNetlink;
    case spool::NicSource::kSysfs:
      return runfile::NicSource::kSysfs;
    case spool::NicSource::kNetdev:
      return runfile::NicSource::kNetdev;
  }
  return runfile::NicSource::kMissing;
}

// A time of a spool as a column has it; one that no clock reaches is missing.
std::int64_t duration_ns(std::uint64_t ns) {
  return ns <= INT64_MAX ? static_cast<std::int64_t>(ns) : runfile::kNoTime;
}

const rundir::NodePort& last_record(const RunSources& sources, const SampledSubject& subject) {
  const SamplePart& last = subject.parts.back();
  return sources.observers[last.observer].trace.ports().at(last.number);
}

void fill_nic(const RunSources& sources, const SampledSubject& subject, RunTables* run) {
  const rundir::NodePort& port = last_record(sources, subject);
  runfile::NicTable& table = run->nics;
  const std::size_t row = runfile::add_row(table);
  table.nic[row] = static_cast<std::uint32_t>(row);
  table.node[row] = subject.node;
  table.name[row] = port.name;
  table.full_name[row] = run->strings.intern(port.name);
  table.guid[row] = port.guid;
  table.port[row] = static_cast<std::int32_t>(port.state.port);
  if (port.state.bits_per_s > 0) table.rate_gbps[row] = static_cast<double>(port.state.bits_per_s) / 1e9;
  if (port.state.numa >= 0) table.numa[row] = port.state.numa;
  table.driver[row] = run->strings.intern(port.driver);
  table.pci[row] = port.pci;
  table.netdev[row] = run->strings.intern(port.netdev);
  table.source[row] = source_of(port.state.source);
  table.reason[row] = run->strings.intern(port.reason);
  table.period_ns[row] = duration_ns(port.state.period_ns);
  table.slow_period_ns[row] = duration_ns(port.state.slow_period_ns);
  table.lifespan_ns[row] = duration_ns(port.state.lifespan_ns);
  table.is_active[row] = port.state.is_active != 0 ? 1 : 0;
}

void fill_observer(const SourceObserver& observer, RunTables* run) {
  const rundir::NodeTrace& trace = observer.trace;
  runfile::ObserverTable& table = run->observers;
  const std::size_t row = runfile::add_row(table);
  table.observer[row] = static_cast<std::uint32_t>(row);
  table.node[row] = observer.node;
  table.segment[row] = trace.observer().segment;
  if (observer.clock.is_valid() && !trace.anchors().empty()) {
    table.start_ns[row] = observer.clock.axis_ns(trace.anchors().front().counter);
    table.end_ns[row] = observer.clock.axis_ns(trace.anchors().back().counter);
  }
  table.is_complete[row] = trace.has_footer() ? 1 : 0;
  table.is_shared[row] = trace.observer().is_shared != 0 ? 1 : 0;
  if (trace.ticks()) {
    table.ticks[row] = trace.ticks()->ticks;
    table.missed_ticks[row] = trace.ticks()->missed;
    table.lateness_max_ns[row] = duration_ns(trace.ticks()->lateness_max_ns);
    table.lateness_sum_ns[row] = duration_ns(trace.ticks()->lateness_sum_ns);
    table.reading_ns[row] = duration_ns(trace.ticks()->read_ns);
    table.cpu_ns[row] = duration_ns(trace.ticks()->cpu_ns);
  }
  table.spool[row] = run->strings.intern(trace.path().substr(trace.path().rfind('/') + 1));
  table.spool_bytes[row] = trace.health().file_bytes;
}

// The driver's group in the file.
std::string group_of(const std::string& driver) {
  return driver.empty() ? "unknown" : runfile::counter_dataset_name(driver);
}

// Adds what the flags of `rows`, from row `first` of `table` on, say of its ports.
void count_flags(const runfile::CounterTable& table, const runfile::CounterTable& rows, std::uint64_t first,
                 std::vector<PortFlags>* ports) {
  if (table.subject != runfile::CounterSubject::kNic) return;
  const std::uint64_t last = first + rows.flags.size();
  for (std::size_t nic = 0; nic + 1 < table.offset.size(); ++nic) {
    if (table.offset[nic] < first || table.offset[nic] >= last) continue;
    for (std::uint64_t row = table.offset[nic]; row < table.offset[nic + 1]; ++row) {
      const std::uint32_t flags = rows.flags[row - first];
      if ((flags & runfile::kRowReset) != 0) ++(*ports)[nic].resets;
      if ((flags & runfile::kRowSaturated) != 0) ++(*ports)[nic].saturated;
    }
  }
}

}  // namespace

Result<std::vector<PortFlags>> fill_counter_tables(const RunSources& sources, const NodeSamples& samples,
                                                   std::int64_t epoch_ns, std::size_t budget_bytes, EventSink* sink,
                                                   RunTables* run) {
  for (const SourceObserver& observer : sources.observers) fill_observer(observer, run);
  CounterRows rows(sources, epoch_ns);
  for (const SampledSubject& subject : samples.nics) {
    const std::string driver = group_of(last_record(sources, subject).driver);
    rows.add(subject, run->nics.nic.size(), runfile::CounterSubject::kNic, driver);
    fill_nic(sources, subject, run);
  }
  const std::vector<std::size_t> boards = fill_board_rows(sources, samples.gpus, run);
  for (std::size_t i = 0; i < boards.size(); ++i) {
    rows.add(samples.gpus[i], boards[i], runfile::CounterSubject::kGpu, "");
  }
  if (sources.is_to_be_redacted) clear_hardware_ids(run);
  const std::vector<runfile::CounterTable> tables = rows.describe(run->nics.nic.size(), run->devices.device.size());
  run->counters = tables;
  std::vector<PortFlags> ports(run->nics.nic.size());
  auto passed_on = rows.for_each_stretch(tables, budget_bytes, [&](const auto& stretch, std::uint64_t first) {
    const auto table = std::find_if(tables.begin(), tables.end(), [&stretch](const runfile::CounterTable& described) {
      return described.subject == stretch.subject && described.driver == stretch.driver;
    });
    count_flags(*table, stretch, first, &ports);
    return sink->append_counters(stretch);
  });
  if (!passed_on) return tl::unexpected(std::move(passed_on.error()));
  return ports;
}

}  // namespace jaxprof::assembly
