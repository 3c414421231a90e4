#include "netsampler/node/node_spool.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/clocks.h"
#include "agent/contract/run_layout.h"
#include "agent/contract/session_page.h"
#include "agent/spool/identity.h"

namespace jaxprof::netsampler {
namespace {

using spool::BlockKind;
using spool::IdentityKey;
using spool::SpoolWriter;

constexpr std::size_t kIdentityBytes = 8192;
constexpr std::size_t kBlockBytes = 1 << 20;  // a block is written when it has become so long
constexpr std::uint64_t kFlushesPerBeginning = 10;
constexpr std::size_t kMostNotes = 256;
constexpr std::size_t kMostReadings = 4096;  // of a section
constexpr std::uint32_t kMostSegments = 1000;

std::uint64_t random_id() {
  std::uint64_t id = 0;
  if (getrandom(&id, sizeof id, 0) == sizeof id) return id;
  return static_cast<std::uint64_t>(clock_ns(CLOCK_REALTIME)) ^ static_cast<std::uint64_t>(getpid()) << 48;
}

std::int64_t time_namespace() {
  struct stat status {};
  return stat("/proc/self/ns/time", &status) == 0 ? static_cast<std::int64_t>(status.st_ino) : -1;
}

std::size_t write_identity(const NodeIdentity& identity, std::uint8_t* buffer) {
  spool::IdentityWriter writer(buffer, kIdentityBytes);
  writer.number(IdentityKey::kSpoolKind, static_cast<std::int64_t>(spool::SpoolKind::kNode));
  writer.text(IdentityKey::kRunId, identity.run.c_str());
  writer.text(IdentityKey::kJobId, identity.job.c_str());
  writer.text(IdentityKey::kHost, identity.host.c_str());
  writer.text(IdentityKey::kBootId, identity.boot_id.c_str());
  writer.number(IdentityKey::kPid, getpid());
  writer.number(IdentityKey::kStartTicks, static_cast<std::int64_t>(process_start_ticks(getpid())));
  writer.number(IdentityKey::kEventClock, static_cast<std::int64_t>(ClockId::kMonotonicRaw));
  writer.text(IdentityKey::kVersion, JAXPROF_VERSION);
  writer.number(IdentityKey::kUserId, getuid());
  writer.number(IdentityKey::kTimeNamespace, time_namespace());
  writer.number(IdentityKey::kAttachRealtimeNs, clock_ns(CLOCK_REALTIME));
  return writer.size();
}

void append(std::vector<std::uint8_t>* to, const void* from, std::size_t length) {
  const auto* bytes = static_cast<const std::uint8_t*>(from);
  to->insert(to->end(), bytes, bytes + length);
}

// Who may read the ranks' files in the run directory may read this one too.
void open_to_readers(const std::string& path) {
  const mode_t mask = umask(077);
  umask(mask);
  chmod(path.c_str(), 0666 & ~mask);
}

}  // namespace

// False with errno.
bool NodeSpool::begin(const std::string& path, const NodeIdentity& identity) {
  if (!writer_.create(path.c_str(), random_id())) return false;
  open_to_readers(path);
  std::vector<std::uint8_t> block(SpoolWriter::kHeadroom + kIdentityBytes);
  const std::size_t length = write_identity(identity, block.data() + SpoolWriter::kHeadroom);
  if (writer_.write_block(BlockKind::kIdentity, block.data(), length)) return true;
  errno = writer_.failure();
  return false;
}

Result<NodeSpool> NodeSpool::create(const std::string& path, const NodeIdentity& identity) {
  NodeSpool spool;
  if (!spool.begin(path, identity)) return fail_errno(ErrorCode::kOutputFailed, "cannot write " + path);
  return spool;
}

Result<NodeSpool> NodeSpool::create_next(const std::string& state_directory, const NodeIdentity& identity,
                                         std::uint32_t* segment) {
  for (*segment = 0;; ++*segment) {
    const std::string path = run_layout::node_spool_path(state_directory, identity.host, identity.boot_id, *segment);
    NodeSpool spool;
    if (spool.begin(path, identity)) return spool;
    if (errno != EEXIST || *segment >= kMostSegments) {
      return fail_errno(ErrorCode::kOutputFailed, "cannot write " + path);
    }
  }
}

void NodeSpool::write(BlockKind kind, Payload* payload) {
  if (payload->size() > 0) writer_.write_block(kind, payload->bytes.data(), payload->size());
  payload->bytes.resize(SpoolWriter::kHeadroom);
}

void NodeSpool::write_state() {
  write(BlockKind::kState, &state_);
}

spool::StringId NodeSpool::text(std::string_view text) {
  if (text.empty()) return spool::kNoString;
  if (const auto known = texts_.find(text); known != texts_.end()) return known->second;
  if (has_failed()) return spool::kLostString;
  const auto id = static_cast<spool::StringId>(texts_.size() + 1);
  texts_.emplace(text, id);
  spool::StringState record{};
  const std::size_t padded = (text.size() + 7) / 8 * 8;
  record.header = {static_cast<std::uint16_t>(spool::StateKind::kString), 0,
                   static_cast<std::uint32_t>(sizeof record + padded)};
  record.id = id;
  record.length = static_cast<std::uint32_t>(text.size());
  std::vector<std::uint8_t> bytes;
  append(&bytes, &record, sizeof record);
  append(&bytes, text.data(), text.size());
  bytes.resize(sizeof record + padded);
  state(bytes);
  return id;
}

void NodeSpool::state(std::span<const std::uint8_t> record) {
  if (has_failed()) return;
  append(&state_.bytes, record.data(), record.size());
  if (state_.size() >= kBlockBytes) write_state();
}

void NodeSpool::note(spool::NodeNote note, const std::string& line, std::uint64_t stamp) {
  if (notes_.size() >= kMostNotes || !notes_.emplace(note, line).second) return;
  spool::NodeNoteState record{};
  record.note = static_cast<std::uint32_t>(note);
  record.text = text(line);
  record.stamp = stamp;
  state(spool::StateKind::kNodeNote, record);
}

std::uint32_t NodeSpool::open_stream(std::size_t column_count, std::size_t partial_count) {
  const std::uint32_t stream = next_stream_++;
  streams_.emplace(stream, spool::SampleEncoder(stream, column_count, partial_count));
  return stream;
}

void NodeSpool::add_row(std::uint32_t stream, const spool::SampleRow& row) {
  const auto found = streams_.find(stream);
  if (found == streams_.end() || has_failed()) return;
  found->second.add(row);
  ++row_count_;
  if (found->second.max_section_bytes() >= kBlockBytes) append_section(&found->second);
}

// Registrations go first: the rows may refer to them.
void NodeSpool::append_section(spool::SampleEncoder* encoder) {
  if (encoder->row_count() == 0) return;
  if (samples_.size() > 0 && samples_.size() + encoder->max_section_bytes() > kBlockBytes) {
    write_state();
    write(BlockKind::kSamples, &samples_);
  }
  encoder->append_section(&samples_.bytes);
}

void NodeSpool::close_stream(std::uint32_t stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  append_section(&found->second);
  streams_.erase(found);
}

void NodeSpool::add_reading(const spool::ClockReading& reading) {
  if (has_failed()) return;
  readings_.push_back(reading);
  if (readings_.size() >= kMostReadings) append_readings();
}

void NodeSpool::append_readings() {
  spool::append_readings(readings_, &clock_.bytes);
  readings_.clear();
  write_full_clock();
}

void NodeSpool::add_burst(const spool::ProbeBurst& burst) {
  if (has_failed()) return;
  spool::append_burst(burst, &clock_.bytes);
  write_full_clock();
}

// Registrations go first here too.
void NodeSpool::write_full_clock() {
  if (clock_.size() < kBlockBytes) return;
  write_state();
  write(BlockKind::kClock, &clock_);
}

void NodeSpool::flush() {
  if (has_failed()) return;
  for (auto& [number, encoder] : streams_) append_section(&encoder);
  append_readings();
  write_state();
  Payload anchor;
  const spool::AnchorRecord record = spool::take_anchor_record(ClockId::kMonotonicRaw);
  append(&anchor.bytes, &record, sizeof record);
  write(BlockKind::kAnchors, &anchor);
  write(BlockKind::kSamples, &samples_);
  write(BlockKind::kClock, &clock_);
  if (++flush_count_ % kFlushesPerBeginning != 0) return;
  for (auto& [number, encoder] : streams_) encoder.restart();
}

void NodeSpool::finish() {
  flush();
  Payload footer;
  spool::FooterRecord record{};
  record.reason = static_cast<std::uint32_t>(spool::FooterReason::kExit);
  record.events = row_count_;
  record.blocks = writer_.blocks();
  record.realtime_ns = static_cast<std::uint64_t>(clock_ns(CLOCK_REALTIME));
  append(&footer.bytes, &record, sizeof record);
  write(BlockKind::kFooter, &footer);
  sync();
}

}  // namespace jaxprof::netsampler
