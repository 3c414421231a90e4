// delay_relay INTERFACE ADDRESS DELAY_NS: a stretch of network whose one direction takes longer. Makes the TUN device
// INTERFACE, and sends each IPv4 packet that is routed into it back out of it: those to ADDRESS after DELAY_NS, all
// others at once. Who routes what through it, it does not know. The scheduler is too coarse for microseconds, so it
// waits for a packet's time with the processor in its hands. Prints a line once the device is there; ends by a signal.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <vector>

namespace {

constexpr std::size_t kMostBytes = 2048;
constexpr std::size_t kDestination = 16;  // in an IPv4 header
constexpr std::size_t kHeaderBytes = 20;

struct Packet {
  std::int64_t due_ns = 0;
  std::vector<std::uint8_t> bytes;
};

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

int open_device(const char* name) {
  const int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ifreq request{};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
  if (device < 0 || ioctl(device, TUNSETIFF, &request) != 0) {
    std::perror("delay_relay: /dev/net/tun");
    std::exit(1);
  }
  return device;
}

void put(int device, const std::uint8_t* bytes, std::size_t count) {
  // A packet that the kernel does not take is lost, as on any network.
  if (write(device, bytes, count) < 0) std::perror("delay_relay: write");
}

}  // namespace

int main(int argc, char** argv) {
  in_addr slow{};
  if (argc != 4 || inet_pton(AF_INET, argv[2], &slow) != 1) {
    std::fprintf(stderr, "usage: delay_relay INTERFACE ADDRESS DELAY_NS\n");
    return 2;
  }
  const int device = open_device(argv[1]);
  const std::int64_t delay_ns = std::strtoll(argv[3], nullptr, 10);
  std::printf("ready\n");
  std::fflush(stdout);
  std::deque<Packet> waiting;  // in order of arrival, which is that of their times
  std::array<std::uint8_t, kMostBytes> bytes{};
  for (;;) {
    pollfd readable{device, POLLIN, 0};
    if (waiting.empty()) poll(&readable, 1, -1);
    for (;;) {
      const ssize_t count = read(device, bytes.data(), bytes.size());
      if (count <= 0) break;
      const auto length = static_cast<std::size_t>(count);
      const bool is_slow = length >= kHeaderBytes && memcmp(&bytes[kDestination], &slow, sizeof slow) == 0;
      if (is_slow) {
        waiting.push_back({now_ns() + delay_ns, {bytes.begin(), bytes.begin() + count}});
      } else {
        put(device, bytes.data(), length);
      }
    }
    while (!waiting.empty() && waiting.front().due_ns <= now_ns()) {
      put(device, waiting.front().bytes.data(), waiting.front().bytes.size());
      waiting.pop_front();
    }
  }
}
