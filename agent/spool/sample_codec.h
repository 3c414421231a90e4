// Samples of counters and gauges, as the payload of a samples block: sections, each of one stream (node_record.h).
//   varint stream, varint chain, varint column count, varint partial count, varint row count, varint bytes of the rows,
//   then per row: varint (flags << 2 | same mask << 1 | partial), folded varint (stamp - previous stamp - its
//   difference before), varint read time in us, unless "same mask" the mask of the columns that are not as foretold,
//   (count + 7) / 8 bytes, and for each of them a folded varint of how much.
// A column is foretold to grow as it did last time, so that steady and idle counters cost next to nothing. What was
// last goes over from section to section: chain counts them from 0, which starts anew, and whoever misses one goes on
// at the next 0. All arithmetic is modulo 2^64. Tools only; one thread an object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace jaxprof::spool {

inline constexpr std::uint64_t kMissingSample = UINT64_MAX;  // a value that could not be read
inline constexpr std::size_t kMaxSampleColumns = 4096;

struct SampleRow {
  std::uint64_t stamp = 0;    // event clock, before the read began
  std::uint32_t read_us = 0;  // how long it took, rounded up
  std::uint32_t flags = 0;    // SampleFlag; 30 bits
  bool is_partial = false;    // the first `partial_count` columns only
  std::span<const std::uint64_t> values;
};

// What the next row of a stream is foretold from: the last value of each column and how much it grew.
class SampleHistory {
 public:
  void restart(std::size_t column_count);

  std::uint64_t foretold_stamp() const { return stamp_ + stamp_step_; }
  std::uint64_t foretold(std::size_t column) const { return columns_[column].value + columns_[column].step; }
  // True if a row of that kind with that mask follows one like it.
  bool is_like_last(bool is_partial, std::span<const std::uint8_t> mask) const;
  std::span<const std::uint8_t> last_mask(bool is_partial) const;  // empty if the last row was of the other kind

  void note(std::size_t column, std::uint64_t value);
  void note_row(std::uint64_t stamp, bool is_partial, std::span<const std::uint8_t> mask);

 private:
  struct Column {
    std::uint64_t value = 0;
    std::uint64_t step = 0;
    bool is_known = false;
  };

  std::vector<Column> columns_;
  std::uint64_t stamp_ = 0;
  std::uint64_t stamp_step_ = 0;
  bool has_row_ = false;
  bool is_partial_ = false;
  std::vector<std::uint8_t> mask_;
};

// Encodes one stream.
class SampleEncoder {
 public:
  // partial_count <= column_count <= kMaxSampleColumns
  SampleEncoder(std::uint32_t stream, std::size_t column_count, std::size_t partial_count);
  // `row.values` has as many elements as its kind of row has columns.
  void add(const SampleRow& row);
  std::size_t row_count() const { return row_count_; }
  // append_section() appends no more than this.
  std::size_t max_section_bytes() const { return rows_.size() + 64; }
  // Appends a section with all rows added since the last one; nothing if there are none.
  void append_section(std::vector<std::uint8_t>* payload);
  // The next section is a new beginning. What a reader loses by a damaged block ends there, so once in ten seconds is
  // fair. To be called between append_section() and add().
  void restart();

 private:
  std::uint32_t stream_;
  std::size_t column_count_;
  std::size_t partial_count_;
  std::uint64_t chain_ = 0;
  std::size_t row_count_ = 0;
  std::vector<std::uint8_t> rows_;
  std::vector<std::uint8_t> mask_;
  SampleHistory history_;
};

// Decodes the samples blocks of one spool, in their order.
class SampleDecoder {
 public:
  // `values` of the row live as long as the call.
  using Visit = std::function<void(std::uint32_t stream, const SampleRow& row)>;
  // False if the payload is damaged: what was decoded before has been visited.
  bool decode(std::span<const std::uint8_t> payload, const Visit& visit);
  // Sections left out, because one before them is missing or damaged.
  std::uint64_t skipped_sections() const { return skipped_sections_; }

 private:
  struct Stream {
    SampleHistory history;
    std::uint64_t next_chain = 0;  // 0: only a new beginning will do
    std::size_t column_count = 0;
    std::size_t partial_count = 0;
  };
  struct Section {
    std::uint64_t stream, chain, column_count, partial_count, row_count, row_bytes;
  };
  static bool is_sound(const Section& section, std::size_t bytes_left);
  // The stream's state, ready for the section; null if the section cannot be decoded, for one before it is missing.
  Stream* follow(const Section& section);
  bool decode_rows(const Section& section, Stream* stream, std::span<const std::uint8_t> rows, const Visit& visit);

  std::map<std::uint32_t, Stream> streams_;
  std::uint64_t skipped_sections_ = 0;
  std::vector<std::uint64_t> values_;
  std::vector<std::uint8_t> mask_;
};

}  // namespace jaxprof::spool
