// Where rows of events, and those of counters, go while a run is put together: to a file that is written as they come,
// or to tables in memory. They come in the order of the run file, one process after the other, and what is known only
// at the end (which instance a call belongs to) comes as columns of its own.
#pragma once

#include <cstdint>
#include <span>

#include "agent/base/result.h"
#include "merge/runfile/encoded_part.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// One thread. Failures are those of writing (kOutputFailed).
class EventSink {
 public:
  EventSink() = default;
  EventSink(const EventSink&) = delete;
  EventSink& operator=(const EventSink&) = delete;
  virtual ~EventSink() = default;

  // The next rows of each table. /events/nccl is without its columns `instance` and `transfer`.
  virtual Status append(const runfile::EventTables& rows) = 0;
  // The same of rows that were encoded elsewhere.
  virtual Status append_encoded(const runfile::EncodedPart& rows) = 0;
  // The next values of /events/nccl/instance and /events/nccl/transfer.
  virtual Status append_instances(std::span<const std::uint64_t> rows) = 0;
  virtual Status append_transfers(std::span<const std::uint64_t> rows) = 0;
  // Of each instance of the next rows of /collectives: where its members end in /collectives/event_row.
  virtual Status append_member_ends(std::span<const std::uint64_t> positions) = 0;
  // The next rows of one of the tables of counters, which come one table after the other: all columns, no offsets.
  virtual Status append_counters(const runfile::CounterTable& rows) = 0;
};

// Fills the tables of events of a RunTables; for runs that fit into memory.
class MemorySink final : public EventSink {
 public:
  explicit MemorySink(runfile::RunTables* run) : run_(run) {}
  Status append(const runfile::EventTables& rows) override;
  Status append_encoded(const runfile::EncodedPart& rows) override;  // always fails
  Status append_instances(std::span<const std::uint64_t> rows) override;
  Status append_transfers(std::span<const std::uint64_t> rows) override;
  Status append_member_ends(std::span<const std::uint64_t> positions) override;
  Status append_counters(const runfile::CounterTable& rows) override;  // those of a table that the run describes

 private:
  runfile::RunTables* run_;
};

}  // namespace jaxprof::assembly
