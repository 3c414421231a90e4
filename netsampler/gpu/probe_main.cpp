// jaxprof-probe: the one program of jaxprof that loads vendors' libraries. The others are fully static, and a static
// program must never dlopen; a vendor's library may also hang or die on a sick device, which here ends a child and
// nothing else. It writes fixed records (probe_record.h) to standard output and is not meant for people. Built so that
// it starts on every system since glibc 2.28: without the C++ run time, and with its own start (probe_start.cpp).

#include <unistd.h>

#include <cstring>

#include "agent/base/text.h"
#include "netsampler/gpu/gpu_watch.h"

namespace jaxprof::netsampler {
namespace {

constexpr const char* kHelp =
    "jaxprof-probe --gpus HZ\n"
    "Asks libnvidia-ml for every GPU's clocks, power, temperature and counters, HZ (1 to 50) times a second, and "
    "writes\n"
    "them as records of 512 bytes to standard output until nobody reads. jaxprof-netsampler starts it.\n"
    "JAXPROF_LIBNVML names the library if it is at no usual place.\n"
    "--version prints the version.\n";

void print(int descriptor, const char* text) noexcept {
  if (write(descriptor, text, std::strlen(text)) < 0) return;
}

int run(int count, char** words) noexcept {
  if (count == 2 && std::strcmp(words[1], "--version") == 0) {
    print(STDOUT_FILENO, "jaxprof-probe " JAXPROF_VERSION "\n");
    return 0;
  }
  if (count == 2 && std::strcmp(words[1], "--help") == 0) {
    print(STDOUT_FILENO, kHelp);
    return 0;
  }
  if (std::uint64_t hz = 0; count == 3 && std::strcmp(words[1], "--gpus") == 0 && parse_decimal(words[2], &hz) &&
                            hz >= 1 && hz <= kMaxProbeHz) {
    return watch_gpus(static_cast<unsigned>(hz));
  }
  print(STDERR_FILENO, "jaxprof-probe: only --gpus HZ, with HZ from 1 to 50; --help explains\n");
  return 2;
}

}  // namespace
}  // namespace jaxprof::netsampler

int main(int count, char** words) {
  return jaxprof::netsampler::run(count, words);
}
