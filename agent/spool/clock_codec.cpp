#include "agent/spool/clock_codec.h"

#include <algorithm>

#include "agent/spool/varint.h"

namespace jaxprof::spool {
namespace {

enum Section : std::uint64_t { kReadings = 1, kBurst = 2 };

void put(std::vector<std::uint8_t>* to, std::uint64_t value) {
  std::uint8_t bytes[kMaxVarintBytes];
  to->insert(to->end(), bytes, put_varint(bytes, value));
}

// Modulo 2^64, so that no pair of values is too far apart.
std::int64_t difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// A value that is stored as its growth.
class Growing {
 public:
  void put_next(std::int64_t value, std::vector<std::uint8_t>* to) {
    put(to, fold_sign(difference(value, last_)));
    last_ = value;
  }
  std::int64_t next(std::uint64_t folded) {
    last_ = sum(last_, unfold_sign(folded));
    return last_;
  }

 private:
  std::int64_t last_ = 0;
};

// The columns of a reading that are stored.
struct ReadingColumns {
  Growing raw;
  Growing wall_lead;
  Growing monotonic_lead;
};

// Bytes that may come from anywhere.
class Cursor {
 public:
  explicit Cursor(std::span<const std::uint8_t> bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  bool read(std::uint64_t* value) {
    const std::uint8_t* next = get_varint(at_, end_, value);
    if (next == nullptr) return false;
    at_ = next;
    return true;
  }
  bool read_below(std::uint64_t limit, std::uint64_t* value) { return read(value) && *value < limit; }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

constexpr std::uint64_t kWordLimit = std::uint64_t{1} << 32;

bool decode_reading(Cursor* cursor, ReadingColumns* columns, ClockReading* reading) {
  std::uint64_t raw = 0;
  std::uint64_t wall = 0;
  std::uint64_t monotonic = 0;
  std::uint64_t bracket = 0;
  if (!cursor->read(&raw) || !cursor->read(&wall) || !cursor->read(&monotonic) ||
      !cursor->read_below(kWordLimit, &bracket)) {
    return false;
  }
  reading->raw_ns = columns->raw.next(raw);
  reading->wall_ns = sum(reading->raw_ns, columns->wall_lead.next(wall));
  reading->monotonic_ns = sum(reading->raw_ns, columns->monotonic_lead.next(monotonic));
  reading->bracket_ns = static_cast<std::uint32_t>(bracket);
  return true;
}

bool decode_readings(Cursor* cursor, const ClockVisitor& visit) {
  std::uint64_t count = 0;
  if (!cursor->read(&count)) return false;
  ReadingColumns columns;
  for (ClockReading reading; count > 0; --count) {
    if (!decode_reading(cursor, &columns, &reading)) return false;
    if (visit.reading) visit.reading(reading);
  }
  return true;
}

bool decode_exchange(Cursor* cursor, std::array<Growing, kStampCount>* columns, ProbeExchange* exchange) {
  std::uint64_t sequence = 0;
  std::uint64_t mask = 0;
  if (!cursor->read_below(kWordLimit, &sequence) || !cursor->read_below(1U << kStampCount, &mask)) return false;
  exchange->sequence = static_cast<std::uint32_t>(sequence);
  for (std::size_t i = 0; i < kStampCount; ++i) {
    if ((mask >> i & 1) == 0) continue;
    std::uint64_t growth = 0;
    if (!cursor->read(&growth)) return false;
    exchange->stamps_ns[i] = (*columns)[i].next(growth);
  }
  return true;
}

bool decode_burst(Cursor* cursor, const ClockVisitor& visit) {
  std::uint64_t peer = 0;
  std::uint64_t number = 0;
  std::uint64_t kind = 0;
  std::uint64_t sent = 0;
  std::uint64_t count = 0;
  if (!cursor->read_below(kWordLimit, &peer) || !cursor->read_below(kWordLimit, &number) ||
      !cursor->read_below(256, &kind) || !cursor->read_below(kWordLimit, &sent) ||
      !cursor->read_below(kMaxExchanges + 1, &count)) {
    return false;
  }
  ProbeBurst burst{static_cast<std::uint32_t>(peer), static_cast<std::uint32_t>(number), static_cast<BurstKind>(kind),
                   static_cast<std::uint32_t>(sent), std::vector<ProbeExchange>(count)};
  std::array<Growing, kStampCount> columns;
  for (ProbeExchange& exchange : burst.exchanges) {
    if (!decode_exchange(cursor, &columns, &exchange)) return false;
  }
  if (visit.burst) visit.burst(burst);
  return true;
}

}  // namespace

void append_readings(std::span<const ClockReading> readings, std::vector<std::uint8_t>* payload) {
  if (readings.empty()) return;
  put(payload, kReadings);
  put(payload, readings.size());
  ReadingColumns columns;
  for (const ClockReading& reading : readings) {
    columns.raw.put_next(reading.raw_ns, payload);
    columns.wall_lead.put_next(difference(reading.wall_ns, reading.raw_ns), payload);
    columns.monotonic_lead.put_next(difference(reading.monotonic_ns, reading.raw_ns), payload);
    put(payload, reading.bracket_ns);
  }
}

void append_burst(const ProbeBurst& burst, std::vector<std::uint8_t>* payload) {
  put(payload, kBurst);
  put(payload, burst.peer);
  put(payload, burst.burst);
  put(payload, static_cast<std::uint64_t>(burst.kind));
  put(payload, burst.sent);
  const std::size_t count = std::min(burst.exchanges.size(), kMaxExchanges);
  put(payload, count);
  std::array<Growing, kStampCount> columns;
  for (const ProbeExchange& exchange : std::span(burst.exchanges).first(count)) {
    put(payload, exchange.sequence);
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < kStampCount; ++i) mask |= std::uint64_t{exchange.stamps_ns[i] != kNoStamp} << i;
    put(payload, mask);
    for (std::size_t i = 0; i < kStampCount; ++i) {
      if ((mask >> i & 1) != 0) columns[i].put_next(exchange.stamps_ns[i], payload);
    }
  }
}

bool decode_clock_block(std::span<const std::uint8_t> payload, const ClockVisitor& visit) {
  Cursor cursor(payload);
  while (cursor.left() > 0) {
    std::uint64_t section = 0;
    if (!cursor.read(&section)) return false;
    const bool is_whole = section == kReadings ? decode_readings(&cursor, visit)
                          : section == kBurst  ? decode_burst(&cursor, visit)
                                               : false;
    if (!is_whole) return false;
  }
  return true;
}

}  // namespace jaxprof::spool
