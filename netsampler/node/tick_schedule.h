// When what is to be read. Each entry has a period of its own, and its deadlines are whole periods after one origin,
// so that entries of equal rate are due together and the phase never drifts. A tick that comes too late is read then;
// those that were due before it are counted as missed and never caught up, since a burst of readings tells nothing.
// Values in, values out: no clock is read here.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace jaxprof::netsampler {

// All times in ns of the clock that the caller sleeps by.
struct TickCounts {
  std::uint64_t ticks = 0;   // that were due, of all entries
  std::uint64_t missed = 0;  // of them: another of the same entry was due already
  std::uint64_t lateness_max_ns = 0;
  std::uint64_t lateness_sum_ns = 0;  // over those that were not missed
};

struct DueTick {
  std::uint32_t entry = 0;
  bool is_slow = false;  // a whole slow period has begun since the entry's last tick
  std::uint64_t lateness_ns = 0;

  bool operator==(const DueTick&) const = default;
};

class TickSchedule {
 public:
  explicit TickSchedule(std::uint64_t origin_ns) : origin_ns_(origin_ns) {}

  // From now on `entry` is due every `period_ns`, first at the next whole period after `now_ns`, and never with 0.
  // Every `slow_period_ns` its tick is a slow one, and each of them if that is no longer than the period. An entry that
  // has these periods already goes on as it was.
  void set(std::uint32_t entry, std::uint64_t period_ns, std::uint64_t slow_period_ns, std::uint64_t now_ns);

  // The earliest deadline; UINT64_MAX if there is no entry.
  std::uint64_t next_deadline_ns() const;

  // Replaces `due` by what is due at `now_ns`, by entry, and moves on to the deadlines after that.
  void take_due(std::uint64_t now_ns, std::vector<DueTick>* due);

  const TickCounts& counts() const { return counts_; }

 private:
  struct Entry {
    std::uint64_t period_ns;
    std::uint64_t slow_period_ns;
    std::uint64_t next_ns;
    std::uint64_t last_ns;  // the deadline that was taken last
  };

  bool is_slow(const Entry& entry, std::uint64_t deadline_ns) const;

  std::uint64_t origin_ns_;
  std::map<std::uint32_t, Entry> entries_;
  TickCounts counts_;
};

}  // namespace jaxprof::netsampler
