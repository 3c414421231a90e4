#include "netsampler/clock/probe_engine.h"

#include <poll.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "agent/base/clocks.h"
#include "netsampler/clock/own_stamps.h"
#include "netsampler/clock/packet_filter.h"
#include "netsampler/clock/packet_mac.h"
#include "netsampler/clock/probe_client.h"
#include "netsampler/clock/probe_server.h"
#include "netsampler/clock/receive_budget.h"

namespace jaxprof::netsampler {
namespace {

constexpr std::size_t kMostQueued = 4096;
constexpr int kPacketsAWake = 32;  // of one socket, before the others have their turn
constexpr std::int64_t kSecondNs = 1'000'000'000;

std::uint64_t random_number() {
  std::uint64_t number = 0;
  randombytes_buf(&number, sizeof number);
  return number;
}

timespec to_timespec(std::int64_t ns) {
  return {static_cast<time_t>(ns / kSecondNs), static_cast<long>(ns % kSecondNs)};
}

}  // namespace

std::uint64_t clock_node_id(const std::string& boot_id, std::uint64_t network_namespace) {
  const std::string name = boot_id + " " + std::to_string(network_namespace);
  std::array<std::uint8_t, crypto_generichash_BYTES_MIN> hash{};
  crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const std::uint8_t*>(name.data()), name.size(), nullptr,
                     0);
  std::uint64_t id = 0;
  for (std::size_t i = 0; i < sizeof id; ++i) id |= static_cast<std::uint64_t>(hash[i]) << (8 * i);
  return id == 0 ? 1 : id;
}

class ProbeEngine::Impl {
 public:
  Impl(const ProbeEngineOptions& options, RawClock raw_ns, std::vector<StampedSocket> sockets, BurstSink on_burst,
       bool hears_itself)
      : raw_ns_(std::move(raw_ns)),
        hears_itself_(hears_itself),
        own_node_(options.node),
        on_burst_(std::move(on_burst)),
        mac_(options.token, options.run_id),
        filter_(mac_, options.node, &counts_),
        server_(&counts_),
        client_(options.node, random_number),
        sockets_(std::move(sockets)),
        budgets_(sockets_.size()),
        poll_fds_(sockets_.size() + 1) {}

  const StampedSocket& server_socket() const { return sockets_.front(); }
  bool hears_itself() const { return hears_itself_; }
  const ProbeCounts& counts() const { return counts_; }
  std::size_t n_pending() const { return queue_.size() + (client_.is_busy() ? 1 : 0); }

  std::uint32_t stamps() const {
    std::uint32_t stamps = 0;
    for (const StampedSocket& socket : sockets_) stamps |= socket.stamps();
    return stamps;
  }

  bool enqueue(const ProbeTarget& target, spool::BurstKind kind, std::uint32_t count) {
    if (queue_.size() >= kMostQueued || target.node == own_node_ || count > spool::kMaxExchanges) return false;
    queue_.push_back({target, kind, count});
    return true;
  }

  void drop(std::uint32_t peer) {
    std::erase_if(queue_, [peer](const QueuedBurst& burst) { return burst.target.peer == peer; });
  }

  void run_until(std::int64_t deadline_ns, int wake_fd) {
    do {
      progress_bursts();
    } while (wait_and_handle(deadline_ns, wake_fd) && raw_ns_() < deadline_ns);
  }

 private:
  struct QueuedBurst {
    ProbeTarget target;
    spool::BurstKind kind;
    std::uint32_t count;
  };

  // Of the burst under way.
  std::size_t client_index() const { return socket_of_burst(client_.burst(), sockets_.size()); }

  // Sends what is due; one burst ends at most, so that a queue of bursts that fail at once keeps nobody.
  void progress_bursts() {
    if (!client_.is_busy()) {
      if (queue_.empty()) return;
      const QueuedBurst burst = queue_.front();
      queue_.pop_front();
      client_.begin(burst.target, burst.kind, n_bursts_++, burst.count);
    }
    const std::size_t index = client_index();
    StampedSocket& socket = sockets_[index];
    if (socket.is_waiting()) read_stamps(&socket);
    // This thread may be what was late, and not the reply.
    if (raw_ns_() >= client_.deadline_raw_ns()) receive_from(index);
    while (const auto question = client_.next(raw_ns_())) {
      if (send(&socket, *question, client_.target().address, {})) return;
      client_.take_send_failure();
    }
    if (const auto burst = client_.take_finished()) on_burst_(*burst);
  }

  bool send(StampedSocket* socket, const ProbePacket& packet, const PeerAddress& to, const PeerAddress& own) {
    PacketBytes bytes = encode_packet(packet);
    mac_.seal(&bytes);
    if (!socket->send(bytes, to, own, {packet.type, packet.destination, packet.burst, packet.sequence})) {
      ++counts_.send_failed;
      return false;
    }
    ++counts_.sent;
    read_stamps(socket);  // mostly it is there already, and poll(2) need not tell
    return true;
  }

