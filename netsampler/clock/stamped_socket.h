// A UDP socket whose packets the kernel stamps where they come in and go out (SO_TIMESTAMPING, software: no privilege
// and no card is needed for it). The stamp of a sent packet comes later, by the socket's error queue; poll(2) says
// POLLERR for as long as one lies there, so that who does not read it never sleeps again. Where the kernel gives no
// stamps everything else is the same. Never waits. One thread.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "agent/base/result.h"
#include "agent/base/unique_fd.h"
#include "netsampler/clock/peer_address.h"
#include "netsampler/clock/probe_packet.h"
#include "netsampler/clock/sent_packets.h"

namespace jaxprof::netsampler {

// CLOCK_MONOTONIC_RAW in ns.
using RawClock = std::function<std::int64_t()>;

struct ReceivedPacket {
  std::array<std::uint8_t, kPacketBytes + 1> bytes{};
  std::size_t n_bytes = 0;  // kPacketBytes + 1 of a longer one
  PeerAddress source;
  PeerAddress own;  // which of our addresses it was sent to
  std::int64_t raw_ns = 0;
  std::int64_t wall_ns = spool::kNoStamp;
  std::span<const std::uint8_t> content() const { return {bytes.data(), n_bytes}; }
};

class StampedSocket {
 public:
  // Bound to `address` and its port (0: any). Any address takes v4 and v6 both. Nothing if the port is taken;
  // kNodeNotReady with the reason if there is no such socket to be had.
  static Result<std::optional<StampedSocket>> open(const PeerAddress& address, bool wants_stamps, RawClock raw_ns);

  int fd() const { return fd_.get(); }
  std::uint16_t port() const { return own_address_.port; }
  // With the port; the loop-back address of a socket that has any.
  const PeerAddress& own_address() const { return own_address_; }
  // spool::StampKind bits that the kernel has given so far.
  std::uint32_t stamps() const { return stamps_; }
  // A packet's stamp has not come yet.
  bool is_waiting() const { return sent_.is_waiting(); }

  // From our address `own` if the socket has any. False if the kernel did not take it.
  bool send(const PacketBytes& bytes, const PeerAddress& to, const PeerAddress& own, const SentPacket& packet);
  // False if there is none.
  bool receive(ReceivedPacket* packet);
  // Empties the error queue. Gives back how many stamps belonged to no packet.
  std::uint64_t read_stamps(const std::function<void(const SentPacket&, std::int64_t wall_ns)>& take);

 private:
  StampedSocket(UniqueFd fd, bool is_v4, bool is_any, bool wants_stamps, RawClock raw_ns);

  bool ask_for_stamps(bool of_sent_ones);
  void distrust_numbers();
  void trust_numbers_again();

  UniqueFd fd_;
  bool is_v4_;
  bool is_any_;
  RawClock raw_ns_;
  PeerAddress own_address_;
  std::uint32_t stamps_ = 0;
  SentPackets sent_;
  bool has_sent_stamps_ = false;  // the kernel was asked for them, and its numbers are known
  std::optional<std::int64_t> untrusted_until_raw_ns_;
};

}  // namespace jaxprof::netsampler
