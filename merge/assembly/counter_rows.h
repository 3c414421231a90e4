// The rows of /counters: which columns the table of a driver has, where the rows of each port or GPU lie in it, and the
// values. An hour of 64 nodes with 8 ports of 40 counters each is 6 GB of them: so rows are put together a few subjects
// at a time, by a pass over the spools of their nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/result.h"
#include "merge/assembly/node_samples.h"
#include "merge/assembly/run_sources.h"
#include "merge/runfile/counter_table.h"

namespace jaxprof::assembly {

class CounterRows {
 public:
  // Times of rows count from `epoch_ns`.
  CounterRows(const RunSources& sources, std::int64_t epoch_ns) : sources_(sources), epoch_ns_(epoch_ns) {}

  // The rows of subject `row` of /job/nics or /job/devices go to the table of `kind` and `driver`.
  void add(const SampledSubject& subject, std::size_t row, runfile::CounterSubject kind, const std::string& driver);

  // The tables without rows, when all subjects are added: their columns, by name, and offsets; by driver, GPUs last.
  // `n_nics` and `n_devices` rows have the tables of subjects.
  std::vector<runfile::CounterTable> describe(std::size_t n_nics, std::size_t n_devices);

  // The rows of `tables`, which describe() gave, from row `first` on of each: whole subjects, of about `budget_bytes`
  // or one subject's. They have all columns of their table and no offsets. The first failure of `take` ends it.
  using Take = std::function<Status(const runfile::CounterTable& rows, std::uint64_t first)>;
  Status for_each_stretch(const std::vector<runfile::CounterTable>& tables, std::size_t budget_bytes, const Take& take);

 private:
  struct Entry {
    const SampledSubject* subject;
    std::size_t row;
  };
  using Key = std::pair<runfile::CounterSubject, std::string>;
  // Where the rows of a stream go.
  struct Target {
    std::size_t* next_row = nullptr;
    std::vector<std::size_t> columns;  // of the table, by column of the stream
  };
  struct Layout {
    std::map<std::size_t, std::map<std::uint32_t, Target>> targets;          // by observer, by stream
    std::map<std::pair<std::size_t, std::uint32_t>, std::size_t> next_rows;  // by observer and subject
    std::size_t n_rows = 0;
  };

  void add_columns(const SamplePart& part, runfile::CounterTable* table) const;
  Layout lay_out(std::span<const Entry> entries, runfile::CounterTable* table) const;
  void fill(const SourceObserver& observer, const std::map<std::uint32_t, Target>& targets,
            runfile::CounterTable* rows) const;
  runfile::CounterTable rows_of(std::span<const Entry> entries, const runfile::CounterTable& table) const;

  const RunSources& sources_;
  const std::int64_t epoch_ns_;
  std::map<Key, std::vector<Entry>> entries_;
};

}  // namespace jaxprof::assembly
