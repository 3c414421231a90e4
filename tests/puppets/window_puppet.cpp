// window_puppet LOG WORD...: a program of one thread that does what the words say, in their order, and stamps what it
// did by itself: the truth of tests of windows. No MPI and no GPU. Each line of LOG is "WHAT NAME NUMBER REALTIME_NS".
//   sleep:MS                     does nothing
//   push:NAME, pop               NVTX, in the default domain
//   open:NAME, end               a started range, and its end
//   steps:FIRST:COUNT:US         ranges "step" with their number as payload, US long, each with a range "inside"
//   ordinals:COUNT:US            the same without a payload
//   marks:COUNT:US               marks "tick"
//   wait                         until it is killed
//   exit:STATUS                  ends; 0 at the end of the words
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/puppets/clock.h"

namespace {

int log_file = -1;

void note(const char* what, const std::string& name, std::int64_t number) {
  const std::string line = std::string(what) + " " + name + " " + std::to_string(number) + " " +
                           std::to_string(jaxprof::puppets::realtime_ns()) + "\n";
  if (write(log_file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
}

void sleep_us(std::int64_t us) {
  const timespec pause{us / 1'000'000, us % 1'000'000 * 1000};
  nanosleep(&pause, nullptr);
}

// "steps:0:5:100" -> "steps", "0", "5", "100".
std::vector<std::string> parts_of(const std::string& word) {
  std::vector<std::string> parts(1);
  for (const char c : word) {
    if (c == ':') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

void step(std::int64_t number, bool has_payload, std::int64_t us) {
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = "step";
  if (has_payload) {
    attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    attributes.payload.llValue = number;
  }
  note("begin", "step", number);
  nvtxRangePushEx(&attributes);
  nvtxRangePushA("inside");
  sleep_us(us);
  nvtxRangePop();
  nvtxRangePop();
  note("end", "step", number);
}

bool run(const std::string& word, nvtxRangeId_t* started) {
  const std::vector<std::string> parts = parts_of(word);
  const auto number = [&parts](std::size_t at) { return at < parts.size() ? std::atoll(parts[at].c_str()) : 0; };
  const std::string& what = parts[0];
  if (what == "sleep") {
    sleep_us(number(1) * 1000);
  } else if (what == "push" && parts.size() == 2) {
    note("push", parts[1], 0);
    nvtxRangePushA(parts[1].c_str());
  } else if (what == "pop") {
    nvtxRangePop();
    note("pop", "-", 0);
  } else if (what == "open" && parts.size() == 2) {
    note("open", parts[1], 0);
    *started = nvtxRangeStartA(parts[1].c_str());
  } else if (what == "end") {
    nvtxRangeEnd(*started);
    note("end", "-", 0);
  } else if (what == "steps" || what == "ordinals") {
    const bool has_payload = what == "steps";
    const std::int64_t first = has_payload ? number(1) : 0;
    const std::int64_t count = number(has_payload ? 2 : 1);
    for (std::int64_t i = 0; i < count; ++i) step(first + i, has_payload, number(has_payload ? 3 : 2));
  } else if (what == "marks") {
    for (std::int64_t i = 0; i < number(1); ++i) {
      nvtxMarkA("tick");
      sleep_us(number(2));
    }
  } else if (what == "wait") {
    note("wait", "-", 0);
    for (;;) pause();
  } else if (what == "exit") {
    std::exit(static_cast<int>(number(1)));
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: window_puppet LOG WORD...\n");
    return 2;
  }
  log_file = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  nvtxRangeId_t started = 0;
  for (int i = 2; i < argc; ++i) {
    if (run(argv[i], &started)) continue;
    std::fprintf(stderr, "window_puppet: no word %s\n", argv[i]);
    return 2;
  }
  return 0;
}
