// When which node's clock is asked. A job may end after two seconds or after two weeks: so a node is asked much at once
// when it is seen for the first time, a little after one, two, four and eight seconds more, which tell how fast its
// clock runs, and every ten seconds from then on. Nodes that keep the same time must not all ask in the same instant,
// for packets that wait for each other tell nothing: first bursts are spread over a window and periods are jittered. A
// node that does not answer is asked ever more rarely, and as before once it answers again. Values in, values out: no
// clock is read here and no packet sent. All times in ns of the caller's one clock.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "agent/spool/clock_codec.h"

namespace jaxprof::netsampler {

struct DueBurst {
  std::uint32_t peer = 0;
  spool::BurstKind kind = spool::BurstKind::kPeriodic;
  std::uint32_t count = 0;  // exchanges
  bool operator==(const DueBurst&) const = default;
};

class ProbeSchedule {
 public:
  static constexpr std::uint32_t kStartExchanges = 64;
  static constexpr std::uint32_t kExchanges = 16;
  static constexpr std::int64_t kPeriodNs = 10'000'000'000;
  static constexpr double kJitter = 0.2;                           // of the period, to both sides
  static constexpr std::int64_t kMissingAfterNs = 30'000'000'000;  // without an answer
  static constexpr std::int64_t kLongestRetryNs = 60'000'000'000;

  explicit ProbeSchedule(std::uint64_t seed) : random_(seed) {}

  // From now on `peer` is asked, at first within `window_ns` after `now_ns`. One that is asked already begins anew.
  void add(std::uint32_t peer, std::int64_t now_ns, std::int64_t window_ns);
  void remove(std::uint32_t peer) { peers_.erase(peer); }
  bool contains(std::uint32_t peer) const { return peers_.contains(peer); }

  // All peers that answer are asked once more within `window_ns`: the own clock has been seen to change.
  void hurry(std::int64_t now_ns, std::int64_t window_ns);

  // When the next burst is due; INT64_MAX if none is.
  std::int64_t next_ns() const;
  // Appends what is due. A peer is not due again before finished() is told of it.
  void take_due(std::int64_t now_ns, std::vector<DueBurst>* due);
  // A burst with `peer` has ended.
  void finished(std::uint32_t peer, std::int64_t now_ns, bool has_answers);

  // Its last burst was not answered, and no burst was for kMissingAfterNs, or ever.
  bool is_missing(std::uint32_t peer, std::int64_t now_ns) const;
  // Its last burst was answered.
  bool is_answering(std::uint32_t peer) const;

 private:
  struct Peer {
    std::int64_t next_ns = 0;
    spool::BurstKind kind = spool::BurstKind::kStart;
    bool is_under_way = false;
    std::uint32_t n_silent = 0;     // bursts in a row without an answer
    std::uint32_t n_answered = 0;   // bursts
    std::int64_t answered_ns = -1;  // -1: never
  };
  std::int64_t within(std::int64_t window_ns);
  std::int64_t pause_ns(const Peer& peer);

  std::mt19937_64 random_;
  std::map<std::uint32_t, Peer> peers_;
};

}  // namespace jaxprof::netsampler
