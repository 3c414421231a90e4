#include "merge/rundir/spool_trace.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "agent/contract/session_page.h"
#include "merge/rundir/payload_type.h"
#include "merge/rundir/spool_blocks.h"

namespace jaxprof::rundir {
namespace {

constexpr std::string_view kLost = "(lost string)";

// No payload is longer; keeps arithmetic on a file's numbers within 64 bits.
constexpr std::uint64_t kMaxPayloadOffset = std::uint64_t{1} << 31;

// How many values lie in the payload for an entry: 1, the length of a fixed array, or 0 where only the payload knows.
std::uint64_t repetitions(const spool::SchemaEntry& entry) {
  constexpr std::uint64_t kArrayMask = 7 << 4;   // NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_*
  constexpr std::uint64_t kFixedArray = 1 << 4;  // NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE
  const std::uint64_t array = entry.flags & kArrayMask;
  return array == 0 ? 1 : array == kFixedArray ? entry.detail : 0;
}

template <typename Entry>
bool read_entries(std::span<const std::uint8_t> tail, std::uint32_t count, std::vector<Entry>* entries) {
  if (tail.size() / sizeof(Entry) < count) return false;
  entries->resize(count);
  if (count > 0) std::memcpy(entries->data(), tail.data(), count * sizeof(Entry));
  return true;
}

}  // namespace

Result<SpoolTrace> SpoolTrace::load(const std::string& path) {
  SpoolTrace trace;
  auto blocks = walk_blocks(path, [&trace](const spool::Block& block) { trace.take(block); });
  if (!blocks) return tl::unexpected(std::move(blocks.error()));
  trace.path_ = path;
  trace.identity_ = std::move(blocks->identity);
  trace.anchors_ = std::move(blocks->anchors);
  trace.implausible_anchors_ = blocks->implausible_anchors;
  trace.health_ = blocks->reader.health();
  trace.file_id_ = blocks->reader.file_id();
  trace.event_clock_ = static_cast<ClockId>(trace.identity_.number(spool::IdentityKey::kEventClock));
  trace.reader_.push_back(std::move(blocks->reader));
  trace.resolve_registrations();
  return trace;
}

void SpoolTrace::take(const spool::Block& block) {
  switch (block.kind) {
    case spool::BlockKind::kState:
      read_state(block.payload);
      break;
    case spool::BlockKind::kEvents:
      event_blocks_.push_back(block.payload);
      break;
    case spool::BlockKind::kActivities:
      activity_blocks_.push_back(block.payload);
      break;
    case spool::BlockKind::kCounters:
      note_drops(spool::parse_counters(block.payload));
      break;
    case spool::BlockKind::kFooter: {
      spool::Footer footer;
      if (spool::parse_footer(block.payload, &footer)) {
        note_drops(footer.counters);
        footer_ = std::move(footer);
      } else {
        ++damaged_blocks_;
      }
      break;
    }
    default:  // of a node's observer, whose spools are no process's
      break;
  }
}

void SpoolTrace::resolve_registrations() {
  for (Communicator& communicator : communicators_) {
    communicator.name = text(communicator_names_[communicator.number]);
  }
  for (const auto& [key, raw] : raw_schemas_) schemas_[key].fields = place_fields(key.first, raw);
  for (const auto& [key, raw] : raw_enums_) {
    EnumSchema& enumeration = enums_[key];
    enumeration.value_bytes = raw.first;
    for (const spool::EnumEntry& entry : raw.second) enumeration.names[entry.value] = text(entry.name);
  }
}

std::vector<SchemaField> SpoolTrace::place_fields(std::uint32_t domain, const RawSchema& schema) const {
  std::vector<SchemaField> fields;
  std::uint64_t end = 0;  // of the field before
  for (const spool::SchemaEntry& entry : schema.entries) {
    const auto enumeration = raw_enums_.find({domain, entry.type});
    const std::uint64_t bytes =
        enumeration != raw_enums_.end() ? enumeration->second.first : payload_type_bytes(entry.type);
    const std::uint64_t count = repetitions(entry);
    // Offset 0 behind the first entry means "by alignment" (nvToolsExtPayload.h).
    std::uint64_t offset = entry.offset;
    if (offset == 0 && !fields.empty()) {
      const std::uint64_t alignment = schema.alignment > 0 ? std::min(schema.alignment, bytes) : bytes;
      const bool is_known = end != kNoOffset && alignment > 0;
      offset = is_known ? (end + alignment - 1) / alignment * alignment : kNoOffset;
    }
    const bool has_end = offset <= kMaxPayloadOffset && bytes > 0 && bytes <= kMaxPayloadOffset && count > 0 &&
                         count <= kMaxPayloadOffset;
    end = has_end ? offset + count * bytes : kNoOffset;
    fields.push_back({std::string(text(entry.name)), entry.type, entry.flags, offset});
  }
  return fields;
}

void SpoolTrace::keep_summary() {
  if (!footer_) {
    for_each_event([this](std::uint32_t, const spool::Event& event) {
      last_event_stamp_ = std::max(last_event_stamp_, event.stamp);
    });
  }
  rundir::GpuState gpu;
  std::map<spool::StringId, std::string> strings;
  gpu.segments = std::move(gpu_.segments);
  gpu.collector = gpu_.collector;
  if (gpu.collector) {
    const auto note = strings_.find(gpu.collector->note);
    if (note != strings_.end()) strings.insert(strings_.extract(note));
  }
  gpu_ = std::move(gpu);
  strings_ = std::move(strings);
  domains_ = {};
  categories_ = {};
  raw_schemas_ = {};
  schemas_ = {};
  raw_enums_ = {};
  enums_ = {};
  tids_ = {};
  communicator_names_ = {};
  event_blocks_ = {};
  activity_blocks_ = {};
  reader_.clear();
}

void SpoolTrace::note_drops(const std::vector<spool::CounterRecord>& counters) {
  for (const spool::CounterRecord& counter : counters) {
    if (counter.count > 0) drops_[counter.drop] = std::max(drops_[counter.drop], counter.count);
  }
}

std::uint64_t SpoolTrace::drop_sum() const {
  return std::accumulate(drops_.begin(), drops_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& drop) { return sum + drop.second; });
}

