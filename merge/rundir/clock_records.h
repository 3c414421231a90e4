// What one observer's spool says about clocks: how the node took part in the probes, whom it compared itself with, what
// its kernel says of the wall clock, and the readings and bursts, which stay in the file until they are walked.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/spool/clock_codec.h"
#include "agent/spool/clock_record.h"

namespace jaxprof::rundir {

// Texts are empty where the observer did not know.
struct ClockService {
  std::string address;
  std::string interface;
  std::string clocksource;
  std::string reason;  // why there are no probes, or only some
  spool::ClockServiceState state{};
};

struct ClockPeer {
  std::string host;
  std::string boot_id;
  std::string address;
  spool::ClockPeerState state{};
};

// What was not visited.
struct ClockLosses {
  std::uint64_t damaged_blocks = 0;        // that did not decode to their end
  std::uint64_t implausible_readings = 0;  // that no clock shows (merge/clock/plausible.h)
};

class ClockRecords {
 public:
  using Bytes = std::span<const std::uint8_t>;
  using Texts = std::function<std::string(spool::StringId)>;

  // Takes a state record; false if it is shorter than its kind. Kinds that are not of clocks are no fault.
  bool take(spool::StateKind kind, Bytes record, const Texts& text);
  // Remembers a clock block, which must outlive this.
  void add_block(Bytes payload) { blocks_.push_back(payload); }

  // In the order of writing; the last tells how it ended.
  const std::vector<ClockService>& services() const { return services_; }
  // By the numbers that bursts carry, as the last record has them.
  const std::map<std::uint32_t, ClockPeer>& peers() const { return peers_; }
  const std::vector<spool::ClockDisciplineState>& disciplines() const { return disciplines_; }
  // The last that were told.
  const std::optional<spool::ClockPacketsState>& packets() const { return packets_; }
  bool has_blocks() const { return !blocks_.empty(); }

  // Visits all plausible readings and all bursts in the order of writing; a null member of `visit` is skipped. Stamps
  // of bursts are as they were written: whoever pairs them knows which can be true.
  ClockLosses for_each(const spool::ClockVisitor& visit) const;

 private:
  std::vector<ClockService> services_;
  std::map<std::uint32_t, ClockPeer> peers_;
  std::vector<spool::ClockDisciplineState> disciplines_;
  std::optional<spool::ClockPacketsState> packets_;
  std::vector<Bytes> blocks_;
};

}  // namespace jaxprof::rundir
