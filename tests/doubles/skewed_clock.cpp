// A node whose crystal is not another node's, on one machine: CLOCK_MONOTONIC_RAW with an offset and a rate of its own,
// by JAXPROF_TEST_CLOCK=HOST=OFFSET_NS:PPB[:JUMP_NS@AT_NS][,HOST=...]; from AT_NS of the clock without all this on it
// is ahead by JUMP_NS more. All other clocks, and the kernel's stamps of packets, are as they are, so that the true
// time is known to a test. Nothing is kept from call to call: all processes of a host read the same clock. Preloaded
// into programs that link the C library dynamically; static ones are linked with --wrap=clock_gettime once more for
// tests.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

struct Skew {
  std::int64_t offset_ns = 0;
  std::int64_t ppb = 0;
  std::int64_t jump_ns = 0;
  std::int64_t jump_at_ns = 0;
};

// Of the number at `*text` if `mark` is before it; moves on behind it.
std::int64_t number_after(char mark, char** text) {
  return **text == mark ? strtoll(*text + 1, text, 10) : 0;
}

Skew skew_of_host() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const std::size_t length = strlen(host);
  char* at = getenv("JAXPROF_TEST_CLOCK");
  while (at != nullptr && *at != '\0') {
    if (strncmp(at, host, length) == 0 && at[length] == '=') {
      at += length;
      Skew skew;
      skew.offset_ns = number_after('=', &at);
      skew.ppb = number_after(':', &at);
      skew.jump_ns = number_after(':', &at);
      skew.jump_at_ns = number_after('@', &at);
      return skew;
    }
    char* comma = strchr(at, ',');
    at = comma == nullptr ? nullptr : comma + 1;
  }
  return {};
}

// Before main() and before other threads, since a clock is read anywhere.
const Skew skew = skew_of_host();

void apply(timespec* time) {
  std::int64_t ns = time->tv_sec * kSecondNs + time->tv_nsec;
  if (ns >= skew.jump_at_ns) ns += skew.jump_ns;
  ns += skew.offset_ns + time->tv_sec * skew.ppb + time->tv_nsec * skew.ppb / kSecondNs;
  time->tv_sec = ns / kSecondNs;
  time->tv_nsec = ns % kSecondNs;
}

}  // namespace

#ifdef JAXPROF_WRAPPED
extern "C" int __real_clock_gettime(clockid_t clock, timespec* time) noexcept;   // NOLINT: the linker's name
extern "C" int __wrap_clock_gettime(clockid_t clock, timespec* time) noexcept {  // NOLINT: the linker's name
  const int result = __real_clock_gettime(clock, time);
#else
extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* time) noexcept {
  using Read = int(clockid_t, timespec*);
  static auto* const read = reinterpret_cast<Read*>(dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = read(clock, time);
#endif
  if (result == 0 && clock == CLOCK_MONOTONIC_RAW) apply(time);
  return result;
}
