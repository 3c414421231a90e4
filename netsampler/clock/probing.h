// A node among the others of its run: it leaves its endpoint, sees theirs, chooses its peers and has their clocks asked
// when they are due. The parts do the work (endpoint_folder, peer_choice, the schedules, probe_engine); here they are
// tied together. Nodes come, go and return at any time, and nobody waits for anybody. One thread; times are of the raw
// clock in ns.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "netsampler/clock/clock_news.h"
#include "netsampler/clock/clock_readings.h"
#include "netsampler/clock/endpoint_folder.h"
#include "netsampler/clock/look_schedule.h"
#include "netsampler/clock/probe_engine.h"
#include "netsampler/clock/probe_schedule.h"

namespace jaxprof::netsampler {

struct ProbingSettings {
  std::string state_directory;  // of the run, on storage that all nodes see
  std::string run_id;
  std::string host;
  std::string boot_id;    // names the node
  std::string interface;  // "": own_interface.h chooses
  PortRange ports;
  std::int64_t longest_life_ns = 0;  // of an observer; EndpointFolder::open
};

class Probing {
 public:
  using Tell = std::function<void(ClockNews)>;

  // Opens the socket, then leaves the endpoint, so that whoever finds it gets an answer. kNodeNotReady or kOutputFailed
  // with the first thing that is in the way. `tell` gets peers and bursts.
  static Result<std::unique_ptr<Probing>> open(const ProbingSettings& settings, const RawClock& raw, Tell tell);
  Probing(const Probing&) = delete;
  Probing& operator=(const Probing&) = delete;

  // When there is something to do beside answering.
  std::int64_t next_ns() const { return std::min(looks_.next_ns(), schedule_.next_ns()); }
  // Answers, asks, and does what becomes due, until `deadline_ns` or until `wake_fd` can be read.
  void run_until(std::int64_t deadline_ns, int wake_fd);

  // Looks for the others out of turn.
  void look();
  // The own wall clock or clock source was seen to change: peers are asked once more.
  void hurry();
  // Rank 0 is on this node. True once that is known to all, or that it is another node.
  bool name_reference();
  // All peers that answer are asked a last time, and others' last questions are answered, for `limit_ns` in all; not at
  // all if none answers. Then the endpoint is gone.
  void finish(std::int64_t limit_ns);

  const ClockEndpoint& own() const { return own_; }
  const std::string& remark() const { return remark_; }  // OwnInterface's
  bool is_reference() { return folder_.reference() == own_.boot_id; }
  const std::map<std::string, ClockEndpoint>& others() const { return folder_.nodes(); }  // as the last look found them
  bool was_left_dead(const std::string& boot_id) const { return folder_.was_left_dead(boot_id); }
  std::uint32_t stamps() const { return engine_->stamps(); }
  const ProbeCounts& counts() const { return engine_->counts(); }
  // "no answer from 1 of 5 nodes asked: n3 (10.0.0.3)", and those that do not answer any more; "" if all answer whom
  // this node asks, or none has been asked yet. All that were ever asked are counted, also those that are not asked any
  // more; nodes that went before they had answered are among the silent ones.
  std::string describe_silent() const;

 private:
  struct Peer {
    std::uint32_t number = 0;
    ClockEndpoint endpoint;
    bool is_reference = false;
    bool has_answered = false;  // once, or an observer before it on its node
    bool went_silent = false;   // it is not asked any more, and did not answer when it was
  };

  Probing(EndpointFolder folder, ClockEndpoint own, std::uint64_t seed, RawClock raw, Tell tell);
  void do_due();
  void choose();
  void take_peer(const std::string& boot_id, const ClockEndpoint& endpoint);
  void ask_due();
  void take_burst(const spool::ProbeBurst& burst);
  ProbeTarget target_of(const Peer& peer) const;

  EndpointFolder folder_;
  ClockEndpoint own_;
  std::string remark_;
  std::uint64_t seed_;
  RawClock raw_;
  Tell tell_;
  LookSchedule looks_;
  ProbeSchedule schedule_;
  std::map<std::string, Peer> peers_;              // all that were ever chosen, by boot id
  std::map<std::uint32_t, std::string> boot_ids_;  // of peers, by number
  std::string known_reference_;                    // as the choice was made with
  std::vector<DueBurst> due_;
  std::unique_ptr<ProbeEngine> engine_;  // calls back into the above
};

}  // namespace jaxprof::netsampler
