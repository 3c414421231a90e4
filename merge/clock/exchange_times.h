// The stamps of a request and its reply as four readings of CLOCK_MONOTONIC_RAW, the best that there are: the kernel's,
// where its CLOCK_REALTIME can be converted and agrees with what the programs read before and after it, else the
// programs' own. An exchange is two messages between nodes a and b, one each way, and each bounds b's clock from one
// side: it was received after it was sent.
#pragma once

#include <cstdint>
#include <optional>

#include "agent/spool/clock_codec.h"
#include "merge/clock/wall_scale.h"

namespace jaxprof::clock {

// When a's clock read `a_ns` b's read at most (sent by a) or at least (received by a) `b_ns`, give or take `error_ns`.
struct Message {
  std::int64_t a_ns = 0;
  std::int64_t b_ns = 0;
  double error_ns = 0;  // of the conversions
};

struct ExchangeTimes {
  Message from_a;
  Message from_b;
  std::int64_t round_trip_ns = 0;  // without the server's time
  bool is_kernel = false;          // all four stamps are the kernel's
};

// Of the two nodes of an exchange, and where their last conversions were.
struct ExchangeEnds {
  const WallScale* client = nullptr;
  const WallScale* server = nullptr;
  WallScale::Place client_place = {};
  WallScale::Place server_place = {};
  bool is_client_a = true;
};

// None if a stamp is missing, or if they contradict each other: a reply before its request, a round trip of nothing or
// of more than a second.
std::optional<ExchangeTimes> exchange_times(const spool::ProbeExchange& exchange, ExchangeEnds* ends);

}  // namespace jaxprof::clock
