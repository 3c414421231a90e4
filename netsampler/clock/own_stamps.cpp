#include "netsampler/clock/own_stamps.h"

#include <poll.h>
#include <sodium.h>

#include <algorithm>
#include <ctime>

#include "agent/base/clocks.h"
#include "agent/spool/clock_record.h"

namespace jaxprof::netsampler {
namespace {

constexpr std::int64_t kPatienceNs = 50'000'000;
constexpr timespec kWait{0, 2'000'000};   // for a packet to come
constexpr timespec kPause{0, 1'000'000};  // for the kernel to begin
constexpr std::uint32_t kBoth = spool::kStampReceive | spool::kStampSend;

}  // namespace

bool find_own_stamps(StampedSocket* socket) {
  PacketBytes bytes{};
  randombytes_buf(bytes.data(), bytes.size());
  const std::int64_t end_ns = clock_ns(CLOCK_MONOTONIC) + kPatienceNs;
  ReceivedPacket packet;
  bool is_back = false;
  while (socket->send(bytes, socket->own_address(), {}, {})) {
    pollfd poll_fd{socket->fd(), POLLIN, 0};
    ppoll(&poll_fd, 1, &kWait, nullptr);
    socket->read_stamps({});
    while (socket->receive(&packet)) {
      is_back = is_back || std::ranges::equal(packet.content(), bytes);
    }
    if (socket->stamps() == kBoth || clock_ns(CLOCK_MONOTONIC) >= end_ns) break;
    clock_nanosleep(CLOCK_MONOTONIC, 0, &kPause, nullptr);
  }
  return is_back;
}

}  // namespace jaxprof::netsampler
