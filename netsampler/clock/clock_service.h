// What makes clocks comparable all through a run: readings of the own clocks ten times a second, and questions to other
// nodes' clocks. A thread of its own does it, so that a request of another node is answered at once while the sample
// loop waits for a disk or a driver. It waits for nobody, and nothing of it can fail a job: without a socket, a folder
// or a token there are readings, one note that says why there is no more, and another try from time to time.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "agent/base/unique_fd.h"
#include "netsampler/clock/clock_readings.h"
#include "netsampler/clock/news_queue.h"
#include "netsampler/clock/probing.h"

namespace jaxprof::netsampler {

struct ClockSettings {
  std::optional<ProbingSettings> probing;  // none: `no_probing` says why other nodes are not asked
  std::string no_probing;
  std::string rank0_mark;                  // a file that says that rank 0 is on this node; "" it is not
  RawClock raw_ns;                         // CLOCK_MONOTONIC_RAW; null: the system's
  std::int64_t retry_ns = 30'000'000'000;  // what was in the way of probing may be gone then: a job that had the ports
};

// Called by the thread that writes the spool.
class ClockService {
 public:
  explicit ClockService(ClockSettings settings);
  ~ClockService();
  ClockService(const ClockService&) = delete;
  ClockService& operator=(const ClockService&) = delete;

  // Where no thread can be made there is a note.
  void start();
  // What there is to tell since the last call. Never waits.
  NewsQueue::Taken take() { return news_.take(); }
  // Asks the thread to end, which it does within kLongestEndNs if no disk keeps it; the last news are there after
  // finish(), which waits for it.
  void request_end();
  void finish();

  static constexpr std::int64_t kLongestEndNs = 300'000'000;

 private:
  void run();
  void begin();
  void open_probing();
  void read_clocks_now();
  void look_at_discipline(const spool::ClockReading& reading);
  void look_at_reference();
  void do_slow_chores();
  void tell_packets();
  void tell_service();
  void work_until(std::int64_t deadline_ns);

  ClockSettings settings_;
  RawClock raw_;
  NewsQueue news_;
  UniqueFd wake_;
  std::atomic<bool> is_ending_ = false;
  std::thread thread_;

  // Of the thread alone.
  std::unique_ptr<Probing> probing_;
  StepDetector steps_;
  ServiceNews told_;
  bool has_told_ = false;
  bool is_rank0_here_ = false;
  bool is_reference_settled_ = false;
  std::string trouble_;  // why there is no probing
  std::int64_t next_opening_ns_ = INT64_MAX;
  std::string clocksource_;
  std::optional<spool::ClockDisciplineState> discipline_;  // as last told
  std::int64_t next_reading_ns_ = 0;
  std::int64_t next_chores_ns_ = 0;
};

}  // namespace jaxprof::netsampler
