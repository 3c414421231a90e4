// Reads a spool, whatever state it is in: complete, still being written, torn by a kill, damaged on the way, or no
// spool at all. Only blocks whose checksum holds are given out; what lies between them is skipped by searching for the
// next block, and counted. Nothing of a file's content is trusted beyond its checksum: each parser below checks its
// bounds again. Tools only; one thread a reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "agent/spool/block.h"
#include "agent/spool/identity.h"
#include "agent/spool/state_record.h"

namespace jaxprof::spool {

struct Block {
  BlockKind kind = BlockKind::kIdentity;
  std::uint32_t sequence = 0;
  std::span<const std::uint8_t> payload;  // lives as long as the reader
};

// What was wrong with a spool, in numbers.
struct SpoolHealth {
  std::uint64_t file_bytes = 0;
  std::uint64_t skipped_bytes = 0;  // between valid blocks
  std::uint64_t skipped_stretches = 0;
  std::uint64_t lost_blocks = 0;      // by gaps in the sequence
  std::uint64_t torn_tail_bytes = 0;  // behind the last valid block
  bool has_footer = false;
};

class SpoolReader {
 public:
  // Maps the file. Errors (kInputUnreadable, naming the path and what it is instead): cannot be opened, empty, shorter
  // than a header, no spool, damaged header, newer format.
  static Result<SpoolReader> open(const std::string& path);
  SpoolReader(SpoolReader&& other) noexcept;
  SpoolReader& operator=(SpoolReader&& other) noexcept;
  ~SpoolReader();

  // The next valid block; false at the end, from when on health() is final.
  bool next(Block* block);
  // Gives back the memory of what was read; blocks stay where they are and are read from the file again.
  void give_back() const;
  const SpoolHealth& health() const { return health_; }
  std::uint64_t file_id() const { return file_id_; }

 private:
  SpoolReader() = default;
  bool is_block_at(std::uint64_t offset, Block* block) const;

  const std::uint8_t* bytes_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint64_t at_ = 0;
  std::uint64_t file_id_ = 0;
  std::uint32_t next_sequence_ = 0;
  SpoolHealth health_;
};

// The identity block. Missing fields are "" and -1.
class SpoolIdentity {
 public:
  // Fields that are cut off end the reading; what came before is kept.
  static SpoolIdentity parse(std::span<const std::uint8_t> payload);
  std::string text(IdentityKey key) const;
  std::int64_t number(IdentityKey key) const;

 private:
  std::map<std::uint16_t, std::string> fields_;
};

std::vector<AnchorRecord> parse_anchors(std::span<const std::uint8_t> payload);
std::vector<CounterRecord> parse_counters(std::span<const std::uint8_t> payload);

struct Footer {
  FooterRecord record{};
  std::vector<CounterRecord> counters;
};
// False if the payload is shorter than it says.
bool parse_footer(std::span<const std::uint8_t> payload, Footer* footer);

// Walks the records of a state block. `record` starts with a StateHeader and is as long as that says.
class StateDecoder {
 public:
  explicit StateDecoder(std::span<const std::uint8_t> payload) : rest_(payload) {}
  bool next(StateKind* kind, std::span<const std::uint8_t>* record);
  bool is_damaged() const { return is_damaged_; }

 private:
  std::span<const std::uint8_t> rest_;
  bool is_damaged_ = false;
};

// The fixed part of a record as `T`, and what follows it; false if the record is too short.
template <typename T>
bool read_state(std::span<const std::uint8_t> record, T* fixed, std::span<const std::uint8_t>* tail = nullptr) {
  if (record.size() < sizeof(T)) return false;
  std::memcpy(fixed, record.data(), sizeof(T));
  if (tail != nullptr) *tail = record.subspan(sizeof(T));
  return true;
}

}  // namespace jaxprof::spool
