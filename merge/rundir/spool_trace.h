// One spool as the merge sees it: identity, registrations, clocks and losses in memory, events to be walked in the
// order in which each thread wrote them. Registrations are read in a pass of their own, because an event may refer to a
// string that another thread's block brings later.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/base/clocks.h"
#include "agent/base/result.h"
#include "agent/contract/session_page.h"
#include "agent/spool/event_codec.h"
#include "agent/spool/spool_reader.h"
#include "merge/rundir/gpu_state.h"

namespace jaxprof::rundir {

// Where a field lies that follows one of a width that is not known.
inline constexpr std::uint64_t kNoOffset = UINT64_MAX;

struct SchemaField {
  std::string name;
  std::uint64_t type = 0;  // NVTX_PAYLOAD_ENTRY_TYPE_* or a schema's or enum's id
  std::uint64_t flags = 0;
  std::uint64_t offset = 0;  // bytes; resolved, also where the schema left it to alignment; kNoOffset: unknown
};
struct Schema {
  std::vector<SchemaField> fields;
};
struct EnumSchema {
  std::uint64_t value_bytes = 0;
  std::map<std::uint64_t, std::string> names;  // by value
};

struct Communicator {
  std::uint32_t number = 0;
  std::uint32_t api = 0;
  std::uint64_t hash = 0;
  std::int32_t rank = -1;
  std::int32_t rank_count = -1;
  std::int32_t node_count = -1;
  std::string name;
};

class SpoolTrace {
 public:
  // Reads everything but the events. kInputUnreadable as SpoolReader::open, or when no block says whose spool it is.
  static Result<SpoolTrace> load(const std::string& path);

  const std::string& path() const { return path_; }
  const spool::SpoolIdentity& identity() const { return identity_; }
  std::uint64_t file_id() const { return file_id_; }
  const spool::SpoolHealth& health() const { return health_; }
  ClockId event_clock() const { return event_clock_; }
  // Plausible ones (merge/clock/plausible.h), and how many were not.
  const std::vector<spool::AnchorRecord>& anchors() const { return anchors_; }
  std::uint64_t implausible_anchors() const { return implausible_anchors_; }
  const std::optional<spool::Footer>& footer() const { return footer_; }
  // Last known value of each drop counter that is not 0, by `Drop`.
  const std::map<std::uint32_t, std::uint64_t>& drops() const { return drops_; }
  std::uint64_t drop_sum() const;
  // The same less events that are there in part (is_kept_in_part): what the spool lacks.
  std::uint64_t loss_sum() const;
  // Blocks whose checksum held but whose content did not parse.
  std::uint64_t damaged_blocks() const { return damaged_blocks_; }
  // Strings that the process lost or that the file does not have are "(lost string)".
  std::string_view text(spool::StringId id) const;
  std::string_view domain_name(std::uint32_t domain) const;                            // "" is the default domain
  std::string_view category_name(std::uint32_t domain, std::uint32_t category) const;  // "" if not named
  const Schema* schema(std::uint32_t domain, std::uint64_t id) const;
  const EnumSchema* enumeration(std::uint32_t domain, std::uint64_t id) const;
  std::uint32_t tid(std::uint32_t thread) const;  // gettid() of a thread number; 0 if unknown
  const std::vector<Communicator>& communicators() const { return communicators_; }
  const Communicator* communicator(std::uint64_t number) const;
  std::uint32_t nvtx_instances() const { return nvtx_instances_; }

  // Lets go of the file, and of all that only its events need: texts but the collector's note, schemas, threads, what
  // was registered of GPUs but their collector and the edges of windows. A run has thousands of spools; to read one's
  // events, load it again.
  void keep_summary();
  // Of a spool without a footer, once it is a summary: the last stamp of an event; 0: it holds none.
  std::uint64_t last_event_stamp() const { return last_event_stamp_; }

  // Calls `visit(thread, event)` for every event, block by block; within a thread in the order of writing.
  void for_each_event(const std::function<void(std::uint32_t, const spool::Event&)>& visit) const;

  // What was registered about GPUs and windows.
  const GpuState& gpu() const { return gpu_; }
  // Calls `visit(activity)` for everything that GPUs did and CUPTI told, in no particular order; stamps are of CUPTI's
  // clock. Answers how many blocks did not decode to their end.
  std::uint64_t for_each_activity(const std::function<void(const spool::Event&)>& visit) const;

 private:
  struct RawSchema {
    std::uint64_t alignment = 0;  // of packed structs; 0: natural
    std::vector<spool::SchemaEntry> entries;
  };

  void take(const spool::Block& block);
  void read_state(std::span<const std::uint8_t> payload);
  void read_record(spool::StateKind kind, std::span<const std::uint8_t> record);
  void read_schema(std::span<const std::uint8_t> record);
  void read_enum(std::span<const std::uint8_t> record);
  // Registrations refer to each other by number and come in any order: done when all are there.
  void resolve_registrations();
  std::vector<SchemaField> place_fields(std::uint32_t domain, const RawSchema& schema) const;
  void note_drops(const std::vector<spool::CounterRecord>& counters);

  std::string path_;
  std::uint64_t file_id_ = 0;
  std::uint64_t last_event_stamp_ = 0;
  spool::SpoolIdentity identity_;
  spool::SpoolHealth health_;
  ClockId event_clock_ = ClockId::kNone;
  std::vector<spool::AnchorRecord> anchors_;
  std::uint64_t implausible_anchors_ = 0;
  std::optional<spool::Footer> footer_;
  std::map<std::uint32_t, std::uint64_t> drops_;
  std::uint64_t damaged_blocks_ = 0;
  std::map<spool::StringId, std::string> strings_;
  std::map<std::uint32_t, spool::StringId> domains_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, spool::StringId> categories_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, RawSchema> raw_schemas_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Schema> schemas_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::pair<std::uint64_t, std::vector<spool::EnumEntry>>> raw_enums_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, EnumSchema> enums_;
  std::map<std::uint32_t, std::uint32_t> tids_;
  std::vector<Communicator> communicators_;
  std::map<std::uint32_t, spool::StringId> communicator_names_;
  std::uint32_t nvtx_instances_ = 0;
  GpuState gpu_;
  std::vector<spool::SpoolReader> reader_;  // one, none after keep_summary(); keeps the mapping that blocks point into
  std::vector<std::span<const std::uint8_t>> event_blocks_;
  std::vector<std::span<const std::uint8_t>> activity_blocks_;
};

}  // namespace jaxprof::rundir
