#include "merge/rundir/clock_records.h"

#include "agent/spool/spool_reader.h"
#include "merge/clock/plausible.h"

namespace jaxprof::rundir {

bool ClockRecords::take(spool::StateKind kind, Bytes record, const Texts& text) {
  switch (kind) {
    case spool::StateKind::kClockService: {
      spool::ClockServiceState state{};
      if (!spool::read_state(record, &state)) return false;
      services_.push_back(
          {text(state.address), text(state.interface), text(state.clocksource), text(state.reason), state});
      return true;
    }
    case spool::StateKind::kClockPeer: {
      spool::ClockPeerState state{};
      if (!spool::read_state(record, &state)) return false;
      peers_[state.peer] = {text(state.host), text(state.boot_id), text(state.address), state};
      return true;
    }
    case spool::StateKind::kClockDiscipline: {
      spool::ClockDisciplineState state{};
      if (!spool::read_state(record, &state)) return false;
      disciplines_.push_back(state);
      return true;
    }
    case spool::StateKind::kClockPackets: {
      spool::ClockPacketsState state{};
      if (!spool::read_state(record, &state)) return false;
      packets_ = state;
      return true;
    }
    default:
      return true;
  }
}

ClockLosses ClockRecords::for_each(const spool::ClockVisitor& visit) const {
  ClockLosses losses;
  const auto visit_reading = [&](const spool::ClockReading& reading) {
    if (!clock::is_plausible(reading)) {
      ++losses.implausible_readings;
    } else if (visit.reading) {
      visit.reading(reading);
    }
  };
  for (const Bytes payload : blocks_) {
    if (!spool::decode_clock_block(payload, {visit_reading, visit.burst})) ++losses.damaged_blocks;
  }
  return losses;
}

}  // namespace jaxprof::rundir
