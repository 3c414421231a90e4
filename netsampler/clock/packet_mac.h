// Tells packets of the run from all others. The port can be reached by whoever is on the cluster's network; a packet
// counts only with a MAC that needs the run's token: BLAKE2b with a key that token and run make together, 16 bytes over
// all before them. Stamps are not secret, so nothing is encrypted.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "netsampler/clock/clock_token.h"
#include "netsampler/clock/probe_packet.h"

namespace jaxprof::netsampler {

class PacketMac {
 public:
  PacketMac(const ClockToken& token, const std::string& run_id);
  ~PacketMac();
  PacketMac(const PacketMac&) = delete;
  PacketMac& operator=(const PacketMac&) = delete;

  // Writes the last 16 bytes.
  void seal(PacketBytes* bytes) const;
  // Takes the same time for every wrong MAC.
  bool is_right(const PacketBytes& bytes) const;

 private:
  std::array<std::uint8_t, kMacBytes> mac_of(const PacketBytes& bytes) const;

  std::array<std::uint8_t, 32> key_;
};

}  // namespace jaxprof::netsampler