  void read_stamps(StampedSocket* socket) {
    counts_.unpaired += socket->read_stamps([this](const SentPacket& sent, std::int64_t wall_ns) {
      if (sent.type == PacketType::kRequest) client_.take_sent_stamp(sent.burst, sent.sequence, wall_ns);
      if (sent.type == PacketType::kReply) {
        server_.take_sent_stamp(sent.destination, sent.burst, sent.sequence, wall_ns);
      }
    });
  }

  // When there is something to do even if nothing comes in.
  std::int64_t next_ns(std::int64_t now_ns, std::int64_t deadline_ns) const {
    if (client_.is_busy()) return std::min(deadline_ns, client_.deadline_raw_ns());
    return queue_.empty() ? deadline_ns : now_ns;
  }

  // False if it is the caller's turn: woken, or a signal.
  bool wait_and_handle(std::int64_t deadline_ns, int wake_fd) {
    const std::int64_t now_ns = raw_ns_();
    std::int64_t until_ns = next_ns(now_ns, deadline_ns);
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
      const bool is_read = budgets_[i].left(now_ns) > 0;
      if (!is_read) until_ns = std::min(until_ns, budgets_[i].end_ns());
      poll_fds_[i] = {sockets_[i].fd(), static_cast<short>(is_read ? POLLIN : 0), 0};
    }
    poll_fds_.back() = {wake_fd, POLLIN, 0};
    const timespec left = to_timespec(until_ns > now_ns ? until_ns - now_ns : 0);
    if (ppoll(poll_fds_.data(), poll_fds_.size(), &left, nullptr) < 0) return false;
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
      if ((poll_fds_[i].revents & POLLERR) != 0) read_stamps(&sockets_[i]);
      if ((poll_fds_[i].revents & POLLIN) != 0) receive_from(i);
    }
    return poll_fds_.back().revents == 0;
  }

  void receive_from(std::size_t index) {
    for (int i = 0; i < kPacketsAWake && budgets_[index].left(raw_ns_()) > 0; ++i) {
      if (!sockets_[index].receive(&received_)) return;
      budgets_[index].use();
      const auto packet = filter_.admit(received_.content(), received_.source, received_.raw_ns);
      if (packet) take(*packet, index);
    }
  }

  void take(const ProbePacket& packet, std::size_t index) {
    if (packet.is_question()) {
      auto reply = server_.answer(packet, received_.raw_ns, received_.wall_ns);
      if (!reply) return;
      reply->server_send_raw_ns = raw_ns_();
      send(&sockets_[index], *reply, received_.source, received_.own);
    } else if (index != client_index() || !client_.take_reply(packet, received_.raw_ns, received_.wall_ns)) {
      ++counts_.unpaired;
    }
  }

  RawClock raw_ns_;
  bool hears_itself_;
  std::uint64_t own_node_;
  BurstSink on_burst_;
  ProbeCounts counts_;
  PacketMac mac_;
  PacketFilter filter_;
  ProbeServer server_;
  ProbeClient client_;
  std::vector<StampedSocket> sockets_;  // the server's first
  std::vector<ReceiveBudget> budgets_;  // of each
  std::vector<pollfd> poll_fds_;        // of each, then the caller's
  std::deque<QueuedBurst> queue_;
  std::uint32_t n_bursts_ = 0;
  ReceivedPacket received_;
};

ProbeEngine::ProbeEngine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ProbeEngine::~ProbeEngine() = default;

Result<std::unique_ptr<ProbeEngine>> ProbeEngine::open(const ProbeEngineOptions& options, BurstSink on_burst) {
  RawClock raw_ns = options.raw_ns;
  if (!raw_ns) raw_ns = [] { return clock_ns(CLOCK_MONOTONIC_RAW); };
  auto sockets = open_probe_sockets(options.bind, options.ports, options.wants_kernel_stamps, raw_ns);
  if (!sockets) return tl::unexpected(std::move(sockets.error()));
  const bool hears_itself = !options.wants_kernel_stamps || find_own_stamps(&sockets->front());
  return std::unique_ptr<ProbeEngine>(new ProbeEngine(
      std::make_unique<Impl>(options, std::move(raw_ns), std::move(*sockets), std::move(on_burst), hears_itself)));
}

std::uint16_t ProbeEngine::port() const {
  return impl_->server_socket().port();
}

std::uint32_t ProbeEngine::stamps() const {
  return impl_->stamps();
}

bool ProbeEngine::hears_itself() const {
  return impl_->hears_itself();
}

bool ProbeEngine::enqueue_burst(const ProbeTarget& target, spool::BurstKind kind, std::uint32_t count) {
  return impl_->enqueue(target, kind, count);
}

std::size_t ProbeEngine::n_pending() const {
  return impl_->n_pending();
}

void ProbeEngine::drop_bursts(std::uint32_t peer) {
  impl_->drop(peer);
}

void ProbeEngine::run_until(std::int64_t deadline_ns, int wake_fd) {
  impl_->run_until(deadline_ns, wake_fd);
}

const ProbeCounts& ProbeEngine::counts() const {
  return impl_->counts();
}

}  // namespace jaxprof::netsampler
