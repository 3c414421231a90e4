#include "netsampler/clock/sent_packets.h"

namespace jaxprof::netsampler {

void SentPackets::note(const SentPacket& packet, std::int64_t wall_ns) {
  Place& place = places_[next_number_ % kKept];
  if (!place.is_waiting) ++n_waiting_;
  place = {true, next_number_, wall_ns, packet};
  ++next_number_;
}

std::optional<SentPacket> SentPackets::pair(std::uint32_t number, std::int64_t stamp_wall_ns) {
  Place& place = places_[number % kKept];
  if (!place.is_waiting || place.number != number || stamp_wall_ns < place.wall_ns) return std::nullopt;
  place.is_waiting = false;
  --n_waiting_;
  return place.packet;
}

void SentPackets::restart() {
  *this = {};
}

}  // namespace jaxprof::netsampler
