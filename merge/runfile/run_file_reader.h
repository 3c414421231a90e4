// Opens a run file that may be damaged, foreign, unfinished or newer, and reads it by columns. Every failure is one
// line with the path and the exact cause, code kInputUnreadable. What was read is safe to follow: indices exist.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "agent/base/result.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::runfile {

// Says whether a dataset is wanted, by its path ("/events/nccl/start_ns", "/job/tasks").
using IsWanted = std::function<bool(std::string_view path)>;

// One thread at a time.
class RunFileReader {
 public:
  // Checks that `path` is HDF5, has this schema in a major version that this program knows, and is complete.
  static Result<RunFileReader> open(const std::string& path);
  RunFileReader(RunFileReader&&) noexcept;
  RunFileReader& operator=(RunFileReader&&) noexcept;
  ~RunFileReader();

  const RunAttributes& attributes() const;
  const std::string& tool_version() const;    // that wrote the file
  const std::string& schema_version() const;  // "1.0.0"

  // The attributes, strings, offsets and every column that `is_wanted` names; the others stay empty.
  Result<RunTables> read(const IsWanted& is_wanted) const;
  Result<RunTables> read_all() const;

  // How many rows a table of columns has; 0 if an older file lacks it.
  template <typename Table>
  Result<std::uint64_t> count_rows() const;
  // Rows [first, first + count) of a table's wanted columns, for work in bounded memory; cheapest in order, chunk by
  // chunk, as datasets stay open and the last chunk of each is kept.
  template <typename Table>
  Status read_rows(Table& table, std::uint64_t first, std::uint64_t count, const IsWanted& is_wanted) const;
  // Every row of a table's wanted columns, in stretches of at most kChunkRows that cover the table once: for counting,
  // in the memory of a few chunks a thread. `take` is called by up to `n_threads` threads, at the same time and in any
  // order; of a file that only HDF5 can read (repacked, say), by the caller's alone.
  template <typename Table>
  Status scan_rows(const IsWanted& is_wanted, unsigned n_threads,
                   const std::function<void(const Table& rows, std::uint64_t first)>& take) const;

 private:
  struct State;
  explicit RunFileReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace jaxprof::runfile
