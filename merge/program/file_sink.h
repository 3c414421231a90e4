// Where jaxprof-merge puts events: into the run file, as they come.
#pragma once

#include "merge/assembly/event_sink.h"
#include "merge/runfile/run_file_stream.h"

namespace jaxprof::merge {

class FileSink final : public assembly::EventSink {
 public:
  // Borrowed.
  explicit FileSink(runfile::RunFileStream* stream) : stream_(*stream) {}

  Status append(const runfile::EventTables& rows) override { return stream_.append(rows); }
  Status append_encoded(const runfile::EncodedPart& rows) override { return stream_.append_encoded(rows); }
  Status append_instances(std::span<const std::uint64_t> rows) override { return stream_.append_instances(rows); }
  Status append_transfers(std::span<const std::uint64_t> rows) override { return stream_.append_transfers(rows); }
  Status append_member_ends(std::span<const std::uint64_t> ends) override { return stream_.append_member_ends(ends); }
  Status append_counters(const runfile::CounterTable& rows) override { return stream_.append_counters(rows); }

 private:
  runfile::RunFileStream& stream_;
};

}  // namespace jaxprof::merge