std::uint64_t SpoolTrace::loss_sum() const {
  std::uint64_t sum = 0;
  for (const auto& [drop, count] : drops_) {
    if (!is_kept_in_part(static_cast<Drop>(drop))) sum += count;
  }
  return sum;
}

void SpoolTrace::read_state(std::span<const std::uint8_t> payload) {
  spool::StateDecoder decoder(payload);
  spool::StateKind kind{};
  std::span<const std::uint8_t> record;
  while (decoder.next(&kind, &record)) read_record(kind, record);
  if (decoder.is_damaged()) ++damaged_blocks_;
}

void SpoolTrace::read_record(spool::StateKind kind, std::span<const std::uint8_t> record) {
  std::span<const std::uint8_t> tail;
  bool is_whole = true;
  switch (kind) {
    case spool::StateKind::kString: {
      spool::StringState state{};
      is_whole = spool::read_state(record, &state, &tail) && state.length <= tail.size();
      if (is_whole) strings_[state.id].assign(reinterpret_cast<const char*>(tail.data()), state.length);
      break;
    }
    case spool::StateKind::kDomain: {
      spool::DomainState state{};
      is_whole = spool::read_state(record, &state);
      if (is_whole) domains_[state.domain] = state.name;
      break;
    }
    case spool::StateKind::kCategory: {
      spool::CategoryState state{};
      is_whole = spool::read_state(record, &state);
      if (is_whole) categories_[{state.domain, state.category}] = state.name;
      break;
    }
    case spool::StateKind::kSchema:
      read_schema(record);
      break;
    case spool::StateKind::kEnum:
      read_enum(record);
      break;
    case spool::StateKind::kThread: {
      spool::ThreadState state{};
      is_whole = spool::read_state(record, &state);
      if (is_whole) tids_[state.thread] = state.tid;
      break;
    }
    case spool::StateKind::kCommunicator: {
      spool::CommunicatorState state{};
      is_whole = spool::read_state(record, &state);
      if (!is_whole) break;
      communicators_.push_back(
          {state.communicator, state.api, state.hash, state.rank, state.rank_count, state.node_count, {}});
      communicator_names_[state.communicator] = state.name;
      break;
    }
    case spool::StateKind::kHook: {
      spool::HookState state{};
      is_whole = spool::read_state(record, &state);
      if (is_whole && state.hook == kHookNvtx) nvtx_instances_ = std::max(nvtx_instances_, state.detail);
      break;
    }
    default:  // GPUs and windows, or not in this version of the run file
      is_whole = gpu_.take(kind, record) != Taken::kDamaged;
      break;
  }
  if (!is_whole) ++damaged_blocks_;
}

