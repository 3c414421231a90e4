#include "netsampler/clock/packet_mac.h"

#include <sodium.h>

#include <algorithm>

namespace jaxprof::netsampler {

PacketMac::PacketMac(const ClockToken& token, const std::string& run_id) : key_{} {
  [[maybe_unused]] const int is_ready = sodium_init();  // chooses the fastest code; without it BLAKE2b is right too
  crypto_generichash(key_.data(), key_.size(), reinterpret_cast<const std::uint8_t*>(run_id.data()), run_id.size(),
                     token.data(), token.size());
}

PacketMac::~PacketMac() {
  sodium_memzero(key_.data(), key_.size());
}

std::array<std::uint8_t, kMacBytes> PacketMac::mac_of(const PacketBytes& bytes) const {
  std::array<std::uint8_t, kMacBytes> mac{};
  crypto_generichash(mac.data(), mac.size(), bytes.data(), kPacketBytes - kMacBytes, key_.data(), key_.size());
  return mac;
}

void PacketMac::seal(PacketBytes* bytes) const {
  const auto mac = mac_of(*bytes);
  std::copy(mac.begin(), mac.end(), bytes->end() - kMacBytes);
}

bool PacketMac::is_right(const PacketBytes& bytes) const {
  const auto mac = mac_of(bytes);
  return sodium_memcmp(mac.data(), bytes.data() + kPacketBytes - kMacBytes, kMacBytes) == 0;
}

}  // namespace jaxprof::netsampler
