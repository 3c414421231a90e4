#include "tests/synthetic/spool_file.h"

#include <algorithm>

namespace jaxprof::synthetic {
namespace {

constexpr std::size_t kPayloadBytes = 256 << 10;  // of a block, as the agent's drain thread has it

}  // namespace

SpoolFile::SpoolFile()
    : buffer_(spool::SpoolWriter::kHeadroom + kPayloadBytes),
      thread_(spool::BlockKind::kEvents, kPayloadBytes),
      kernels_(spool::BlockKind::kActivities, kPayloadBytes),
      calls_(spool::BlockKind::kActivities, kPayloadBytes) {}

void SpoolFile::write_identity(const std::map<spool::IdentityKey, std::string>& texts,
                               const std::map<spool::IdentityKey, std::int64_t>& numbers) {
  spool::IdentityWriter identity(payload(), kPayloadBytes);
  for (const auto& [key, text] : texts) identity.bytes(key, text.data(), text.size());
  for (const auto& [key, number] : numbers) identity.number(key, number);
  writer_.write_block(spool::BlockKind::kIdentity, buffer_.data(), identity.size());
}

spool::StringId SpoolFile::string(std::string_view text) {
  if (text.empty()) return spool::kNoString;
  if (const auto known = strings_.find(text); known != strings_.end()) return known->second;
  const auto id = static_cast<spool::StringId>(strings_.size() + 1);
  strings_.emplace(text, id);
  spool::StringState fixed{};
  fixed.id = id;
  fixed.length = static_cast<std::uint32_t>(text.size());
  state(spool::StateKind::kString, fixed, text);
  return id;
}

void SpoolFile::append_state(const void* fixed, std::size_t fixed_bytes, std::string_view tail, std::size_t bytes) {
  if (state_bytes_ + bytes > kPayloadBytes) flush_state();
  std::uint8_t* at = payload() + state_bytes_;
  std::memset(at, 0, bytes);
  std::memcpy(at, fixed, fixed_bytes);
  if (!tail.empty()) std::memcpy(at + fixed_bytes, tail.data(), tail.size());
  state_bytes_ += bytes;
}

void SpoolFile::flush_state() {
  if (state_bytes_ > 0) writer_.write_block(spool::BlockKind::kState, buffer_.data(), state_bytes_);
  state_bytes_ = 0;
}

void SpoolFile::anchor(const spool::AnchorRecord& anchor) {
  flush_state();
  std::memcpy(payload(), &anchor, sizeof anchor);
  writer_.write_block(spool::BlockKind::kAnchors, buffer_.data(), sizeof anchor);
}

spool::EventEncoder& SpoolFile::encoder_of(Stream stream, std::uint64_t stamp) {
  Blocks& blocks = stream == Stream::kThread ? thread_ : stream == Stream::kKernels ? kernels_ : calls_;
  if (blocks.is_open && !blocks.encoder.has_room()) flush(&blocks);
  if (!blocks.is_open) blocks.encoder.begin(stream == Stream::kThread ? kThread : 0, stamp);
  blocks.is_open = true;
  return blocks.encoder;
}

void SpoolFile::event(spool::EventKind kind, std::uint32_t id, std::uint64_t stamp,
                      std::span<const std::uint64_t> fields, std::span<const std::uint8_t> payload_bytes) {
  // As it lies in a thread's ring.
  alignas(8) std::uint8_t record[spool::kMaxEventBytes];
  const std::size_t head_bytes = sizeof(spool::EventHeader) + fields.size_bytes();
  const spool::EventHeader header{static_cast<std::uint16_t>(head_bytes + payload_bytes.size()),
                                  static_cast<std::uint8_t>(kind), static_cast<std::uint8_t>(fields.size()), id, stamp};
  std::memcpy(record, &header, sizeof header);
  std::memcpy(record + sizeof header, fields.data(), fields.size_bytes());
  if (!payload_bytes.empty()) std::memcpy(record + head_bytes, payload_bytes.data(), payload_bytes.size());
  encoder_of(Stream::kThread, stamp).add(*reinterpret_cast<const spool::EventHeader*>(record));
  ++events_;
}

void SpoolFile::kernel(const spool::KernelEvent& kernel) {
  encoder_of(Stream::kKernels, kernel.start_ns).add(kernel);
  ++events_;
}

void SpoolFile::external(std::uint64_t handle, std::uint64_t correlation) {
  encoder_of(Stream::kCalls, calls_.encoder.previous_stamp())
      .add_like_previous(spool::EventKind::kGpuExternal, 0, {handle, correlation});
  ++events_;
}

void SpoolFile::flush(Blocks* blocks) {
  flush_state();
  if (blocks->is_open) writer_.write_block(blocks->kind, blocks->buffer.data(), blocks->encoder.size());
  blocks->is_open = false;
}

void SpoolFile::flush() {
  for (Blocks* blocks : {&thread_, &kernels_, &calls_}) flush(blocks);
}

void SpoolFile::write_footer(std::int64_t realtime_ns, std::span<const spool::CounterRecord> drops) {
  flush();
  const spool::FooterRecord footer{static_cast<std::uint32_t>(spool::FooterReason::kExit),
                                   static_cast<std::uint32_t>(drops.size()), events_, writer_.blocks(),
                                   static_cast<std::uint64_t>(realtime_ns)};
  std::memcpy(payload(), &footer, sizeof footer);
  std::memcpy(payload() + sizeof footer, drops.data(), drops.size_bytes());
  writer_.write_block(spool::BlockKind::kFooter, buffer_.data(), sizeof footer + drops.size_bytes());
}

}  // namespace jaxprof::synthetic
