#include "merge/clock/exchange_times.h"

#include <algorithm>

#include "merge/clock/rounding.h"

namespace jaxprof::clock {
namespace {

using spool::ProbeExchange;
using spool::Stamp;

constexpr std::int64_t kLongestRoundTripNs = 1'000'000'000;

// The kernel's stamp of a packet, if it lies on the right side of the program's own of the same packet and not a second
// from it; else a stamp was paired with another packet, or the clock was set.
std::optional<WallScale::Instant> kernel_stamp(const ProbeExchange& exchange, Stamp wall, Stamp raw, bool is_sent,
                                               const WallScale& scale, WallScale::Place* place) {
  if (!exchange.has(wall)) return {};
  const std::int64_t raw_ns = exchange.at(raw);
  const std::optional<WallScale::Instant> instant = scale.raw_at(exchange.at(wall), raw_ns, place);
  if (!instant || !is_plausible_raw(instant->raw_ns)) return {};
  const std::int64_t after_ns = is_sent ? instant->raw_ns - raw_ns : raw_ns - instant->raw_ns;
  const std::int64_t error_ns = round_ns(instant->error_ns);
  if (after_ns < -error_ns || after_ns > kLongestRoundTripNs) return {};
  return instant;
}

}  // namespace

std::optional<ExchangeTimes> exchange_times(const ProbeExchange& exchange, ExchangeEnds* ends) {
  for (const Stamp stamp :
       {Stamp::kClientSendRaw, Stamp::kServerReceiveRaw, Stamp::kServerSendRaw, Stamp::kClientReceiveRaw}) {
    if (!exchange.has(stamp) || !is_plausible_raw(exchange.at(stamp))) return {};
  }
  bool is_kernel = true;
  const auto best = [&](Stamp wall, Stamp raw, bool is_sent, const WallScale& scale, WallScale::Place* place) {
    const auto instant = kernel_stamp(exchange, wall, raw, is_sent, scale, place);
    is_kernel = is_kernel && instant.has_value();
    return instant.value_or(WallScale::Instant{exchange.at(raw), 0});
  };
  const auto t1 = best(Stamp::kClientSendWall, Stamp::kClientSendRaw, true, *ends->client, &ends->client_place);
  const auto t2 = best(Stamp::kServerReceiveWall, Stamp::kServerReceiveRaw, false, *ends->server, &ends->server_place);
  const auto t3 = best(Stamp::kServerSendWall, Stamp::kServerSendRaw, true, *ends->server, &ends->server_place);
  const auto t4 = best(Stamp::kClientReceiveWall, Stamp::kClientReceiveRaw, false, *ends->client, &ends->client_place);
  const std::int64_t client_ns = t4.raw_ns - t1.raw_ns;
  const std::int64_t server_ns = t3.raw_ns - t2.raw_ns;
  const double request_error_ns = t1.error_ns + t2.error_ns;
  const double reply_error_ns = t3.error_ns + t4.error_ns;
  std::int64_t round_trip_ns = client_ns - server_ns;
  // Within one machine a round trip is not much longer than what conversions may be wrong by.
  if (round_trip_ns <= 0 && round_trip_ns + round_ns(request_error_ns + reply_error_ns) > 0) round_trip_ns = 1;
  if (server_ns < 0 || client_ns <= 0 || round_trip_ns <= 0 || round_trip_ns > kLongestRoundTripNs) return {};
  if (ends->is_client_a) {
    return ExchangeTimes{
        {t1.raw_ns, t2.raw_ns, request_error_ns}, {t4.raw_ns, t3.raw_ns, reply_error_ns}, round_trip_ns, is_kernel};
  }
  return ExchangeTimes{
      {t3.raw_ns, t4.raw_ns, reply_error_ns}, {t2.raw_ns, t1.raw_ns, request_error_ns}, round_trip_ns, is_kernel};
}

}  // namespace jaxprof::clock
