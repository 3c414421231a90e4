// One burst after another, as a state machine on values: what to send now, what a reply or a stamp of the kernel
// belongs to, and what is known in the end. One question is under way at a time. A reply counts only if it answers that
// one (server, burst, sequence and nonce): a late one, a copy or one of another burst never gets into an exchange. Four
// losses in a row end a burst, for its server is gone or unreachable. After the last exchange a follow-up, asked twice
// at most, fetches when the kernel sent the last reply.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "agent/spool/clock_codec.h"
#include "netsampler/clock/probe_packet.h"
#include "netsampler/clock/probe_target.h"
#include "netsampler/clock/reply_timeout.h"

namespace jaxprof::netsampler {

class ProbeClient {
 public:
  // `random` makes nonces. Raw times are those of this node's CLOCK_MONOTONIC_RAW in ns.
  ProbeClient(std::uint64_t own_node, std::function<std::uint64_t()> random)
      : own_node_(own_node), random_(std::move(random)) {}

  // Only if not is_busy(). `count` is from 0 to spool::kMaxExchanges, `burst` is new.
  void begin(const ProbeTarget& target, spool::BurstKind kind, std::uint32_t burst, std::uint32_t count);

  // A burst is under way. It ends inside next() or take_reply().
  bool is_busy() const { return phase_ != Phase::kIdle; }
  const ProbeTarget& target() const { return target_; }
  std::uint32_t burst() const { return burst_.burst; }

  // The question to send at once, made at `now_raw_ns`. Nothing: wait for a reply until deadline_raw_ns(), or the burst
  // is over, of which take_finished() tells.
  std::optional<ProbePacket> next(std::int64_t now_raw_ns);
  std::int64_t deadline_raw_ns() const { return deadline_raw_ns_; }

  // The question that next() gave could not be sent: it is lost at once.
  void take_send_failure() { deadline_raw_ns_ = INT64_MIN; }
  // False if nothing waits for it. `receive_wall_ns` is spool::kNoStamp where the kernel gave none.
  bool take_reply(const ProbePacket& reply, std::int64_t receive_raw_ns, std::int64_t receive_wall_ns);
  // The kernel has sent a request at `wall_ns`. Stamps of requests without a reply are forgotten with the burst.
  void take_sent_stamp(std::uint32_t burst, std::uint16_t sequence, std::int64_t wall_ns);

  // The burst that has ended, once.
  std::optional<spool::ProbeBurst> take_finished();

 private:
  enum class Phase { kIdle, kExchanges, kFollowUp, kFinished };

  void take_loss();
  ProbePacket make_question(PacketType type, std::int64_t now_raw_ns);
  spool::ProbeExchange* find_exchange(std::uint16_t sequence);

  std::uint64_t own_node_;
  std::function<std::uint64_t()> random_;
  Phase phase_ = Phase::kIdle;
  ProbeTarget target_;
  std::uint32_t count_ = 0;
  std::uint32_t n_lost_in_row_ = 0;
  std::uint32_t n_follow_ups_ = 0;
  ReplyTimeout timeout_;
  std::optional<ProbePacket> under_way_;
  std::optional<std::int64_t> request_send_wall_ns_;  // of the request under way
  std::int64_t deadline_raw_ns_ = 0;
  spool::ProbeBurst burst_;
};

}  // namespace jaxprof::netsampler
