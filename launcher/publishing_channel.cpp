#include "launcher/publishing_channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>

namespace jaxprof::launcher {
namespace {

struct Request {
  bool has_ended = false;  // false: hurry
  EndedJob job;
};

constexpr char kLine = 'L';
constexpr char kDone = 'D';
constexpr std::size_t kMostLineBytes = 8192;

void send_packet(int socket, const void* bytes, std::size_t length) {
  // An end that is gone, or has not read for long, is found out by its silence.
  if (send(socket, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return;
}

bool has_packet(int socket, std::int64_t ns) {
  pollfd ready{socket, POLLIN, 0};
  return poll(&ready, 1, static_cast<int>(std::min<std::int64_t>((ns + 999'999) / 1'000'000, 60'000))) > 0;
}

}  // namespace

void PublishingRequests::wait(std::int64_t ns) {
  for (Request request; has_packet(socket_.get(), ns); ns = 0) {
    const ssize_t length = recv(socket_.get(), &request, sizeof request, MSG_DONTWAIT);
    if (length != static_cast<ssize_t>(sizeof request)) return;  // the wrapper is gone, and with it this process
    if (request.has_ended) ended_job_ = request.job;
    is_hurried_ = is_hurried_ || !request.has_ended;
  }
}

void PublishingRequests::send_line(const std::string& line) const {
  const std::string packet = kLine + line.substr(0, kMostLineBytes);
  send_packet(socket_.get(), packet.data(), packet.size());
}

void PublishingRequests::send_done() const {
  send_packet(socket_.get(), &kDone, sizeof kDone);
}

void PublishingReplies::send_hurry() const {
  const Request request;
  send_packet(socket_.get(), &request, sizeof request);
}

void PublishingReplies::send_ended_job(const EndedJob& job) const {
  const Request request{true, job};
  send_packet(socket_.get(), &request, sizeof request);
}

PublishingReplies::Reply PublishingReplies::wait(std::int64_t ns) const {
  if (!has_packet(socket_.get(), ns)) return {};
  char packet[1 + kMostLineBytes];
  const ssize_t length = recv(socket_.get(), packet, sizeof packet, MSG_DONTWAIT);
  if (length <= 0) return {Kind::kGone, ""};
  if (packet[0] == kDone) return {Kind::kDone, ""};
  return {Kind::kLine, std::string(packet + 1, static_cast<std::size_t>(length) - 1)};
}

std::pair<UniqueFd, UniqueFd> make_publishing_sockets() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return {};
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace jaxprof::launcher
