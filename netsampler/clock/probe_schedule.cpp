#include "netsampler/clock/probe_schedule.h"

#include <algorithm>

namespace jaxprof::netsampler {
namespace {

using spool::BurstKind;

constexpr std::int64_t kFirstPauseNs = 1'000'000'000;  // from the first burst to the second
constexpr std::int64_t kFirstRetryNs = 1'000'000'000;  // of a peer that has never answered: its job may be short

}  // namespace

std::int64_t ProbeSchedule::within(std::int64_t window_ns) {
  return std::uniform_int_distribution<std::int64_t>(0, std::max<std::int64_t>(window_ns, 0))(random_);
}

void ProbeSchedule::add(std::uint32_t peer, std::int64_t now_ns, std::int64_t window_ns) {
  Peer fresh;
  fresh.next_ns = now_ns + within(window_ns);
  peers_[peer] = fresh;
}

void ProbeSchedule::hurry(std::int64_t now_ns, std::int64_t window_ns) {
  for (auto& [number, peer] : peers_) {
    if (peer.answered_ns < 0 || peer.n_silent > 0) continue;
    peer.next_ns = std::min(peer.next_ns, now_ns + within(window_ns));
    peer.kind = BurstKind::kStep;
  }
}

std::int64_t ProbeSchedule::next_ns() const {
  std::int64_t earliest = INT64_MAX;
  for (const auto& [number, peer] : peers_) {
    if (!peer.is_under_way) earliest = std::min(earliest, peer.next_ns);
  }
  return earliest;
}

void ProbeSchedule::take_due(std::int64_t now_ns, std::vector<DueBurst>* due) {
  for (auto& [number, peer] : peers_) {
    if (peer.is_under_way || peer.next_ns > now_ns) continue;
    peer.is_under_way = true;
    peer.next_ns = INT64_MAX;
    due->push_back({number, peer.kind, peer.kind == BurstKind::kStart ? kStartExchanges : kExchanges});
    // What is seen while it is under way asks for another.
    if (peer.kind != BurstKind::kStart) peer.kind = BurstKind::kPeriodic;
  }
}

// A period, at first less, give or take the jitter; after silence twice as long each time.
std::int64_t ProbeSchedule::pause_ns(const Peer& peer) {
  if (peer.n_silent == 0) {
    const std::int64_t early_ns = kFirstPauseNs << std::min<std::uint32_t>(peer.n_answered - 1, 6);
    const std::int64_t pause_ns = std::min(early_ns, kPeriodNs);
    const auto jitter_ns = static_cast<std::int64_t>(kJitter * static_cast<double>(pause_ns));
    return pause_ns - jitter_ns + within(2 * jitter_ns);
  }
  const std::int64_t first_ns = peer.answered_ns < 0 ? kFirstRetryNs : kPeriodNs;
  const std::uint32_t n_doublings = std::min<std::uint32_t>(peer.n_silent - 1, 6);
  const std::int64_t pause_ns = std::min(first_ns << n_doublings, kLongestRetryNs);
  return pause_ns - pause_ns / 10 + within(pause_ns / 10);
}

void ProbeSchedule::finished(std::uint32_t peer, std::int64_t now_ns, bool has_answers) {
  const auto found = peers_.find(peer);
  if (found == peers_.end() || !found->second.is_under_way) return;
  Peer& asked = found->second;
  asked.is_under_way = false;
  if (has_answers) {
    asked.answered_ns = now_ns;
    ++asked.n_answered;
    asked.n_silent = 0;
    if (asked.kind == BurstKind::kStart) asked.kind = BurstKind::kPeriodic;
  } else {
    ++asked.n_silent;
  }
  asked.next_ns = std::min(asked.next_ns, now_ns + pause_ns(asked));
}

bool ProbeSchedule::is_missing(std::uint32_t peer, std::int64_t now_ns) const {
  const auto found = peers_.find(peer);
  if (found == peers_.end() || found->second.n_silent == 0) return false;
  return found->second.answered_ns < 0 || now_ns - found->second.answered_ns >= kMissingAfterNs;
}

bool ProbeSchedule::is_answering(std::uint32_t peer) const {
  const auto found = peers_.find(peer);
  return found != peers_.end() && found->second.answered_ns >= 0 && found->second.n_silent == 0;
}

}  // namespace jaxprof::netsampler
