#include "netsampler/clock/source_limit.h"

#include <sodium.h>

#include <algorithm>

namespace jaxprof::netsampler {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kCostNs = kSecondNs / kSourcePacketsPerSecond;
constexpr std::size_t kPlaces = 4096;

static_assert(crypto_shorthash_KEYBYTES == 16);

}  // namespace

SourceLimit::SourceLimit() : key_{}, used_until_ns_(kPlaces, INT64_MIN) {
  randombytes_buf(key_.data(), key_.size());
}

bool SourceLimit::admits(const PeerAddress& source, std::int64_t now_ns) {
  std::array<std::uint8_t, crypto_shorthash_BYTES> hash{};
  crypto_shorthash(hash.data(), source.bytes.data(), source.bytes.size(), key_.data());
  std::int64_t& until = used_until_ns_[(hash[0] | static_cast<std::size_t>(hash[1]) << 8U) % kPlaces];
  until = std::max(until, now_ns);
  if (until - now_ns > kSecondNs - kCostNs) return false;
  until += kCostNs;
  return true;
}

}  // namespace jaxprof::netsampler