void SpoolTrace::read_schema(std::span<const std::uint8_t> record) {
  spool::SchemaState state{};
  std::span<const std::uint8_t> tail;
  std::vector<spool::SchemaEntry> entries;
  if (!spool::read_state(record, &state, &tail) || !read_entries(tail, state.entry_count, &entries)) {
    ++damaged_blocks_;
    return;
  }
  raw_schemas_[{state.domain, state.schema}] = {state.alignment, std::move(entries)};
}

void SpoolTrace::read_enum(std::span<const std::uint8_t> record) {
  spool::EnumState state{};
  std::span<const std::uint8_t> tail;
  std::vector<spool::EnumEntry> entries;
  if (!spool::read_state(record, &state, &tail) || !read_entries(tail, state.entry_count, &entries)) {
    ++damaged_blocks_;
    return;
  }
  raw_enums_[{state.domain, state.schema}] = {state.value_bytes, std::move(entries)};
}

std::string_view SpoolTrace::text(spool::StringId id) const {
  if (id == spool::kNoString) return {};
  const auto found = strings_.find(id);
  return found == strings_.end() ? kLost : std::string_view(found->second);
}

std::string_view SpoolTrace::domain_name(std::uint32_t domain) const {
  if (domain == 0) return {};
  const auto found = domains_.find(domain);
  return found == domains_.end() ? kLost : text(found->second);
}

std::string_view SpoolTrace::category_name(std::uint32_t domain, std::uint32_t category) const {
  const auto found = categories_.find({domain, category});
  return found == categories_.end() ? std::string_view() : text(found->second);
}

const Schema* SpoolTrace::schema(std::uint32_t domain, std::uint64_t id) const {
  const auto found = schemas_.find({domain, id});
  return found == schemas_.end() ? nullptr : &found->second;
}

const EnumSchema* SpoolTrace::enumeration(std::uint32_t domain, std::uint64_t id) const {
  const auto found = enums_.find({domain, id});
  return found == enums_.end() ? nullptr : &found->second;
}

std::uint32_t SpoolTrace::tid(std::uint32_t thread) const {
  const auto found = tids_.find(thread);
  return found == tids_.end() ? 0 : found->second;
}

const Communicator* SpoolTrace::communicator(std::uint64_t number) const {
  const auto found = std::find_if(communicators_.begin(), communicators_.end(),
                                  [number](const Communicator& c) { return c.number == number; });
  return found == communicators_.end() ? nullptr : &*found;
}

void SpoolTrace::for_each_event(const std::function<void(std::uint32_t, const spool::Event&)>& visit) const {
  for (const std::span<const std::uint8_t> payload : event_blocks_) {
    spool::EventDecoder decoder(payload.data(), payload.size());
    spool::Event event;
    while (decoder.next(&event)) visit(decoder.thread(), event);
  }
}

std::uint64_t SpoolTrace::for_each_activity(const std::function<void(const spool::Event&)>& visit) const {
  std::uint64_t damaged = 0;
  for (const std::span<const std::uint8_t> payload : activity_blocks_) {
    spool::EventDecoder decoder(payload.data(), payload.size());
    spool::Event event;
    while (decoder.next(&event)) visit(event);
    if (decoder.is_damaged()) ++damaged;
  }
  return damaged;
}

}  // namespace jaxprof::rundir
