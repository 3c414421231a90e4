// The spool of one process, written as its agent would: registrations before the events that refer to them, events of a
// thread and activities of GPUs in blocks of their own, anchors in between, a footer at the end. Everything goes
// through the agent's own encoder and writer. Memory is a few blocks, however long the file becomes.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/spool/block.h"
#include "agent/spool/event_codec.h"
#include "agent/spool/identity.h"
#include "agent/spool/spool_writer.h"
#include "agent/spool/state_record.h"

namespace jaxprof::synthetic {

class SpoolFile {
 public:
  SpoolFile();
  bool create(const std::string& path, std::uint64_t file_id) { return writer_.create(path.c_str(), file_id); }

  // ---- registrations
  void write_identity(const std::map<spool::IdentityKey, std::string>& texts,
                      const std::map<spool::IdentityKey, std::int64_t>& numbers);
  spool::StringId string(std::string_view text);
  template <typename Fixed>
  void state(spool::StateKind kind, Fixed fixed, std::string_view tail = {}) {
    const std::size_t bytes = (sizeof fixed + tail.size() + 7) / 8 * 8;
    fixed.header = {static_cast<std::uint16_t>(kind), 0, static_cast<std::uint32_t>(bytes)};
    append_state(&fixed, sizeof fixed, tail, bytes);
  }
  void anchor(const spool::AnchorRecord& anchor);

  // ---- events. `stream` of blocks: what goes into one has one thread, and comes out in order.
  enum class Stream { kThread, kKernels, kCalls };
  static constexpr std::uint32_t kThread = 1;
  void event(spool::EventKind kind, std::uint32_t id, std::uint64_t stamp, std::span<const std::uint64_t> fields,
             std::span<const std::uint8_t> payload = {});
  void kernel(const spool::KernelEvent& kernel);
  template <std::size_t kCount>
  void call(spool::EventKind kind, std::uint32_t id, std::uint64_t stamp, const std::uint64_t (&fields)[kCount]) {
    encoder_of(Stream::kCalls, stamp).add(kind, id, stamp, fields);
    ++events_;
  }
  // What an External record tells has no time of its own.
  void external(std::uint64_t handle, std::uint64_t correlation);

  // Everything that waits; then a footer, or without one: the process was killed with its wrapper.
  void flush();
  void write_footer(std::int64_t realtime_ns, std::span<const spool::CounterRecord> drops);

  std::uint64_t bytes() const { return writer_.bytes(); }
  std::uint64_t events() const { return events_; }
  // errno of what failed; 0 if the file is whole.
  int failure() const { return writer_.failure(); }

 private:
  struct Blocks {
    spool::BlockKind kind;
    std::vector<std::uint8_t> buffer;
    spool::EventEncoder encoder;
    bool is_open = false;
    Blocks(spool::BlockKind of, std::size_t payload_bytes)
        : kind(of),
          buffer(spool::SpoolWriter::kHeadroom + payload_bytes),
          encoder(buffer.data() + spool::SpoolWriter::kHeadroom, payload_bytes) {}
  };

  spool::EventEncoder& encoder_of(Stream stream, std::uint64_t stamp);
  void flush(Blocks* blocks);
  void flush_state();
  void append_state(const void* fixed, std::size_t fixed_bytes, std::string_view tail, std::size_t bytes);
  std::uint8_t* payload() { return buffer_.data() + spool::SpoolWriter::kHeadroom; }

  spool::SpoolWriter writer_;
  std::vector<std::uint8_t> buffer_;  // of blocks that hold no events
  std::size_t state_bytes_ = 0;       // that wait in it
  std::map<std::string, spool::StringId, std::less<>> strings_;
  Blocks thread_;
  Blocks kernels_;
  Blocks calls_;
  std::uint64_t events_ = 0;
};

}  // namespace jaxprof::synthetic
