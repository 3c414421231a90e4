#include "merge/assembly/counter_rows.h"

#include <algorithm>
#include <numeric>

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

// Streams of one subject of an observer's spool.
template <typename Visit>
void for_each_stream(const SourceObserver& observer, CounterSubject kind, std::uint32_t number, const Visit& visit) {
  for (const auto& [id, stream] : observer.trace.streams()) {
    const bool is_kind = stream.state.subject_kind == static_cast<std::uint32_t>(spool_kind(kind));
    if (is_kind && stream.state.subject == number) visit(id, stream);
  }
}

}  // namespace

void CounterRows::add(const SampledSubject& subject, std::size_t row, CounterSubject kind, const std::string& driver) {
  if (subject.rows() > 0) entries_[{kind, driver}].push_back({&subject, row});
}

void CounterRows::add_columns(const SamplePart& part, CounterTable* table) const {
  for_each_stream(sources_.observers[part.observer], table->subject, part.number,
                  [table](std::uint32_t, const rundir::NodeStream& stream) {
                    for (const rundir::NodeColumn& column : stream.columns) {
                      column_of(quantity_of(column), &table->columns);
                    }
                  });
}

std::vector<CounterTable> CounterRows::describe(std::size_t n_nics, std::size_t n_devices) {
  std::vector<CounterTable> tables;
  for (auto& [key, entries] : entries_) {  // NICs come before GPUs, as in the enumeration
    CounterTable& table = tables.emplace_back();
    table.subject = key.first;
    table.driver = key.second;
    table.offset.assign((table.subject == CounterSubject::kGpu ? n_devices : n_nics) + 1, 0);
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.row < b.row; });
    for (const Entry& entry : entries) {
      for (const SamplePart& part : entry.subject->parts) {
        if (part.rows > 0) add_columns(part, &table);
      }
      table.offset[entry.row + 1] += entry.subject->rows();
    }
    std::partial_sum(table.offset.begin(), table.offset.end(), table.offset.begin());
    std::sort(table.columns.begin(), table.columns.end(),
              [](const CounterColumn& a, const CounterColumn& b) { return a.name < b.name; });
  }
  return tables;
}

CounterRows::Layout CounterRows::lay_out(std::span<const Entry> entries, CounterTable* table) const {
  Layout layout;
  for (const Entry& entry : entries) {
    for (const SamplePart& part : entry.subject->parts) {
      if (part.rows == 0) continue;
      std::size_t& next_row = layout.next_rows[{part.observer, part.number}];
      next_row = layout.n_rows;
      layout.n_rows += part.rows;
      for_each_stream(sources_.observers[part.observer], table->subject, part.number,
                      [&](std::uint32_t id, const rundir::NodeStream& stream) {
                        Target& target = layout.targets[part.observer][id];
                        target.next_row = &next_row;
                        for (const rundir::NodeColumn& column : stream.columns) {
                          target.columns.push_back(column_of(quantity_of(column), &table->columns));
                        }
                      });
    }
  }
  return layout;
}

void CounterRows::fill(const SourceObserver& observer, const std::map<std::uint32_t, Target>& targets,
                       CounterTable* rows) const {
  observer.trace.for_each_row([&](const rundir::NodeStream& stream, const spool::SampleRow& row) {
    const auto found = targets.find(stream.state.stream);
    if (found == targets.end()) return;  // not of these subjects, or of one whose rows do not count
    const Target& target = found->second;
    const std::size_t at = (*target.next_row)++;
    rows->time_ns[at] = std::max<std::int64_t>(observer.clock.axis_ns(row.stamp) - epoch_ns_, 0);
    rows->read_ns[at] = std::int64_t{row.read_us} * 1000;
    rows->flags[at] = row.flags;
    for (std::size_t i = 0; i < row.values.size(); ++i) rows->columns[target.columns[i]].values[at] = row.values[i];
  });
}

CounterTable CounterRows::rows_of(std::span<const Entry> entries, const CounterTable& table) const {
  CounterTable rows;
  rows.subject = table.subject;
  rows.driver = table.driver;
  rows.columns = table.columns;
  const Layout layout = lay_out(entries, &rows);
  rows.time_ns.resize(layout.n_rows);
  rows.read_ns.resize(layout.n_rows);
  rows.flags.resize(layout.n_rows);
  for (CounterColumn& column : rows.columns) column.values.assign(layout.n_rows, runfile::kNoSample);
  for (const auto& [observer, targets] : layout.targets) fill(sources_.observers[observer], targets, &rows);
  return rows;
}

Status CounterRows::for_each_stretch(const std::vector<CounterTable>& tables, std::size_t budget_bytes,
                                     const Take& take) {
  constexpr std::size_t kOwnBytes = 2 * sizeof(std::int64_t) + sizeof(std::uint32_t);
  for (const CounterTable& table : tables) {
    const std::span<const Entry> entries = entries_.at({table.subject, table.driver});
    const std::uint64_t most_rows = budget_bytes / (kOwnBytes + table.columns.size() * sizeof(std::uint64_t));
    std::uint64_t first = 0;
    for (std::size_t begin = 0; begin < entries.size();) {
      std::uint64_t n_rows = entries[begin].subject->rows();
      std::size_t end = begin + 1;
      while (end < entries.size() && n_rows + entries[end].subject->rows() <= most_rows) {
        n_rows += entries[end++].subject->rows();
      }
      if (auto taken = take(rows_of(entries.subspan(begin, end - begin), table), first); !taken) return taken;
      first += n_rows;
      begin = end;
    }
  }
  return {};
}

}  // namespace jaxprof::assembly
