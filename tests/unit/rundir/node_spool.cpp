#include "tests/unit/rundir/node_spool.h"

#include <cstring>
#include <functional>

#include "agent/base/clocks.h"
#include "agent/contract/run_layout.h"
#include "tests/unit/spool/spool_bytes.h"

namespace jaxprof::test {

using spool::IdentityKey;
using spool::StateKind;

NodeSpool::NodeSpool(const std::string& host, std::uint32_t segment, bool is_shared) {
  texts_ = {{IdentityKey::kRunId, "7.0.0"},
            {IdentityKey::kJobId, "7"},
            {IdentityKey::kStepId, "0"},
            {IdentityKey::kHost, host},
            {IdentityKey::kBootId, host + "-boot"}};
  numbers_ = {{IdentityKey::kPid, 900 + segment},
              {IdentityKey::kEventClock, static_cast<std::int64_t>(ClockId::kMonotonicRaw)},
              {IdentityKey::kTimeNamespace, 4026531834},
              {IdentityKey::kSpoolKind, static_cast<std::int64_t>(spool::SpoolKind::kNode)}};
  spool::NodeObserverState observer{};
  observer.segment = segment;
  observer.is_shared = is_shared ? 1 : 0;
  state(StateKind::kNodeObserver, observer);
}

spool::StringId NodeSpool::string(std::string_view text) {
  if (text.empty()) return spool::kNoString;
  const auto known = strings_.find(text);
  if (known != strings_.end()) return known->second;
  const auto id = static_cast<spool::StringId>(strings_.size() + 1);
  strings_.emplace(text, id);
  spool::StringState fixed{};
  fixed.id = id;
  fixed.length = static_cast<std::uint32_t>(text.size());
  state(StateKind::kString, fixed, std::string(text));
  return id;
}

void NodeSpool::append_state(StateKind kind, void* fixed, std::size_t bytes, std::string tail) {
  std::string record = std::string(static_cast<const char*>(fixed), bytes) + tail;
  record.resize((record.size() + 7) / 8 * 8, '\0');
  const spool::StateHeader header{static_cast<std::uint16_t>(kind), 0, static_cast<std::uint32_t>(record.size())};
  std::memcpy(record.data(), &header, sizeof header);
  state_ += record;
}

void NodeSpool::port(std::uint32_t nic, const PortPlan& plan, std::uint64_t stamp) {
  spool::NicPortState fixed{};
  fixed.nic = nic;
  fixed.port = plan.port;
  fixed.name = string(plan.name);
  fixed.driver = string(plan.driver);
  fixed.pci = string(plan.pci);
  fixed.guid = string(plan.guid);
  fixed.netdev = string(plan.netdev);
  fixed.reason = string(plan.reason);
  fixed.numa = plan.numa;
  fixed.source = static_cast<std::uint32_t>(plan.source);
  fixed.bits_per_s = plan.bits_per_s;
  fixed.period_ns = plan.period_ns;
  fixed.slow_period_ns = 1'000'000'000;
  fixed.stamp = stamp;
  fixed.is_active = 1;
  state(StateKind::kNicPort, fixed);
}

void NodeSpool::gpu(std::uint32_t gpu, const std::string& uuid, const std::string& name, const std::string& pci) {
  spool::NodeGpuState fixed{};
  fixed.gpu = gpu;
  fixed.numa = 1;
  fixed.name = string(name);
  fixed.uuid = string(uuid);
  fixed.pci = string(pci);
  fixed.driver = string("570.1");
  fixed.memory_bytes = std::uint64_t{80} << 30;
  fixed.power_limit_mw = 700'000;
  fixed.sm_clock_max_mhz = 1980;
  state(StateKind::kNodeGpu, fixed);
}

void NodeSpool::stream(std::uint32_t stream, spool::SampleSubject kind, std::uint32_t subject,
                       const std::vector<ColumnPlan>& columns, std::uint32_t partial_count) {
  std::string tail;
  for (const ColumnPlan& plan : columns) {
    spool::SampleColumn column{};
    column.name = string(plan.name);
    column.scale = plan.scale;
    column.unit = static_cast<std::uint8_t>(plan.unit);
    column.kind = static_cast<std::uint8_t>(plan.kind);
    column.bits = plan.bits;
    column.is_error = plan.is_error ? 1 : 0;
    append_bytes(&tail, column);
  }
  spool::SampleStreamState fixed{};
  fixed.stream = stream;
  fixed.subject_kind = static_cast<std::uint32_t>(kind);
  fixed.subject = subject;
  fixed.column_count = static_cast<std::uint32_t>(columns.size());
  fixed.partial_count = partial_count;
  state(StateKind::kSampleStream, fixed, tail);
  streams_.try_emplace(stream, Stream{columns.size(), spool::SampleEncoder(stream, columns.size(), partial_count)});
}

void NodeSpool::event(std::uint32_t nic, spool::NicEvent event, std::string_view text, std::uint64_t stamp) {
  spool::NicEventState fixed{};
  fixed.nic = nic;
  fixed.event = static_cast<std::uint32_t>(event);
  fixed.text = string(text);
  fixed.stamp = stamp;
  state(StateKind::kNicEvent, fixed);
}

void NodeSpool::note(spool::NodeNote note, std::string_view text) {
  spool::NodeNoteState fixed{};
  fixed.note = static_cast<std::uint32_t>(note);
  fixed.text = string(text);
  state(StateKind::kNodeNote, fixed);
}

void NodeSpool::ticks(std::uint64_t due, std::uint64_t missed, std::uint64_t read_ns, std::uint64_t cpu_ns) {
  spool::NodeTicksState fixed{};
  fixed.ticks = due;
  fixed.missed = missed;
  fixed.lateness_max_ns = 3'000'000;
  fixed.lateness_sum_ns = 200'000 * (due - missed);
  fixed.read_ns = read_ns;
  fixed.cpu_ns = cpu_ns;
  state(StateKind::kNodeTicks, fixed);
}

void NodeSpool::clock_service(const std::string& clocksource, bool is_reference, std::uint64_t stamp,
                              const std::string& reason) {
  spool::ClockServiceState fixed{};
  fixed.port = reason.empty() ? 40'000 : 0;
  fixed.stamps = spool::kStampReceive | spool::kStampSend;
  fixed.is_reference = is_reference ? 1 : 0;
  fixed.address = string("10.0.0.1");
  fixed.interface = string("eth0");
  fixed.clocksource = string(clocksource);
  fixed.reason = string(reason);
  fixed.network_namespace = std::hash<std::string>{}(texts_.at(IdentityKey::kHost));
  fixed.stamp = stamp;
  state(StateKind::kClockService, fixed);
}

void NodeSpool::clock_peer(std::uint32_t peer, const std::string& host) {
  spool::ClockPeerState fixed{};
  fixed.peer = peer;
  fixed.host = string(host);
  fixed.boot_id = string(host + "-boot");
  fixed.network_namespace = std::hash<std::string>{}(host);
  state(StateKind::kClockPeer, fixed);
}

void NodeSpool::clock_readings(const std::vector<spool::ClockReading>& readings) {
  spool::append_readings(readings, &clock_);
}

void NodeSpool::clock_burst(const spool::ProbeBurst& burst) {
  spool::append_burst(burst, &clock_);
}

void NodeSpool::row(std::uint32_t stream, std::uint64_t stamp, const std::vector<std::uint64_t>& values,
                    std::uint32_t flags, std::uint32_t read_us) {
  Stream& to = streams_.at(stream);
  to.encoder.add({stamp, read_us, flags, values.size() < to.column_count, values});
}

void NodeSpool::end_block() {
  std::vector<std::uint8_t> payload;
  for (auto& [number, stream] : streams_) stream.encoder.append_section(&payload);
  if (!payload.empty()) blocks_.emplace_back(payload.begin(), payload.end());
}

void NodeSpool::restart() {
  end_block();
  for (auto& [number, stream] : streams_) stream.encoder.restart();
}

std::string NodeSpool::identity_payload() const {
  std::vector<std::uint8_t> buffer(4096);
  spool::IdentityWriter writer(buffer.data(), buffer.size());
  for (const auto& [key, value] : texts_) writer.text(key, value.c_str());
  for (const auto& [key, value] : numbers_) writer.number(key, value);
  return {buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(writer.size())};
}

std::string NodeSpool::bytes(bool has_footer) {
  end_block();
  const std::string identity = identity_payload() + state_;
  SpoolBytes spool(std::hash<std::string>{}(identity));
  spool.add(spool::BlockKind::kIdentity, identity_payload());
  std::string anchors;
  std::vector<spool::AnchorRecord> all = anchors_;
  if (all.empty())
    all = {{0, 0, 1'000'000'000, 0, 100}, {1'000'000'000'000, 1'000'000'000'000, 1'001'000'000'000, 0, 100}};
  for (const spool::AnchorRecord& anchor : all) append_bytes(&anchors, anchor);
  if (has_anchors_) spool.add(spool::BlockKind::kAnchors, anchors);
  spool.add(spool::BlockKind::kState, state_);
  for (const std::string& block : blocks_) spool.add(spool::BlockKind::kSamples, block);
  if (!clock_.empty()) spool.add(spool::BlockKind::kClock, std::string(clock_.begin(), clock_.end()));
  if (has_footer) {
    std::string footer;
    spool::FooterRecord record{};
    record.reason = static_cast<std::uint32_t>(spool::FooterReason::kExit);
    append_bytes(&footer, record);
    spool.add(spool::BlockKind::kFooter, footer);
  }
  return spool.bytes();
}

std::string NodeSpool::write(const std::string& state_folder, std::uint32_t attempt, bool has_footer) {
  const std::string path = run_layout::node_spool_path(state_folder, texts_.at(IdentityKey::kHost),
                                                       texts_.at(IdentityKey::kBootId), attempt);
  write_file(path, bytes(has_footer));
  return path;
}

}  // namespace jaxprof::test
