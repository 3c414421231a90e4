// Which packet a stamp of the kernel belongs to. The kernel numbers what a socket sends, from 0, and gives the number
// back with the stamp; one number off, and every stamp is that of another packet. So a stamp counts only for a packet
// that still waits for it, and only if it is not older than the packet. A send that failed may have used a number up or
// not: then all is forgotten, and the socket makes the kernel count anew. Works on values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "netsampler/clock/probe_packet.h"

namespace jaxprof::netsampler {

// What a sender has to know of a packet when its stamp comes.
struct SentPacket {
  PacketType type = PacketType::kRequest;
  std::uint64_t destination = 0;
  std::uint32_t burst = 0;
  std::uint16_t sequence = kNoSequence;
  bool operator==(const SentPacket&) const = default;
};

class SentPackets {
 public:
  // The next packet in the kernel's count; it was sent after `wall_ns` of CLOCK_REALTIME. The 64 last ones are kept.
  void note(const SentPacket& packet, std::int64_t wall_ns);
  // Once a packet. Nothing if the number is none of those that wait, or the stamp is older than the packet.
  std::optional<SentPacket> pair(std::uint32_t number, std::int64_t stamp_wall_ns);
  bool is_waiting() const { return n_waiting_ > 0; }
  // Forgets all; the next number is 0.
  void restart();

 private:
  static constexpr std::size_t kKept = 64;
  struct Place {
    bool is_waiting = false;
    std::uint32_t number = 0;
    std::int64_t wall_ns = 0;
    SentPacket packet;
  };

  std::array<Place, kKept> places_{};  // by number
  std::uint32_t next_number_ = 0;
  std::size_t n_waiting_ = 0;
};

}  // namespace jaxprof::netsampler
