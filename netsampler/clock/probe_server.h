// Answers questions for this node's clock. It keeps one line a client: the last request that it answered, and when the
// kernel sent that reply, which travels in the client's next reply. A request that was not made after that last one is
// a copy or too late, and is dropped: a client has one under way at a time, and its clock does not go back while its
// node is up. Works on values; an answer is never larger than its question, for all packets have one size.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "agent/spool/clock_codec.h"
#include "netsampler/clock/probe_counts.h"
#include "netsampler/clock/probe_packet.h"

namespace jaxprof::netsampler {

// Of whom more ask, the one that has been silent for longest is forgotten: then a copy of its requests is answered.
inline constexpr std::size_t kMostClients = 8192;

class ProbeServer {
 public:
  // `counts` outlives the server.
  explicit ProbeServer(ProbeCounts* counts) : counts_(counts) {}

  // The reply to `question`, which has passed the filter and was received at those stamps; the caller adds
  // server_send_raw_ns, seals and sends it. Nothing if it is a copy.
  std::optional<ProbePacket> answer(const ProbePacket& question, std::int64_t receive_raw_ns,
                                    std::int64_t receive_wall_ns);

  // The kernel has sent the reply to this request of `client` at `wall_ns`. Too late if the client has asked on.
  void take_sent_stamp(std::uint64_t client, std::uint32_t burst, std::uint16_t sequence, std::int64_t wall_ns);

  std::size_t n_clients() const { return clients_.size(); }

 private:
  struct Client {
    std::int64_t client_raw_ns = spool::kNoStamp;  // of the last question
    std::uint64_t use = 0;
    std::uint32_t burst = 0;  // and sequence, of the last request
    std::uint16_t sequence = kNoSequence;
    std::int64_t send_wall_ns = spool::kNoStamp;
  };

  void forget_the_most_silent();

  ProbeCounts* counts_;
  std::uint64_t n_uses_ = 0;
  std::unordered_map<std::uint64_t, Client> clients_;
};

}  // namespace jaxprof::netsampler
