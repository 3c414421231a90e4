#include "tests/doubles/nvml/nvml_double.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <ctime>

#include "tests/doubles/nvml/fake_nvml.h"
#include "tests/doubles/record_file.h"

namespace jaxprof::fake_nvml {
namespace {

constexpr unsigned kMostBoards = 16;
constexpr int kMostInstances = 2;
constexpr std::int64_t kMsNs = 1'000'000;

std::int64_t number(const char* name, std::int64_t otherwise) {
  const char* const text = std::getenv((std::string("FAKE_NVML_") + name).c_str());
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 0);
}

std::string list(const char* name) {
  const char* const text = std::getenv((std::string("FAKE_NVML_") + name).c_str());
  return text == nullptr ? "" : std::string(",") + text + ",";
}

std::int64_t raw_ns() {
  return doubles::monotonic_raw_ns();
}

const std::int64_t kLoadedNs = raw_ns();

struct AllHandles {
  std::array<std::array<Handle, kMostInstances + 1>, kMostBoards> handles;
  AllHandles() {
    for (unsigned board = 0; board < kMostBoards; ++board) {
      for (int i = 0; i <= kMostInstances; ++i) handles[board][static_cast<std::size_t>(i)] = {board, i - 1};
    }
  }
};
const AllHandles kHandles;

bool is_handle(const void* device) {
  for (const auto& board : kHandles.handles) {
    for (const Handle& handle : board) {
      if (&handle == device) return true;
    }
  }
  return false;
}

bool is_in(const std::string& names, const char* function) {
  return names.find(std::string(",") + function + ",") != std::string::npos;
}

bool has_come(std::int64_t at_ms) {
  return at_ms >= 0 && now_ns() >= at_ms * kMsNs;
}

__attribute__((constructor)) void print_if_asked() {
  if (number("PRINTS", 0) != 0 && write(STDOUT_FILENO, "loading fake NVML\n", 18) < 0) std::abort();
}

}  // namespace

const Switches& switches() {
  static const Switches kSwitches{
      number("GPUS", 2),      number("MIG", 0),        number("DENIED", 0),      number("INIT_RESULT", 0),
      number("INIT_MS", 0),   number("CAP_MASK", 0),   number("CAP_AT_MS", 0),   number("CAP_FOR_MS", 0),
      number("LOST_MASK", 0), number("LOST_AT_MS", 0), number("HANG_AT_MS", -1), number("CRASH_AT_MS", -1),
      number("PRINTS", 0),    number("PCIE_BITS", 64), list("UNSUPPORTED"),      list("FORBIDDEN")};
  return kSwitches;
}

std::int64_t now_ns() {
  return raw_ns() - kLoadedNs;
}

const Handle* handle_of(unsigned board, int instance) {
  if (board >= kMostBoards || board >= static_cast<unsigned>(switches().gpus)) return nullptr;
  if (instance < -1 || instance >= kMostInstances) return nullptr;
  return &kHandles.handles[board][static_cast<std::size_t>(instance) + 1];
}

std::int64_t capped_ns(unsigned board, std::int64_t at_ns) {
  if ((switches().cap_mask >> board & 1) == 0) return 0;
  return std::clamp<std::int64_t>(at_ns - switches().cap_at_ms * kMsNs, 0, switches().cap_for_ms * kMsNs);
}

bool is_capped(unsigned board, std::int64_t at_ns) {
  const std::int64_t capped = capped_ns(board, at_ns);
  return capped > 0 && capped < switches().cap_for_ms * kMsNs;
}

int enter(const char* function, const void* device) {
  if (has_come(switches().crash_at_ms)) std::raise(SIGSEGV);
  while (has_come(switches().hang_at_ms)) pause();
  if (!is_handle(device)) return kBadArgument;
  const auto* const handle = static_cast<const Handle*>(device);
  if ((switches().lost_mask >> handle->board & 1) != 0 && has_come(switches().lost_at_ms)) return kLost;
  if (is_in(switches().unsupported, function)) return kNotSupported;
  if (is_in(switches().forbidden, function)) return kNoPermission;
  return kOk;
}

int leave(const char* function, const void* device, int result) {
  static const doubles::RecordFile kReport = doubles::RecordFile::from_environment("FAKE_NVML_REPORT");
  if (kReport.is_open()) {
    doubles::RecordLine line(function);
    if (is_handle(device)) line.number("board", static_cast<const Handle*>(device)->board);
    kReport.write(line.number("result", result));
  }
  return result;
}

}  // namespace jaxprof::fake_nvml
