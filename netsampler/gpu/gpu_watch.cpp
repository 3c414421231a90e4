#include "netsampler/gpu/gpu_watch.h"

#include <cerrno>
#include <cstdint>
#include <ctime>

#include "agent/base/text.h"
#include "agent/spool/node_record.h"
#include "netsampler/gpu/board_list.h"
#include "netsampler/gpu/nvml_library.h"
#include "netsampler/gpu/record_pipe.h"

namespace jaxprof::netsampler {
namespace {

constexpr auto kNoGpu = static_cast<std::uint32_t>(spool::NodeNote::kNoGpu);
constexpr auto kGpuTrouble = static_cast<std::uint32_t>(spool::NodeNote::kGpuTrouble);
constexpr std::int64_t kSecondNs = 1'000'000'000;

// Absolute deadlines of CLOCK_MONOTONIC: a tick that is over already is left out, never caught up.
class Ticks {
 public:
  explicit Ticks(unsigned hz) noexcept : period_ns_(kSecondNs / hz), next_ns_(now_ns()) {}
  void wait() noexcept {
    next_ns_ += period_ns_;
    if (const std::int64_t now = now_ns(); next_ns_ < now)
      next_ns_ += (now - next_ns_ + period_ns_ - 1) / period_ns_ * period_ns_;
    const timespec until{next_ns_ / kSecondNs, next_ns_ % kSecondNs};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
  }

 private:
  static std::int64_t now_ns() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * kSecondNs + now.tv_nsec;
  }
  std::int64_t period_ns_;
  std::int64_t next_ns_;
};

// What all boards have in common is said once.
class Complaints {
 public:
  void look_at(const BoardReader& board) noexcept {
    if (board.is_denied() && !was_denied_) {
      was_denied_ = true;
      write_note(kGpuTrouble, "NVML gives some values to the superuser only; they are missing");
    }
    if (board.has_short_pcie_counters() && !had_short_counters_) {
      had_short_counters_ = true;
      write_note(kGpuTrouble,
                 "this driver counts PCIe bytes in 32 bits, too few for what passes between two samples; "
                 "pcie_tx and pcie_rx are missing");
    }
  }

 private:
  bool was_denied_ = false;
  bool had_short_counters_ = false;
};

BoardList list;  // too large for a stack of unknown size

// False if there is nothing to go on with.
bool sample_all(const nvml::Functions& nvml, Complaints* complaints) noexcept {
  bool is_any_left = false;
  for (std::size_t i = 0; i < list.count; ++i) {
    BoardReader& board = list.boards[i];
    if (board.is_lost()) continue;
    ProbeSample row;
    board.read(nvml, &row);
    if (!write_sample(row)) return false;
    complaints->look_at(board);
    is_any_left = is_any_left || !board.is_lost();
  }
  return is_any_left;
}

}  // namespace

int watch_gpus(unsigned hz) noexcept {
  if (!write_hello()) return 0;
  char line[400];
  TextBuffer why(line, sizeof line);
  nvml::Functions nvml{};
  if (!nvml::open_library(&nvml, &why)) {
    write_note(kNoGpu, why.c_str());
    return 0;
  }
  list_boards(nvml, &list);
  if (list.count == 0 || !list.is_written) return 0;
  Complaints complaints;
  Ticks ticks(hz);
  while (sample_all(nvml, &complaints)) ticks.wait();
  return 0;
}

}  // namespace jaxprof::netsampler
