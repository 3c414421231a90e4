#include "merge/assembly/counter_rows.h"

#include <algorithm>

namespace jaxprof::assembly {
namespace {

using runfile::CounterColumn;
using runfile::CounterKind;
using runfile::CounterSubject;
using runfile::CounterTable;
using runfile::CounterUnit;

// The run file's numbers are its own; both lists are frozen.
static_assert(static_cast<unsigned>(spool::SampleUnit::kNanoseconds) ==
              static_cast<unsigned>(CounterUnit::kNanoseconds));
static_assert(static_cast<unsigned>(spool::SampleUnit::kMilliwatts) == static_cast<unsigned>(CounterUnit::kMilliwatts));
static_assert(static_cast<unsigned>(spool::SampleKind::kGauge) == static_cast<unsigned>(CounterKind::kGauge));
static_assert(static_cast<unsigned>(spool::kSampleLast) == runfile::kRowLast);
static_assert(spool::kMissingSample == runfile::kNoSample);

CounterColumn quantity_of(const rundir::NodeColumn& column) {
  const spool::SampleColumn& state = column.state;
  const bool is_unit = state.unit < runfile::kCounterUnitWords.size();
  const bool is_kind = state.kind < runfile::kCounterKindWords.size();
  return {column.name,
          state.scale,
          is_unit ? static_cast<CounterUnit>(state.unit) : CounterUnit::kOne,
          is_kind ? static_cast<CounterKind>(state.kind) : CounterKind::kUnknown,
          state.bits == 0 || state.bits > 64 ? std::uint8_t{64} : state.bits,
          state.is_error != 0,
          {}};
}

spool::SampleSubject spool_kind(CounterSubject kind) {
  return kind == CounterSubject::kGpu ? spool::SampleSubject::kGpu : spool::SampleSubject::kNic;
}

std::uint64_t subject_key(std::uint32_t kind, std::uint32_t number) {
  return std::uint64_t{kind} << 32 | number;
}

// The column of that name and quantity in `columns`, which grow by it. A driver may change what a name means between
// versions; then the second one is another column.
std::size_t column_of(CounterColumn wanted, std::vector<CounterColumn>* columns) {
  for (;;) {
    const auto found = std::find_if(columns->begin(), columns->end(),
                                    [&wanted](const CounterColumn& column) { return column.name == wanted.name; });
    if (found == columns->end()) {
      columns->push_back(std::move(wanted));
      return columns->size() - 1;
    }
    if (found->is_same_quantity(wanted)) return static_cast<std::size_t>(found - columns->begin());
    wanted.name += '~';
  }
}

}  // namespace

void CounterRows::add(const SampledSubject& subject, std::size_t row, CounterSubject kind, const std::string& driver) {
  if (subject.rows() > 0) entries_[{kind, driver}].push_back({&subject, row});
}

void CounterRows::lay_out(std::vector<Entry>* entries, std::size_t n_subjects, CounterTable* table) {
  std::sort(entries->begin(), entries->end(), [](const Entry& a, const Entry& b) { return a.row < b.row; });
  const auto kind = static_cast<std::uint32_t>(spool_kind(table->subject));
  std::size_t next = 0;
  table->offset.assign(n_subjects + 1, 0);
  for (const Entry& entry : *entries) {
    for (const SamplePart& part : entry.subject->parts) {
      if (part.rows == 0) continue;
      std::size_t& next_row = next_rows_[{part.observer, subject_key(kind, part.number)}];
      next_row = next;
      next += part.rows;
      for (const auto& [number, stream] : sources_.observers[part.observer].trace.streams()) {
        if (stream.state.subject_kind != kind || stream.state.subject != part.number) continue;
        Target& target = targets_[part.observer][number];
        target.table = table;
        target.next_row = &next_row;
        for (const rundir::NodeColumn& column : stream.columns) {
          target.columns.push_back(column_of(quantity_of(column), &table->columns));
        }
      }
    }
    table->offset[entry.row + 1] = next;
  }
  for (std::size_t i = 1; i < table->offset.size(); ++i) {
    table->offset[i] = std::max(table->offset[i], table->offset[i - 1]);
  }
  table->time_ns.resize(next);
  table->read_ns.resize(next);
  table->flags.resize(next);
  for (CounterColumn& column : table->columns) column.values.assign(next, runfile::kNoSample);
}

void CounterRows::fill(std::size_t observer) {
  const SourceObserver& source = sources_.observers[observer];
  const auto& targets = targets_[observer];
  source.trace.for_each_row([&](const rundir::NodeStream& stream, const spool::SampleRow& row) {
    const auto found = targets.find(stream.state.stream);
    if (found == targets.end()) return;  // of a subject that was not registered, or whose rows do not count
    const Target& target = found->second;
    CounterTable& table = *target.table;
    const std::size_t at = (*target.next_row)++;
    table.time_ns[at] = source.clock.axis_ns(row.stamp);
    table.read_ns[at] = std::int64_t{row.read_us} * 1000;
    table.flags[at] = row.flags;
    for (std::size_t i = 0; i < row.values.size(); ++i) table.columns[target.columns[i]].values[at] = row.values[i];
  });
}

std::vector<CounterTable> CounterRows::finish(std::size_t n_nics, std::size_t n_devices) {
  std::vector<CounterTable> tables;
  tables.reserve(entries_.size());  // targets point into it
  targets_.assign(sources_.observers.size(), {});
  for (auto& [key, entries] : entries_) {  // NICs come before GPUs, as in the enumeration
    CounterTable& table = tables.emplace_back();
    table.subject = key.first;
    table.driver = key.second;
    lay_out(&entries, table.subject == CounterSubject::kGpu ? n_devices : n_nics, &table);
  }
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    if (!targets_[i].empty()) fill(i);
  }
  for (CounterTable& table : tables) {
    std::sort(table.columns.begin(), table.columns.end(),
              [](const CounterColumn& a, const CounterColumn& b) { return a.name < b.name; });
  }
  return tables;
}

}  // namespace jaxprof::assembly
