// The frame of everything in a spool: a file header, then blocks `[magic, length, kind, sequence, checksum, payload]`.
// A spool may end anywhere, because its process may: a block counts only if its checksum does, and a reader that meets
// a damaged stretch searches for the next magic. FORMAT.md is the whole story. Little-endian. Agent-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/base/clocks.h"

namespace jaxprof::spool {

inline constexpr std::uint32_t kFormatVersion = 1;

struct FileHeader {
  char magic[8];          // "JXSPOOL"
  std::uint32_t version;  // kFormatVersion; a reader refuses a newer one
  std::uint32_t header_bytes;
  std::uint64_t file_id;   // random; the same in no two spools
  std::uint64_t checksum;  // of the 24 bytes before
};
static_assert(sizeof(FileHeader) == 32);
inline constexpr char kFileMagic[8] = "JXSPOOL";

enum class BlockKind : std::uint16_t {
  kIdentity = 1,    // identity.h; the first block, always
  kAnchors = 2,     // ClockAnchor records
  kState = 3,       // state_record.h
  kEvents = 4,      // event_codec.h, of one thread
  kCounters = 5,    // what was dropped so far
  kFooter = 6,      // the last block of a complete spool
  kActivities = 7,  // event_codec.h, of GPUs: stamps are of CUPTI's clock, the thread is 0
  kSamples = 8,     // sample_codec.h: counters and gauges, by the observer of a node
  kClock = 9,       // clock_codec.h: readings of a node's clocks, and comparisons with other nodes'
};

struct BlockHeader {
  std::uint32_t magic;
  std::uint32_t payload_bytes;
  std::uint16_t kind;
  std::uint16_t reserved;
  std::uint32_t sequence;  // 0, 1, 2, …: a gap is a lost block
  std::uint64_t checksum;  // of the 16 bytes before and the payload
};
static_assert(sizeof(BlockHeader) == 24);
inline constexpr std::uint32_t kBlockMagic = 0x4b4c424aU;  // "JBLK" as bytes
inline constexpr std::uint32_t kMaxPayload = 4U << 20;

// XXH3 of the payload, seeded with XXH3 of the header's first 16 bytes.
std::uint64_t block_checksum(const BlockHeader& header, const void* payload) noexcept;
std::uint64_t file_header_checksum(const FileHeader& header) noexcept;

// One reading of all clocks, as stored. Times in ns; `counter` and `bracket` in units of the event clock.
struct AnchorRecord {
  std::uint64_t counter;
  std::int64_t monotonic_raw_ns;
  std::int64_t realtime_ns;
  std::int64_t monotonic_ns;
  std::uint64_t bracket;
};
static_assert(sizeof(AnchorRecord) == 40);

// Reads all clocks now, `event_clock` among them.
inline AnchorRecord take_anchor_record(ClockId event_clock) noexcept {
  const ClockAnchor anchor = take_anchor(event_clock);
  return {anchor.counter, anchor.monotonic_raw_ns, anchor.realtime_ns, anchor.monotonic_ns, anchor.bracket};
}

// One drop counter, by the value of contract's `Drop`.
struct CounterRecord {
  std::uint32_t drop;
  std::uint32_t reserved;
  std::uint64_t count;
};
static_assert(sizeof(CounterRecord) == 16);

enum class FooterReason : std::uint32_t {
  kExit = 1,         // the process ended by exit() or return from main, and wrote its last events itself
  kSaved = 2,        // it died; what it had not written was saved from its memory file
  kDeadline = 3,     // the wrapper stopped the recording before the job's time limit; the process went on
  kSpoolLimit = 4,   // … because its task's spools had reached --spool-limit
  kDiskReserve = 5,  // … because the spool's file system was nearly full
  kWriteFailed = 6,  // … because a spool of the task could not be written, maybe this one: events are lost then
  kWindowEnd = 7,    // its window ended and was to end the job (stop-shutdown); the process was still running
};

// Why the spool is complete, and what it should hold; followed by CounterRecords.
struct FooterRecord {
  std::uint32_t reason;  // FooterReason
  std::uint32_t counter_count;
  std::uint64_t events;
  std::uint64_t blocks;  // before this one
  std::uint64_t realtime_ns;
};
static_assert(sizeof(FooterRecord) == 32);

}  // namespace jaxprof::spool
