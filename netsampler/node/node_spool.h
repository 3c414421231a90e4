// The spool of a node while it is written. The observer may be killed at any instant, and under a batch system usually
// is: so what was read is in the file a second later, in whole blocks, and a registration before whatever refers to it.
// A disk that is full ends the file at its last whole block; whoever writes here goes on as if nothing was, and nothing
// is kept for later. FORMAT.md, "Samples", is the story of the bytes. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/base/result.h"
#include "agent/spool/clock_codec.h"
#include "agent/spool/node_record.h"
#include "agent/spool/sample_codec.h"
#include "agent/spool/spool_writer.h"

namespace jaxprof::netsampler {

// Whose spool it is.
struct NodeIdentity {
  std::string run;      // JOB.STEP.RESTART
  std::string job;      // "" unknown
  std::string host;     // as a file name
  std::string boot_id;  // names the node
};

class NodeSpool {
 public:
  // Begins the file at `path`, which must not exist. kOutputFailed with the path.
  static Result<NodeSpool> create(const std::string& path, const NodeIdentity& identity);
  // Begins the node's next file in the run's state directory; `*segment` is how many observers there were before.
  static Result<NodeSpool> create_next(const std::string& state_directory, const NodeIdentity& identity,
                                       std::uint32_t* segment);

  // The number of a text, which is registered when it comes for the first time; kNoString of "".
  spool::StringId text(std::string_view text);
  // Appends a record; its header is filled in.
  template <typename Record>
  void state(spool::StateKind kind, Record record) {
    record.header = {static_cast<std::uint16_t>(kind), 0, sizeof record};
    state({reinterpret_cast<const std::uint8_t*>(&record), sizeof record});
  }
  // Appends a whole record, a multiple of 8 bytes.
  void state(std::span<const std::uint8_t> record);
  // A line for the user; each text once, and no more than 256.
  void note(spool::NodeNote note, const std::string& text, std::uint64_t stamp);

  // The number of a new stream; its state record is the caller's.
  std::uint32_t open_stream(std::size_t column_count, std::size_t partial_count);
  void add_row(std::uint32_t stream, const spool::SampleRow& row);
  // No more rows of it will come.
  void close_stream(std::uint32_t stream);

  // What clocks read, and what came of comparing them; the peer's state record is the caller's.
  void add_reading(const spool::ClockReading& reading);
  void add_burst(const spool::ProbeBurst& burst);

  // Writes what has been added, with an anchor. To be called once a second; every tenth time rows begin anew.
  void flush();
  // Waits for the disk.
  void sync() { writer_.sync(); }
  // Writes what has been added, and the footer.
  void finish();

  bool has_failed() const { return writer_.has_failed(); }
  int failure() const { return writer_.failure(); }  // errno of the write that failed; 0: none did
  std::uint64_t bytes() const { return writer_.bytes(); }
  std::uint64_t row_count() const { return row_count_; }

 private:
  // A block's payload behind the room for its header.
  struct Payload {
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(spool::SpoolWriter::kHeadroom);
    std::size_t size() const { return bytes.size() - spool::SpoolWriter::kHeadroom; }
  };

  NodeSpool() = default;
  bool begin(const std::string& path, const NodeIdentity& identity);
  void write(spool::BlockKind kind, Payload* payload);
  void write_state();
  void append_section(spool::SampleEncoder* encoder);
  void append_readings();
  void write_full_clock();

  spool::SpoolWriter writer_;
  Payload state_;
  Payload samples_;
  Payload clock_;
  std::vector<spool::ClockReading> readings_;  // that are not in `clock_` yet
  std::map<std::string, spool::StringId, std::less<>> texts_;
  std::set<std::pair<spool::NodeNote, std::string>> notes_;
  std::map<std::uint32_t, spool::SampleEncoder> streams_;
  std::uint32_t next_stream_ = 0;
  std::uint64_t flush_count_ = 0;
  std::uint64_t row_count_ = 0;
};

}  // namespace jaxprof::netsampler
