// Readings and comparisons of clocks, as the payload of a clock block: sections, each complete in itself.
//   readings: varint 1, varint count, then per row folded varints of what raw, wall - raw and monotonic - raw have
//     grown by since the row before (from 0), and varint bracket
//   burst: varint 2, varint peer, burst, kind, sent, count, then per exchange varint sequence, varint mask of the
//   stamps
//     that it has, and for each of them a folded varint of its difference to the same stamp of the exchange before that
//     had it (from 0)
// A hundred-odd thousand stamps a node-hour are less than 1.5 MB so. Tools only; one thread an object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace jaxprof::spool {

inline constexpr std::size_t kMaxExchanges = 256;  // of a burst

// All clocks of the node read together, in ns; `bracket_ns` is how long that took.
struct ClockReading {
  std::int64_t raw_ns = 0;        // CLOCK_MONOTONIC_RAW
  std::int64_t wall_ns = 0;       // CLOCK_REALTIME
  std::int64_t monotonic_ns = 0;  // CLOCK_MONOTONIC
  std::uint32_t bracket_ns = 0;
  bool operator==(const ClockReading&) const = default;
};

// The stamps of one request and its reply, in the order of time. `raw` ones are CLOCK_MONOTONIC_RAW, read by the
// program; `wall` ones CLOCK_REALTIME, taken by the kernel where the packet leaves or reaches it.
enum class Stamp : std::uint8_t {
  kClientSendRaw = 0,
  kClientSendWall = 1,
  kServerReceiveWall = 2,
  kServerReceiveRaw = 3,
  kServerSendRaw = 4,
  kServerSendWall = 5,
  kClientReceiveWall = 6,
  kClientReceiveRaw = 7,
};
inline constexpr std::size_t kStampCount = 8;
inline constexpr std::int64_t kNoStamp = INT64_MIN;  // not taken

struct ProbeExchange {
  std::uint32_t sequence = 0;  // of the request in its burst, from 0
  std::array<std::int64_t, kStampCount> stamps_ns = {kNoStamp, kNoStamp, kNoStamp, kNoStamp,
                                                     kNoStamp, kNoStamp, kNoStamp, kNoStamp};
  std::int64_t& at(Stamp stamp) { return stamps_ns[static_cast<std::size_t>(stamp)]; }
  std::int64_t at(Stamp stamp) const { return stamps_ns[static_cast<std::size_t>(stamp)]; }
  bool has(Stamp stamp) const { return at(stamp) != kNoStamp; }
  bool operator==(const ProbeExchange&) const = default;
};

// Why a burst was made.
enum class BurstKind : std::uint8_t {
  kStart = 1,  // the first between the two
  kPeriodic = 2,
  kStep = 3,  // the wall clock or the clock source was seen to change
  kEnd = 4,
};

// What one node, the client, learnt of another's clock in a moment. Exchanges that were answered, by sequence.
struct ProbeBurst {
  std::uint32_t peer = 0;   // ClockPeerState: the server
  std::uint32_t burst = 0;  // counts over all peers
  BurstKind kind = BurstKind::kPeriodic;
  std::uint32_t sent = 0;  // requests
  std::vector<ProbeExchange> exchanges;
  bool operator==(const ProbeBurst&) const = default;
};

// Both append one section, at most 64 + 40 bytes a reading or 64 + 100 bytes an exchange; nothing if there are none of
// them (a burst without an answer is a section all the same).
void append_readings(std::span<const ClockReading> readings, std::vector<std::uint8_t>* payload);
void append_burst(const ProbeBurst& burst, std::vector<std::uint8_t>* payload);

struct ClockVisitor {
  std::function<void(const ClockReading&)> reading;
  std::function<void(const ProbeBurst&)> burst;
};
// False if the payload is damaged: what was decoded before has been visited.
bool decode_clock_block(std::span<const std::uint8_t> payload, const ClockVisitor& visit);

}  // namespace jaxprof::spool
