// One spool of a node's observer as the merge sees it: which network ports and GPUs it found, what happened to them,
// what it had to say, and the rows that it read, to be walked in the order of reading. Rows stay in the file until they
// are walked, so that an hour of many ports costs no memory here. The spool may end anywhere: SIGKILL is an observer's
// normal end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/clocks.h"
#include "agent/base/result.h"
#include "agent/spool/node_record.h"
#include "agent/spool/sample_codec.h"
#include "agent/spool/spool_reader.h"
#include "merge/rundir/clock_records.h"

namespace jaxprof::rundir {

// As the observer's last record has them; texts are empty where it did not know.
struct NodePort {
  std::string name;
  std::string driver;
  std::string pci;
  std::string guid;
  std::string netdev;
  std::string reason;  // why its counters are not read in a better way
  spool::NicPortState state{};
};

struct NodeGpu {
  std::string name;
  std::string uuid;  // GPU-…, of an instance MIG-…
  std::string pci;
  std::string driver;
  spool::NodeGpuState state{};
};

struct NodeColumn {
  std::string name;
  spool::SampleColumn state{};
};

struct NodeStream {
  spool::SampleStreamState state{};
  std::vector<NodeColumn> columns;
};

struct NodeEvent {
  std::uint32_t nic = 0;
  spool::NicEvent event = spool::NicEvent::kAppeared;
  std::string text;
  std::uint64_t stamp = 0;
};

struct NodeLine {
  spool::NodeNote note = spool::NodeNote::kNoNic;
  std::string text;
};

// What was not walked.
struct SampleLosses {
  std::uint64_t damaged_blocks = 0;    // that did not decode to their end
  std::uint64_t skipped_sections = 0;  // left out, because one before them is missing
  std::uint64_t strange_rows = 0;      // of streams that were not registered, or have other columns
};

class NodeTrace {
 public:
  // Reads everything but the rows. kInputUnreadable as SpoolReader::open, when no block says whose spool it is, or when
  // it is a process's.
  static Result<NodeTrace> load(const std::string& path);

  const std::string& path() const { return path_; }
  const spool::SpoolIdentity& identity() const { return identity_; }
  const spool::SpoolHealth& health() const { return health_; }
  // Plausible ones (merge/clock/plausible.h), and how many were not.
  const std::vector<spool::AnchorRecord>& anchors() const { return anchors_; }
  std::uint64_t implausible_anchors() const { return implausible_anchors_; }
  bool has_footer() const { return has_footer_; }
  // Blocks whose checksum held but whose registrations did not parse.
  std::uint64_t damaged_blocks() const { return damaged_blocks_; }

  // Who observes, by the first record, and whether any says that the node is shared. All 0 if there is none.
  const spool::NodeObserverState& observer() const { return observer_; }
  // By the numbers that streams and events carry.
  const std::map<std::uint32_t, NodePort>& ports() const { return ports_; }
  const std::map<std::uint32_t, NodeGpu>& gpus() const { return gpus_; }
  const std::map<std::uint32_t, NodeStream>& streams() const { return streams_; }
  const std::vector<NodeEvent>& events() const { return events_; }
  const std::vector<NodeLine>& notes() const { return notes_; }
  // The last that were told.
  const std::optional<spool::NodeTicksState>& ticks() const { return ticks_; }
  const ClockRecords& clock() const { return clock_; }

  // Visits every row, in the order of reading. The row lives as long as the call.
  using Visit = std::function<void(const NodeStream& stream, const spool::SampleRow& row)>;
  SampleLosses for_each_row(const Visit& visit) const;

 private:
  using Record = std::span<const std::uint8_t>;

  void read_strings(Record payload);
  void read_records(Record payload);
  // False if the record is shorter than its kind.
  bool take(spool::StateKind kind, Record record);
  bool take_port(Record record);
  bool take_gpu(Record record);
  bool take_stream(Record record);
  std::string text(spool::StringId id) const;

  std::string path_;
  spool::SpoolIdentity identity_;
  spool::SpoolHealth health_;
  std::vector<spool::AnchorRecord> anchors_;
  std::uint64_t implausible_anchors_ = 0;
  bool has_footer_ = false;
  std::uint64_t damaged_blocks_ = 0;
  std::map<spool::StringId, std::string> strings_;
  spool::NodeObserverState observer_{};
  std::map<std::uint32_t, NodePort> ports_;
  std::map<std::uint32_t, NodeGpu> gpus_;
  std::map<std::uint32_t, NodeStream> streams_;
  std::vector<NodeEvent> events_;
  std::vector<NodeLine> notes_;
  std::optional<spool::NodeTicksState> ticks_;
  ClockRecords clock_;
  std::optional<spool::SpoolReader> reader_;  // keeps the mapping that the blocks point into
  std::vector<Record> sample_blocks_;
};

}  // namespace jaxprof::rundir
