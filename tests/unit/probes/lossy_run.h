// A client and a server on values, and between them a network that loses, copies, reorders, delays and corrupts packets
// as its random numbers want it; the kernels' stamps come late or never. It knows what really happened to each packet.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include "netsampler/clock/packet_filter.h"
#include "netsampler/clock/probe_client.h"
#include "netsampler/clock/probe_server.h"

namespace jaxprof::test {

struct Weather {
  double loss = 0;  // share of packets, as the next three
  double copies = 0;
  double corruption = 0;
  double lost_stamps = 0;
  std::int64_t delay_ns = 50'000;  // mean, exponential, on top of 5 µs
};

class LossyRun {
 public:
  LossyRun(const Weather& weather, std::uint64_t seed);

  // A whole burst. The network keeps what is under way for the next.
  spool::ProbeBurst run_burst(std::uint32_t burst, std::uint32_t count);
  // The client is killed and begins anew; the server remembers it.
  void restart_client();

  // The true stamps of a request of the client's present life whose reply was sent; of those that came several times
  // the ones of the copy that was answered.
  const spool::ProbeExchange& truth(std::uint32_t burst, std::uint32_t sequence) const {
    return truth_.at({burst, sequence});
  }
  const netsampler::ProbeCounts& client_counts() const { return client_counts_; }
  const netsampler::ProbeCounts& server_counts() const { return server_counts_; }
  std::uint64_t n_unpaired() const { return n_unpaired_; }
  std::int64_t now_ns() const { return now_ns_; }

  // What the clocks read at 0 of the true time.
  static constexpr std::int64_t kClientRawNs = 1'000'000'000'000;
  static constexpr std::int64_t kServerRawNs = -7'000'000'000;
  static constexpr std::int64_t kWallNs = 1'800'000'000'000'000'000;

 private:
  struct Arrival {
    std::int64_t at_ns;
    std::uint64_t order;
    bool is_at_server;
    netsampler::PacketBytes bytes;
    bool operator>(const Arrival& other) const { return std::pair(at_ns, order) > std::pair(other.at_ns, other.order); }
  };

  bool happens(double share) { return std::uniform_real_distribution<>(0, 1)(random_) < share; }
  void ask();
  void send(const netsampler::ProbePacket& packet, bool is_to_server);
  void deliver(const Arrival& arrival);
  void serve(const netsampler::ProbePacket& question);

  Weather weather_;
  std::mt19937_64 random_;
  std::int64_t now_ns_ = 0;
  std::uint64_t n_packets_ = 0;
  std::uint64_t n_unpaired_ = 0;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> under_way_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, spool::ProbeExchange> truth_;
  netsampler::ProbeCounts client_counts_;
  netsampler::ProbeCounts server_counts_;
  netsampler::PacketFilter client_filter_;
  netsampler::PacketFilter server_filter_;
  netsampler::ProbeServer server_{&server_counts_};
  netsampler::ProbeClient client_;
};

}  // namespace jaxprof::test
