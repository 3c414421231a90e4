#include "agent/spool/sample_codec.h"

#include <algorithm>

#include "agent/spool/varint.h"

namespace jaxprof::spool {
namespace {

constexpr std::uint64_t kPartialBit = 1;
constexpr std::uint64_t kSameMaskBit = 2;
constexpr unsigned kFlagShift = 2;

void put(std::vector<std::uint8_t>* to, std::uint64_t value) {
  std::uint8_t bytes[kMaxVarintBytes];
  to->insert(to->end(), bytes, put_varint(bytes, value));
}

std::uint64_t fold_difference(std::uint64_t value, std::uint64_t foretold) {
  return fold_sign(static_cast<std::int64_t>(value - foretold));
}

std::uint64_t unfold_difference(std::uint64_t folded, std::uint64_t foretold) {
  return foretold + static_cast<std::uint64_t>(unfold_sign(folded));
}

std::size_t mask_bytes(std::size_t column_count) {
  return (column_count + 7) / 8;
}

void set_bit(std::vector<std::uint8_t>* mask, std::size_t i) {
  (*mask)[i / 8] = static_cast<std::uint8_t>((*mask)[i / 8] | 1U << (i % 8));
}

bool has_bit(std::span<const std::uint8_t> mask, std::size_t i) {
  return (mask[i / 8] >> (i % 8) & 1) != 0;
}

// Bytes that may come from anywhere.
struct Cursor {
  const std::uint8_t* at;
  const std::uint8_t* end;

