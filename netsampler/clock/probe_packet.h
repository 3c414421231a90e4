// The packet of clock probes, `jpclk/1`: 96 bytes whatever it says, so that no answer is larger than its question and
// nothing has to be parsed. Little endian. A request and its reply make an exchange: the client's stamps of it never
// leave the client, the server's come back in the reply. When the kernel has sent a reply is known only after that, so
// this stamp travels in the next reply, and a follow-up fetches the last one.
//
//   0 u32 magic   4 u8 version   5 u8 type   6 u16 0   8 u64 source   16 u64 destination
//   24 u32 burst   28 u16 sequence   30 u16 previous   32 u64 nonce
//   40 i64 client_raw   48 i64 server_receive_raw   56 i64 server_receive_wall   64 i64 server_send_raw
//   72 i64 previous_send_wall   80 u8[16] MAC of all before it (packet_mac.h)
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "agent/spool/clock_codec.h"

namespace jaxprof::netsampler {

inline constexpr std::size_t kPacketBytes = 96;
inline constexpr std::size_t kMacBytes = 16;
inline constexpr std::uint32_t kPacketMagic = 0x4b4c434a;  // "JCLK"
inline constexpr std::uint8_t kPacketVersion = 1;
inline constexpr std::uint16_t kNoSequence = 0xffff;

using PacketBytes = std::array<std::uint8_t, kPacketBytes>;

enum class PacketType : std::uint8_t {
  kRequest = 1,
  kReply = 2,
  kFollowUp = 3,  // asks for previous_send_wall alone
  kFollowUpReply = 4,
};

constexpr PacketType reply_type(PacketType question) {
  return question == PacketType::kFollowUp ? PacketType::kFollowUpReply : PacketType::kReply;
}

// Times are in ns, spool::kNoStamp where there is none. `raw` is CLOCK_MONOTONIC_RAW of the node, `wall` its kernel's
// CLOCK_REALTIME.
struct ProbePacket {
  PacketType type = PacketType::kRequest;
  std::uint64_t source = 0;  // clock_node_id() of the sender
  std::uint64_t destination = 0;
  std::uint32_t burst = 0;                       // the client's count
  std::uint16_t sequence = 0;                    // in the burst; kNoSequence: a follow-up
  std::uint16_t previous = kNoSequence;          // of replies: whose previous_send_wall_ns this is
  std::uint64_t nonce = 0;                       // the client's, for one packet; echoed
  std::int64_t client_raw_ns = spool::kNoStamp;  // when the client made the request, later than all before it; echoed
  std::int64_t server_receive_raw_ns = spool::kNoStamp;
  std::int64_t server_receive_wall_ns = spool::kNoStamp;
  std::int64_t server_send_raw_ns = spool::kNoStamp;
  std::int64_t previous_send_wall_ns = spool::kNoStamp;
  bool operator==(const ProbePacket&) const = default;

  bool is_question() const { return type == PacketType::kRequest || type == PacketType::kFollowUp; }
};

// With zeros for the MAC.
PacketBytes encode_packet(const ProbePacket& packet);
// Nothing if size, magic, version, type or the two zeros are others. Does not look at the MAC.
std::optional<ProbePacket> decode_packet(std::span<const std::uint8_t> bytes);

}  // namespace jaxprof::netsampler
