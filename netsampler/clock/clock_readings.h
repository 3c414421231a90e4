// What the clocks of a node read at one instant, ten times a second. Kernel stamps of packets are of CLOCK_REALTIME,
// which is slewed and stepped while nobody looks; comparisons are of CLOCK_MONOTONIC_RAW, which is neither. Readings of
// both close together say what one means in the other, and a jump between two of them says that the wall clock was
// stepped.
#pragma once

#include <cstdint>
#include <optional>

#include "agent/spool/clock_codec.h"
#include "netsampler/clock/stamped_socket.h"

namespace jaxprof::netsampler {

// Reads the clocks, RAW by `raw`, several times and keeps the narrowest reading: less than a microsecond in all. RAW is
// read first and last, and given as of the middle, where the wall clock is read; MONOTONIC is read on both sides of
// that. Any thread.
spool::ClockReading read_clocks(const RawClock& raw);

// Tells whether the wall clock was stepped between two readings: it moved against RAW by more than 1 us + 1000 ppm of
// the time between them (a kernel slews by 500 ppm at most, and adjtimex(2) allows ticks of 10 %, which nobody uses
// while jobs run), beyond what the readings themselves leave open.
class StepDetector {
 public:
  bool is_step(const spool::ClockReading& reading);

 private:
  std::optional<spool::ClockReading> before_;
};

}  // namespace jaxprof::netsampler