  std::size_t left() const { return static_cast<std::size_t>(end - at); }
  bool read(std::uint64_t* value) {
    const std::uint8_t* next = get_varint(at, end, value);
    if (next == nullptr) return false;
    at = next;
    return true;
  }
};

}  // namespace

void SampleHistory::restart(std::size_t column_count) {
  columns_.assign(column_count, Column{});
  stamp_ = stamp_step_ = 0;
  has_row_ = false;
  mask_.clear();
}

std::span<const std::uint8_t> SampleHistory::last_mask(bool is_partial) const {
  return has_row_ && is_partial_ == is_partial ? std::span<const std::uint8_t>(mask_) : std::span<const std::uint8_t>();
}

bool SampleHistory::is_like_last(bool is_partial, std::span<const std::uint8_t> mask) const {
  const std::span<const std::uint8_t> last = last_mask(is_partial);
  return !last.empty() && std::equal(last.begin(), last.end(), mask.begin(), mask.end());
}

// The first value has nothing to have grown from.
void SampleHistory::note(std::size_t column, std::uint64_t value) {
  Column& last = columns_[column];
  last.step = last.is_known ? value - last.value : 0;
  last.value = value;
  last.is_known = true;
}

void SampleHistory::note_row(std::uint64_t stamp, bool is_partial, std::span<const std::uint8_t> mask) {
  stamp_step_ = has_row_ ? stamp - stamp_ : 0;
  stamp_ = stamp;
  has_row_ = true;
  is_partial_ = is_partial;
  mask_.assign(mask.begin(), mask.end());
}

SampleEncoder::SampleEncoder(std::uint32_t stream, std::size_t column_count, std::size_t partial_count)
    : stream_(stream), column_count_(column_count), partial_count_(partial_count) {
  history_.restart(column_count_);
}

void SampleEncoder::restart() {
  chain_ = 0;
  history_.restart(column_count_);
}

void SampleEncoder::add(const SampleRow& row) {
  const std::size_t count = row.is_partial ? partial_count_ : column_count_;
  mask_.assign(mask_bytes(count), 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (row.values[i] != history_.foretold(i)) set_bit(&mask_, i);
  }
  const bool is_same_mask = history_.is_like_last(row.is_partial, mask_);
  put(&rows_,
      std::uint64_t{row.flags} << kFlagShift | (is_same_mask ? kSameMaskBit : 0) | (row.is_partial ? kPartialBit : 0));
  put(&rows_, fold_difference(row.stamp, history_.foretold_stamp()));
  put(&rows_, row.read_us);
  if (!is_same_mask) rows_.insert(rows_.end(), mask_.begin(), mask_.end());
  for (std::size_t i = 0; i < count; ++i) {
    if (has_bit(mask_, i)) put(&rows_, fold_difference(row.values[i], history_.foretold(i)));
    history_.note(i, row.values[i]);
  }
  history_.note_row(row.stamp, row.is_partial, mask_);
  ++row_count_;
}

void SampleEncoder::append_section(std::vector<std::uint8_t>* payload) {
  if (row_count_ == 0) return;
  put(payload, stream_);
  put(payload, chain_++);
  put(payload, column_count_);
  put(payload, partial_count_);
  put(payload, row_count_);
  put(payload, rows_.size());
  payload->insert(payload->end(), rows_.begin(), rows_.end());
  rows_.clear();
  row_count_ = 0;
}

bool SampleDecoder::is_sound(const Section& section, std::size_t bytes_left) {
  return section.stream <= UINT32_MAX && section.column_count <= kMaxSampleColumns &&
         section.partial_count <= section.column_count && section.row_bytes <= bytes_left &&
         section.row_count <= section.row_bytes;
}

SampleDecoder::Stream* SampleDecoder::follow(const Section& section) {
  Stream& stream = streams_[static_cast<std::uint32_t>(section.stream)];
  if (section.chain == 0) {
    stream.column_count = section.column_count;
    stream.partial_count = section.partial_count;
    stream.history.restart(stream.column_count);
  } else if (section.chain != stream.next_chain || section.column_count != stream.column_count ||
             section.partial_count != stream.partial_count) {
    stream.next_chain = 0;
    return nullptr;
  }
  stream.next_chain = section.chain + 1;
  return &stream;
}

bool SampleDecoder::decode(std::span<const std::uint8_t> payload, const Visit& visit) {
  Cursor cursor{payload.data(), payload.data() + payload.size()};
  while (cursor.left() > 0) {
    Section section{};
    for (std::uint64_t* word : {&section.stream, &section.chain, &section.column_count, &section.partial_count,
                                &section.row_count, &section.row_bytes}) {
      if (!cursor.read(word)) return false;
    }
    if (!is_sound(section, cursor.left())) return false;
    const std::span<const std::uint8_t> rows(cursor.at, section.row_bytes);
    cursor.at += section.row_bytes;
    Stream* stream = follow(section);
    if (stream == nullptr) {
      ++skipped_sections_;
    } else if (!decode_rows(section, stream, rows, visit)) {
      stream->next_chain = 0;
      return false;
    }
  }
  return true;
}

bool SampleDecoder::decode_rows(const Section& section, Stream* stream, std::span<const std::uint8_t> rows,
                                const Visit& visit) {
  Cursor cursor{rows.data(), rows.data() + rows.size()};
  for (std::uint64_t i = 0; i < section.row_count; ++i) {
    std::uint64_t head = 0;
    std::uint64_t stamp = 0;
    std::uint64_t read_us = 0;
    if (!cursor.read(&head) || head >> kFlagShift > UINT32_MAX || !cursor.read(&stamp) || !cursor.read(&read_us) ||
        read_us > UINT32_MAX) {
      return false;
    }
    SampleRow row;
    row.is_partial = (head & kPartialBit) != 0;
    row.flags = static_cast<std::uint32_t>(head >> kFlagShift);
    row.read_us = static_cast<std::uint32_t>(read_us);
    row.stamp = unfold_difference(stamp, stream->history.foretold_stamp());
    const std::size_t count = row.is_partial ? stream->partial_count : stream->column_count;
    if ((head & kSameMaskBit) != 0) {
      const std::span<const std::uint8_t> last = stream->history.last_mask(row.is_partial);
      if (last.size() != mask_bytes(count)) return false;
      mask_.assign(last.begin(), last.end());
    } else {
      if (cursor.left() < mask_bytes(count)) return false;
      mask_.assign(cursor.at, cursor.at + mask_bytes(count));
      cursor.at += mask_bytes(count);
    }
    values_.resize(count);
    for (std::size_t column = 0; column < count; ++column) {
      std::uint64_t difference = 0;
      if (has_bit(mask_, column) && !cursor.read(&difference)) return false;
      values_[column] = unfold_difference(difference, stream->history.foretold(column));
      stream->history.note(column, values_[column]);
    }
    stream->history.note_row(row.stamp, row.is_partial, mask_);
    row.values = values_;
    visit(static_cast<std::uint32_t>(section.stream), row);
  }
  return cursor.left() == 0;
}

}  // namespace jaxprof::spool
