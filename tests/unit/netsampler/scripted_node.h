// A node by a script: time that passes when somebody sleeps or reads, ports whose counters are a known function of
// time, boards that send what the test put there.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "netsampler/gpu/gpu_columns.h"
#include "netsampler/node/node_clock.h"
#include "netsampler/node/sources.h"

namespace jaxprof::netsampler {

inline constexpr std::uint64_t kMillisecond = 1'000'000;
inline constexpr std::uint64_t kSecond = 1'000 * kMillisecond;

// The stamps' clock is ahead of the deadlines' by a second, so that a test sees them mixed up.
class ScriptedClock : public NodeClock {
 public:
  // `time` may be memory that another process sees.
  explicit ScriptedClock(std::atomic<std::uint64_t>* time = nullptr) : time_(time != nullptr ? time : &own_time_) {
    *time_ = 100 * kSecond;
  }
  std::uint64_t now_ns() override { return *time_; }
  std::uint64_t raw_ns() override { return *time_ + kSecond; }
  std::uint64_t cpu_ns() override { return 7; }
  void sleep_until(std::uint64_t deadline_ns) override {
    if (deadline_ns > *time_) *time_ = deadline_ns;
    *time_ += late_ns;
  }
  void pass(std::uint64_t ns) { *time_ += ns; }

  std::uint64_t late_ns = 0;  // of every waking up

 private:
  std::atomic<std::uint64_t> own_time_{0};
  std::atomic<std::uint64_t>* time_;
};

// Column i of every port holds (i + 1) times the stamp.
class ScriptedNics : public NicSource {
 public:
  explicit ScriptedNics(ScriptedClock* clock) : clock_(clock) {}

  void add_port(const std::string& name, std::size_t columns, std::size_t fast, std::uint64_t period_ns) {
    Port port;
    port.info.name = name;
    port.info.driver = "efa";
    port.info.pci = "0000:00:06.0";
    port.info.source = spool::NicSource::kNetlink;
    port.info.period_ns = period_ns;
    port.info.slow_period_ns = kSecond;
    port.info.is_active = true;
    port.fast_count = fast;
    for (std::size_t i = 0; i < columns; ++i) {
      Column column;
      column.name = "counter" + std::to_string(i);
      column.kind = spool::SampleKind::kCounter;
      column.unit = spool::SampleUnit::kBytes;
      column.is_fast = i < fast;
      port.columns.push_back(column);
    }
    port.is_present = true;
    next_.changes.push_back({ports_.size(), spool::NicEvent::kAppeared, ""});
    ports_.push_back(port);
  }

  NicUpdate rescan() override {
    ++rescans;
    wants = false;
    if (on_rescan) on_rescan();
    return std::exchange(next_, {});
  }
  bool wants_rescan() const override { return wants; }
  const std::vector<Port>& ports() const override { return ports_; }
  void read(std::size_t port, bool fast_only, Reading* reading) override {
    const Port& found = ports_[port];
    reading->is_ok = !is_broken;
    reading->flags = 0;
    reading->begin_ns = clock_->raw_ns();
    clock_->pass(read_ns);
    reading->end_ns = clock_->raw_ns();
    reading->values.resize(fast_only ? found.fast_count : found.columns.size());
    for (std::size_t i = 0; i < reading->values.size(); ++i) reading->values[i] = (i + 1) * reading->begin_ns;
  }

  Port* port(std::size_t number) { return &ports_[number]; }
  NicUpdate* next() { return &next_; }

  std::function<void()> on_rescan;
  std::uint64_t read_ns = 1000;
  bool wants = false;
  bool is_broken = false;
  int rescans = 0;

 private:
  ScriptedClock* clock_;
  std::vector<Port> ports_;
  NicUpdate next_;
};

class ScriptedGpus : public GpuSource {
 public:
  bool start(std::string* why) override {
    ++starts;
    *why = reason;
    return reason.empty();
  }
  GpuUpdate poll() override { return std::exchange(next, {}); }
  bool is_running() const override { return is_alive; }

  std::string reason;  // "": it starts
  int starts = 0;
  GpuUpdate next;
  bool is_alive = true;
};

// Tells what the test puts there, and one thing more at its end.
class ScriptedClocks : public ClockSource {
 public:
  void start() override { ++starts; }
  NewsQueue::Taken take() override { return std::exchange(next, {}); }
  void request_end() override { is_ending = true; }
  void finish() override {
    if (on_finish) on_finish();
    was_ending = is_ending;
    is_finished = true;
    next.news.insert(next.news.end(), last.begin(), last.end());
  }

  std::function<void()> on_finish;
  NewsQueue::Taken next;
  std::vector<ClockNews> last;
  int starts = 0;
  bool is_ending = false;
  bool was_ending = false;  // when it was waited for
  bool is_finished = false;
};

inline GpuBoard board(std::uint32_t number, const std::string& uuid) {
  GpuBoard found;
  found.number = number;
  found.name = "H200";
  found.uuid = uuid;
  found.memory_bytes = 1;
  return found;
}

inline GpuRow gpu_row(std::uint32_t number, std::uint64_t stamp, std::uint64_t power) {
  GpuRow row;
  row.board = number;
  row.stamp = stamp;
  row.read_us = 3;
  row.values.fill(spool::kMissingSample);
  row.values[static_cast<std::size_t>(GpuColumn::kPower)] = power;
  return row;
}

}  // namespace jaxprof::netsampler
