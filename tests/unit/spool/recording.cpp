#include "tests/unit/spool/recording.h"

#include <cstring>
#include <functional>

#include "agent/spool/event_codec.h"
#include "agent/spool/varint.h"
#include "tests/unit/spool/spool_bytes.h"

namespace jaxprof::test {
namespace {

constexpr std::size_t kEventBlockBytes = 1 << 16;

std::string padded(std::string bytes) {
  bytes.resize((bytes.size() + 7) / 8 * 8, '\0');
  return bytes;
}

}  // namespace

Recording::Recording(std::int64_t rank, std::int64_t world_size, const std::string& host) {
  using spool::IdentityKey;
  texts_ = {{IdentityKey::kRunId, "7.0.0"},
            {IdentityKey::kJobId, "7"},
            {IdentityKey::kStepId, "0"},
            {IdentityKey::kHost, host},
            {IdentityKey::kBootId, host + "-boot"},
            {IdentityKey::kLauncher, "slurm"},
            {IdentityKey::kRankVariable, "SLURM_PROCID"}};
  numbers_ = {{IdentityKey::kRestart, 0},
              {IdentityKey::kRank, rank},
              {IdentityKey::kWorldSize, world_size},
              {IdentityKey::kLocalRank, 0},
              {IdentityKey::kPid, 1000 + rank},
              {IdentityKey::kWrapperPid, 500 + rank},
              {IdentityKey::kEventClock, 1},
              {IdentityKey::kTimeNamespace, 4026531834}};
}

spool::StringId Recording::string(std::string_view text) {
  const auto known = strings_.find(text);
  if (known != strings_.end()) return known->second;
  const auto id = static_cast<spool::StringId>(strings_.size() + 1);
  strings_.emplace(text, id);
  spool::StringState fixed{};
  fixed.id = id;
  fixed.length = static_cast<std::uint32_t>(text.size());
  state(spool::StateKind::kString, fixed, std::string(text));
  return id;
}

void Recording::append_state(spool::StateKind kind, void* fixed, std::size_t bytes, std::string tail) {
  std::string record(static_cast<const char*>(fixed), bytes);
  record = padded(record + tail);
  const spool::StateHeader header{static_cast<std::uint16_t>(kind), 0, static_cast<std::uint32_t>(record.size())};
  std::memcpy(record.data(), &header, sizeof header);
  state_ += record;
}

void Recording::domain(std::uint32_t number, std::string_view name) {
  spool::DomainState fixed{};
  fixed.domain = number;
  fixed.name = string(name);
  state(spool::StateKind::kDomain, fixed);
}

void Recording::category(std::uint32_t domain, std::uint32_t category, std::string_view name) {
  spool::CategoryState fixed{};
  fixed.domain = domain;
  fixed.category = category;
  fixed.name = string(name);
  state(spool::StateKind::kCategory, fixed);
}

void Recording::schema(std::uint32_t domain, std::uint64_t id, const std::vector<EntryPlan>& entries,
                       std::uint64_t alignment) {
  spool::SchemaState fixed{};
  fixed.domain = domain;
  fixed.schema = id;
  fixed.alignment = alignment;
  fixed.entry_count = static_cast<std::uint32_t>(entries.size());
  std::string tail;
  for (const EntryPlan& entry : entries) {
    append_bytes(&tail, spool::SchemaEntry{entry.flags, entry.type, entry.detail, entry.offset, string(entry.name), 0});
  }
  state(spool::StateKind::kSchema, fixed, tail);
}

void Recording::enumeration(std::uint32_t domain, std::uint64_t id, std::uint64_t value_bytes,
                            const std::vector<std::pair<std::uint64_t, std::string>>& names) {
  spool::EnumState fixed{};
  fixed.domain = domain;
  fixed.schema = id;
  fixed.value_bytes = value_bytes;
  fixed.entry_count = static_cast<std::uint32_t>(names.size());
  std::string tail;
  for (const auto& [value, name] : names) append_bytes(&tail, spool::EnumEntry{value, string(name), 0});
  state(spool::StateKind::kEnum, fixed, tail);
}

void Recording::thread(std::uint32_t thread, std::uint32_t tid) {
  spool::ThreadState fixed{};
  fixed.thread = thread;
  fixed.tid = tid;
  state(spool::StateKind::kThread, fixed);
}

void Recording::communicator(std::uint32_t number, std::uint64_t hash, std::int32_t rank, std::int32_t rank_count,
                             std::int32_t node_count, std::string_view name) {
  spool::CommunicatorState fixed{};
  fixed.communicator = number;
  fixed.api = 5;
  fixed.hash = hash;
  fixed.rank = rank;
  fixed.rank_count = rank_count;
  fixed.node_count = node_count;
  fixed.name = name.empty() ? spool::kNoString : string(name);
  state(spool::StateKind::kCommunicator, fixed);
}

std::string Recording::record_of(spool::EventKind kind, std::uint32_t id, std::uint64_t stamp,
                                 const std::vector<std::uint64_t>& fields, const std::string& payload) {
  std::string record;
  spool::EventHeader header{};
  header.bytes = static_cast<std::uint16_t>(sizeof header + 8 * fields.size() + payload.size());
  header.kind = static_cast<std::uint8_t>(kind);
  header.field_count = static_cast<std::uint8_t>(fields.size());
  header.id = id;
  header.stamp = stamp;
  append_bytes(&record, header);
  for (const std::uint64_t field : fields) append_bytes(&record, field);
  return record + payload;
}

void Recording::event(std::uint32_t thread, spool::EventKind kind, std::uint32_t id, std::uint64_t stamp,
                      const std::vector<std::uint64_t>& fields, const std::string& payload) {
  events_.push_back({thread, record_of(kind, id, stamp, fields, payload)});
}

void Recording::activity(spool::EventKind kind, std::uint32_t id, std::uint64_t start_ns, std::int64_t length_ns,
                         std::vector<std::uint64_t> more_fields) {
  more_fields.insert(more_fields.begin(), spool::fold_sign(length_ns));
  activities_.push_back({0, record_of(kind, id, start_ns, more_fields, {})});
}

void Recording::lane(std::uint32_t lane, std::uint32_t device, std::uint32_t stream, std::uint64_t address) {
  spool::GpuLaneState fixed{};
  fixed.lane = lane;
  fixed.device = device;
  fixed.context = device + 1;
  fixed.stream = stream;
  state(spool::StateKind::kGpuLane, fixed);
  if (address == 0) return;
  spool::GpuStreamState known{};
  known.context = device + 1;
  known.stream = stream;
  known.address = address;
  state(spool::StateKind::kGpuStream, known);
}

void Recording::kernel(std::string_view name, std::uint64_t start_ns, std::int64_t length_ns, std::uint64_t lane,
                       std::uint64_t correlation, std::uint64_t graph_node) {
  const std::uint64_t graph = graph_node == 0 ? 0 : 1;
  activity(spool::EventKind::kGpuKernel, string(name), start_ns, length_ns, {lane, correlation, 0, graph_node, graph});
}

void Recording::copy(std::uint64_t start_ns, std::int64_t length_ns, std::uint64_t lane, std::uint64_t correlation,
                     std::uint64_t bytes) {
  constexpr std::uint32_t kDeviceToDevice = 8 | 3 << 8 | 3 << 16;
  activity(spool::EventKind::kGpuMemcpy, kDeviceToDevice, start_ns, length_ns, {lane, correlation, bytes});
}

void Recording::api_call(std::uint64_t start_ns, std::int64_t length_ns, std::uint32_t tid, std::uint64_t correlation) {
  activity(spool::EventKind::kGpuApi, 307, start_ns, length_ns, {tid, correlation, 0});
}

void Recording::external(std::uint64_t handle, std::uint64_t correlation) {
  activities_.push_back({0, record_of(spool::EventKind::kGpuExternal, 0, 0, {handle, correlation}, {})});
}

void Recording::graph_node(std::uint64_t node, std::uint64_t original, std::uint64_t launch) {
  spool::GraphNodeState fixed{};
  fixed.node = node;
  fixed.original = original;
  fixed.launch = launch;
  state(spool::StateKind::kGraphNode, fixed);
}

void Recording::gpu_clock(std::uint64_t counter, std::int64_t gpu_ns, std::uint64_t bracket) {
  spool::GpuClockState fixed{};
  fixed.counter = counter;
  fixed.gpu_ns = gpu_ns;
  fixed.bracket = bracket;
  state(spool::StateKind::kGpuClock, fixed);
}

void Recording::segment(std::uint32_t segment, bool is_open, spool::WindowCause cause, std::uint64_t stamp,
                        std::uint64_t step) {
  spool::SegmentState fixed{};
  fixed.segment = segment;
  fixed.is_open = is_open ? 1 : 0;
  fixed.cause = static_cast<std::uint32_t>(cause);
  fixed.stamp = stamp;
  fixed.step = step;
  state(spool::StateKind::kSegment, fixed);
}

void Recording::push(std::uint32_t thread, std::uint32_t domain, std::uint16_t depth, std::string_view message,
                     std::uint64_t stamp, const std::string& payload) {
  const std::uint64_t context = spool::pack(spool::NvtxContext{static_cast<std::uint16_t>(domain), depth, 0});
  event(thread, spool::EventKind::kNvtxPush, string(message), stamp, {context}, payload);
}

void Recording::pop(std::uint32_t thread, std::uint32_t domain, std::uint16_t depth, std::uint64_t stamp,
                    const std::string& payload) {
  event(thread, spool::EventKind::kNvtxPop, domain, stamp, {depth}, payload);
}

std::string Recording::identity_payload() const {
  std::vector<std::uint8_t> buffer(1 << 16);
  spool::IdentityWriter out(buffer.data(), buffer.size());
  for (const auto& [key, text] : texts_) out.bytes(key, text.data(), text.size());
  for (const auto& [key, number] : numbers_) out.number(key, number);
  return {reinterpret_cast<const char*>(buffer.data()), out.size()};
}

void Recording::write_events(const std::vector<ThreadEvent>& events, spool::BlockKind kind, SpoolBytes* to) {
  std::vector<std::uint8_t> buffer(kEventBlockBytes);
  spool::EventEncoder encoder(buffer.data(), buffer.size());
  const auto flush = [&] {
    if (encoder.size() > 0) to->add(kind, {reinterpret_cast<const char*>(buffer.data()), encoder.size()});
  };
  for (std::size_t i = 0; i < events.size(); ++i) {
    // Aligned, as in a ring.
    std::vector<std::uint64_t> aligned((events[i].record.size() + 7) / 8);
    std::memcpy(aligned.data(), events[i].record.data(), events[i].record.size());
    const auto* header = reinterpret_cast<const spool::EventHeader*>(aligned.data());
    if (i == 0 || events[i - 1].thread != events[i].thread || !encoder.has_room()) {
      if (i > 0) flush();
      encoder.begin(events[i].thread, header->stamp);
    }
    encoder.add(*header);
  }
  flush();
}

std::string Recording::bytes(bool has_footer) const {
  SpoolBytes spool(file_id_.value_or(std::hash<std::string>{}(identity_payload())));
  spool.add(spool::BlockKind::kIdentity, identity_payload());
  std::vector<spool::AnchorRecord> anchors = anchors_;
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (anchors.empty()) {
    anchors = {{0, 0, kSecond, 0, 20}, {1000 * kSecond, 1000 * kSecond, 1001 * kSecond, 1000 * kSecond, 20}};
  }
  std::string payload;
  for (const spool::AnchorRecord& anchor : anchors) append_bytes(&payload, anchor);
  spool.add(spool::BlockKind::kAnchors, payload);
  if (!state_.empty()) spool.add(spool::BlockKind::kState, state_);

  write_events(events_, spool::BlockKind::kEvents, &spool);
  write_events(activities_, spool::BlockKind::kActivities, &spool);
  payload.clear();
  for (const spool::CounterRecord& counter : drops_) append_bytes(&payload, counter);
  if (has_footer) {
    std::string footer;
    append_bytes(&footer,
                 spool::FooterRecord{static_cast<std::uint32_t>(footer_reason_),
                                     static_cast<std::uint32_t>(drops_.size()), events_.size(),
                                     spool.block_ends().size(), static_cast<std::uint64_t>(footer_realtime_ns_)});
    spool.add(spool::BlockKind::kFooter, footer + payload);
  } else if (!payload.empty()) {
    spool.add(spool::BlockKind::kCounters, payload);
  }
  return spool.bytes();
}

std::string Recording::write(const std::string& folder, const std::string& name, bool has_footer) const {
  const std::string path = folder + "/" + name;
  write_file(path, bytes(has_footer));
  return path;
}

std::string payload_of(std::uint64_t schema, std::string bytes) {
  std::string out;
  const auto length = static_cast<std::uint32_t>(bytes.size());
  append_bytes(&out, spool::PayloadHeader{schema, length, length});
  return out + padded(std::move(bytes));
}

}  // namespace jaxprof::test
