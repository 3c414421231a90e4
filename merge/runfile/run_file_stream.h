// Writes a run file in parts, so that a run of any length is written with about one chunk a column in memory. Tables of
// events come in parts in the order of their rows; all else stands in a RunTables that is handed over at the end. The
// bytes of the file depend on the rows alone: not on how they were divided into parts, nor on the number of threads,
// nor on where parts were encoded. So nothing is put into the file before all is there; until then encoded chunks wait
// in memory or in a scratch file beside it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "agent/base/result.h"
#include "merge/runfile/encoded_part.h"
#include "merge/runfile/run_file_writer.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::runfile {

// One thread; it makes all HDF5 calls. After a failure (kOutputFailed, with the path and the cause) the stream is of no
// use, and neither the file nor its .part is there.
class RunFileStream {
 public:
  static Result<RunFileStream> create(const std::string& path, const WriteOptions& options);
  RunFileStream(RunFileStream&&) noexcept;
  RunFileStream& operator=(RunFileStream&&) noexcept;
  ~RunFileStream();

  // The next rows of each table of events. A column that is empty where its table has rows is left out and comes by
  // itself, by append_instances or append_transfers. Checks what check_run checks, as far as it can be known by now.
  Status append(const EventTables& part);
  // The same of a part that was encoded elsewhere for just this place in the run, with this stream's compression.
  Status append_encoded(const EncodedPart& part);
  // Where the file is until it has its name.
  const std::string& part_path() const;
  // The rows so far: the first ones of the next part.
  RowPositions rows() const;

  // The next values of /events/nccl/instance, /events/nccl/transfer and /collectives/member_offset (whose first 0 the
  // stream writes itself).
  Status append_instances(std::span<const std::uint64_t> rows);
  Status append_transfers(std::span<const std::uint64_t> rows);
  Status append_member_ends(std::span<const std::uint64_t> positions);

  // The next rows of a table of counters, with all its columns and without offsets; one table after the other.
  Status append_counters(const CounterTable& rows);

  // All that was not streamed; of a table of counters whose rows were, the columns and offsets alone; the tables of
  // events of `run` are not looked at, nor is its collective_member_offset. Gives the file its name.
  Result<WrittenFile> finish(const RunTables& run);

 private:
  struct State;
  explicit RunFileStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace jaxprof::runfile
