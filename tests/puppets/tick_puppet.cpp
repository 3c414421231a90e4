// tick_puppet COUNT PERIOD_US LOG: one NVTX mark a period, numbered by its payload, and after each a line in LOG, which
// is therefore behind by at most one mark when the process is killed. No MPI: ranks of one step do not depend on each
// other. LOG may hold %r (SLURM_PROCID or 0). Its first line is "pid PID parent PPID host HOST job JOB.STEP", the
// others "N REALTIME_NS"; a process that ends by itself writes "end" last.
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/puppets/clock.h"

namespace {

const char* variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

std::string first_line() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return "pid " + std::to_string(getpid()) + " parent " + std::to_string(getppid()) + " host " + host + " job " +
         variable("SLURM_JOB_ID", "none") + "." + variable("SLURM_STEP_ID", "none") + "\n";
}

void mark(std::uint64_t number) {
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "tick";
  event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  event.payload.ullValue = number;
  nvtxMarkEx(&event);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: tick_puppet COUNT PERIOD_US LOG\n");
    return 2;
  }
  const std::uint64_t count = std::strtoull(argv[1], nullptr, 10);
  const long period_us = std::strtol(argv[2], nullptr, 10);
  std::string path = argv[3];
  if (const std::size_t at = path.find("%r"); at != std::string::npos) {
    path.replace(at, 2, variable("SLURM_PROCID", "0"));
  }
  const int log = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const auto put = [log](const std::string& line) {
    if (write(log, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
  };
  put(first_line());
  const timespec period{period_us / 1'000'000, period_us % 1'000'000 * 1000};
  for (std::uint64_t number = 0; number < count; ++number) {
    mark(number);
    put(std::to_string(number) + " " + std::to_string(jaxprof::puppets::realtime_ns()) + "\n");
    nanosleep(&period, nullptr);
  }
  put("end\n");
  return 0;
}
