// An endpoint whose every field has a value of its own.
#pragma once

#include <string>

#include "netsampler/clock/clock_endpoint.h"

namespace jaxprof::test {

inline netsampler::ClockEndpoint sample_endpoint(const std::string& boot_id = "0123-abcd", std::uint64_t nonce = 7) {
  netsampler::ClockEndpoint endpoint;
  endpoint.host = "n1";
  endpoint.boot_id = boot_id;
  endpoint.network_namespace = 4026531840;
  endpoint.nonce = nonce;
  endpoint.address = *netsampler::parse_address("10.0.0.1", 40000);
  endpoint.interface = "eth0";
  endpoint.clocksource = "tsc";
  endpoint.stamps = 3;
  endpoint.start_ns = 1'796'043'484'484'040'510;
  return endpoint;
}

}  // namespace jaxprof::test
