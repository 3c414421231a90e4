#include "netsampler/clock/clock_meeting.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "agent/base/clocks.h"
#include "agent/base/directory_listing.h"
#include "agent/contract/run_layout.h"
#include "netsampler/clock/meeting_part.h"

namespace jaxprof::netsampler {
namespace {

using spool::Stamp;

// An endpoint is there for as long as the meeting takes, and a little for a slow disk or node.
constexpr std::int64_t kGraceNs = 2'000'000'000;
constexpr int kAttempts = 5;

class Account {
 public:
  void take(const ClockNews& news) {
    if (const auto* peer = std::get_if<PeerNews>(&news)) {
      nodes_[peer->peer].host = peer->host;
      nodes_[peer->peer].address = peer->address;
      boot_ids_[peer->peer] = peer->boot_id;
    }
    if (const auto* burst = std::get_if<spool::ProbeBurst>(&news)) take_burst(*burst);
  }

  // Without those that were dead before they could be asked.
  std::vector<MetNode> asked(const Probing& probing) const {
    std::vector<MetNode> found;
    for (const auto& [number, node] : nodes_) {
      const bool was_dead = node.n_answered == 0 && probing.was_left_dead(boot_ids_.at(number));
      if (node.n_asked > 0 && !was_dead) found.push_back(node);
    }
    std::sort(found.begin(), found.end(), [](const MetNode& a, const MetNode& b) { return a.host < b.host; });
    return found;
  }

 private:
  void take_burst(const spool::ProbeBurst& burst) {
    MetNode& node = nodes_[burst.peer];
    node.n_asked += burst.sent;
    node.n_answered += burst.exchanges.size();
    for (const spool::ProbeExchange& exchange : burst.exchanges) {
      const std::int64_t trip_ns = round_trip_ns(exchange);
      if (trip_ns >= 0 && (node.round_trip_ns < 0 || trip_ns < node.round_trip_ns)) node.round_trip_ns = trip_ns;
    }
  }

  std::map<std::uint32_t, MetNode> nodes_;
  std::map<std::uint32_t, std::string> boot_ids_;
};

// The last one of an earlier meeting may be taking the folder away just now.
Result<std::unique_ptr<Probing>> open_probing(const ProbingSettings& settings, const RawClock& raw, Account* account) {
  const std::string folder = run_layout::clock_directory(settings.state_directory);
  for (int attempt = 1;; ++attempt) {
    auto probing = Probing::open(settings, raw, [account](const ClockNews& news) { account->take(news); });
    if (probing || attempt == kAttempts) return probing;
    if (probing.error().code != ErrorCode::kOutputFailed && access(folder.c_str(), F_OK) == 0) return probing;
  }
}

std::int64_t difference(const spool::ProbeExchange& exchange, Stamp client_send, Stamp server_receive,
                        Stamp server_send, Stamp client_receive) {
  for (const Stamp stamp : {client_send, server_receive, server_send, client_receive}) {
    if (!exchange.has(stamp)) return -1;
  }
  return exchange.at(client_receive) - exchange.at(client_send) -
         (exchange.at(server_send) - exchange.at(server_receive));
}

// Fails while others are there, and the last one succeeds.
void remove_place(const std::string& directory) {
  const std::string folder = run_layout::clock_directory(directory);
  const std::vector<std::string> names = list_directory(folder);
  const bool is_empty = std::none_of(names.begin(), names.end(), [](const std::string& name) {
    return run_layout::endpoint_name_of(name).has_value();
  });
  if (!is_empty) return;
  unlink(run_layout::clock_token_path(directory).c_str());
  rmdir(folder.c_str());
}

}  // namespace

std::int64_t round_trip_ns(const spool::ProbeExchange& exchange) {
  const std::int64_t kernel_ns = difference(exchange, Stamp::kClientSendWall, Stamp::kServerReceiveWall,
                                            Stamp::kServerSendWall, Stamp::kClientReceiveWall);
  if (kernel_ns >= 0) return kernel_ns;
  return difference(exchange, Stamp::kClientSendRaw, Stamp::kServerReceiveRaw, Stamp::kServerSendRaw,
                    Stamp::kClientReceiveRaw);
}

ClockMeeting meet(const ProbingSettings& settings, std::int64_t length_ns) {
  const RawClock raw = [] { return clock_ns(CLOCK_MONOTONIC_RAW); };
  ClockMeeting meeting;
  const auto part = MeetingPart::take(settings.state_directory, settings.boot_id);
  if (!part) {
    meeting.reason = part.error().message;
    return meeting;
  }
  meeting.is_anothers = part->is_anothers();
  if (meeting.is_anothers) return meeting;
  ProbingSettings short_lived = settings;
  short_lived.longest_life_ns = length_ns + kGraceNs;
  Account account;
  auto opened = open_probing(short_lived, raw, &account);
  if (!opened) {
    meeting.reason = opened.error().message;
    return meeting;
  }
  Probing& probing = **opened;
  std::set<std::string> others;
  const auto take_others = [&] {
    for (const auto& [boot_id, endpoint] : probing.others()) others.insert(boot_id);
  };
  const std::int64_t end_ns = raw() + length_ns;
  while (raw() < end_ns) {
    probing.run_until(end_ns, -1);
    take_others();
  }
  probing.look();  // some that were asked have had to go by now
  take_others();
  std::erase_if(others, [&](const std::string& boot_id) { return probing.was_left_dead(boot_id); });
  probing.finish(0);
  meeting.n_others = others.size();
  meeting.asked = account.asked(probing);
  remove_place(settings.state_directory);
  return meeting;
}

}  // namespace jaxprof::netsampler
