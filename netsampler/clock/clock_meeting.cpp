#include "netsampler/clock/clock_meeting.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "agent/base/clocks.h"
#include "agent/base/directory_listing.h"
#include "agent/contract/run_layout.h"

namespace jaxprof::netsampler {
namespace {

using spool::Stamp;

class Account {
 public:
  void take(const ClockNews& news) {
    if (const auto* peer = std::get_if<PeerNews>(&news)) {
      nodes_[peer->peer].host = peer->host;
      nodes_[peer->peer].address = peer->address;
    }
    if (const auto* burst = std::get_if<spool::ProbeBurst>(&news)) take_burst(*burst);
  }

  std::vector<MetNode> asked() const {
    std::vector<MetNode> found;
    for (const auto& [number, node] : nodes_) {
      if (node.n_asked > 0) found.push_back(node);
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
};

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
  Account account;
  auto probing = Probing::open(settings, raw, [&account](const ClockNews& news) { account.take(news); });
  if (!probing) {
    meeting.reason = probing.error().message;
    return meeting;
  }
  const std::int64_t end_ns = raw() + length_ns;
  while (raw() < end_ns) {
    (*probing)->run_until(end_ns, -1);
    meeting.n_others = std::max<std::uint64_t>(meeting.n_others, (*probing)->n_others());
  }
  (*probing)->finish(0);
  meeting.asked = account.asked();
  remove_place(settings.state_directory);
  return meeting;
}

}  // namespace jaxprof::netsampler
