#include "netsampler/clock/own_stamps.h"

#include <poll.h>
#include <sodium.h>

#include <algorithm>

#include "agent/base/clocks.h"

namespace jaxprof::netsampler {
namespace {

constexpr std::int64_t kPatienceNs = 50'000'000;

}  // namespace

void find_own_stamps(StampedSocket* socket) {
  PacketBytes sent{};
  randombytes_buf(sent.data(), sent.size());
  if (!socket->send(sent, socket->own_address(), {}, {})) return;
  const std::int64_t end_ns = clock_ns(CLOCK_MONOTONIC) + kPatienceNs;
  bool is_received = false;
  ReceivedPacket packet;
  while (!is_received || socket->is_waiting()) {
    const std::int64_t left_ns = end_ns - clock_ns(CLOCK_MONOTONIC);
    if (left_ns <= 0) return;
    pollfd poll_fd{socket->fd(), POLLIN, 0};
    const timespec left{0, left_ns};
    if (ppoll(&poll_fd, 1, &left, nullptr) <= 0) return;
    socket->read_stamps({});
    while (socket->receive(&packet)) {
      is_received =
          is_received || std::equal(sent.begin(), sent.end(), packet.content().begin(), packet.content().end());
    }
  }
}

}  // namespace jaxprof::netsampler
