// The rows of /counters: where the rows of each port or GPU lie in the table of its driver, which column of the table
// each column of a stream is, and the values, filled in by one pass over each spool.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "merge/assembly/node_samples.h"
#include "merge/assembly/run_sources.h"
#include "merge/runfile/counter_table.h"

namespace jaxprof::assembly {

class CounterRows {
 public:
  explicit CounterRows(const RunSources& sources) : sources_(sources) {}

  // The rows of subject `row` of /job/nics or /job/devices go to the table of `kind` and `driver`.
  void add(const SampledSubject& subject, std::size_t row, runfile::CounterSubject kind, const std::string& driver);
  // Makes the tables and fills them: by driver, GPUs last. `n_nics` and `n_devices` rows have the tables of subjects.
  std::vector<runfile::CounterTable> finish(std::size_t n_nics, std::size_t n_devices);

 private:
  struct Entry {
    const SampledSubject* subject;
    std::size_t row;
  };
  using Key = std::pair<runfile::CounterSubject, std::string>;
  // Where the rows of a stream go.
  struct Target {
    runfile::CounterTable* table = nullptr;
    std::size_t* next_row = nullptr;
    std::vector<std::size_t> columns;  // of the table, by column of the stream
  };

  void lay_out(std::vector<Entry>* entries, std::size_t n_subjects, runfile::CounterTable* table);
  void fill(std::size_t observer);

  const RunSources& sources_;
  std::map<Key, std::vector<Entry>> entries_;
  std::vector<std::map<std::uint32_t, Target>> targets_;                    // by observer, by stream
  std::map<std::pair<std::size_t, std::uint64_t>, std::size_t> next_rows_;  // by observer and subject
};

}  // namespace jaxprof::assembly
