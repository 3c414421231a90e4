// How the observers of a run's nodes find each other, where nobody has a list of the nodes: each leaves its endpoint in
// a folder of the run directory, and lists the folder again and again. The name of an endpoint's file says whose it is
// and that it is a new one, so that a file is read once, and a listing tells who came, was replaced or went. Any
// observer may be killed at any instant: files appear whole, and what a dead one left its successor on the node
// removes. Works on NFS and Lustre; reads and writes of such a folder may take long. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "netsampler/clock/clock_endpoint.h"

namespace jaxprof::netsampler {

class EndpointFolder {
 public:
  // Makes the folder below the run's state directory, for this user alone. kNodeNotReady if it cannot be made or others
  // may write to it. Where no observer stays longer than `longest_life_ns` (0: for ever), what is older by the clock of
  // the folder's server was left by a dead one: the next look takes it away.
  static Result<EndpointFolder> open(const std::string& state_directory, std::int64_t longest_life_ns = 0);

  // Leaves `own`, whole or not at all, and then removes what earlier observers of this node in this network namespace
  // left. kOutputFailed with the path.
  Status publish(const ClockEndpoint& own);
  // Takes the own endpoint away.
  void withdraw();

  // Lists the folder. True if another node came, went or was replaced. To be called after publish(): of two observers
  // at least one sees the other then, whichever is faster.
  bool look();
  // The other nodes as the last look found them, by boot id. Of several observers on one node, which have one clock,
  // the one that began last.
  const std::map<std::string, ClockEndpoint>& nodes() const { return nodes_; }
  // A look took away what it had left, and no other observer of it has come since.
  bool was_left_dead(const std::string& boot_id) const { return dead_.contains(boot_id) && !nodes_.contains(boot_id); }

  // The boot id of the node of rank 0; "" as long as it has not named itself. One that is neither this node nor one
  // that the last look found is read anew each time: it may be of an earlier run of this name.
  const std::string& reference();
  // Names the own node. Another that the last look found stays. kOutputFailed with the path.
  Status name_reference();

 private:
  EndpointFolder(std::string state_directory, std::int64_t longest_life_ns)
      : state_(std::move(state_directory)), longest_life_ns_(longest_life_ns) {}
  void remove_remains();
  void remove_dead(std::vector<std::string>* names);
  bool is_there(const std::string& boot_id) const { return boot_id == own_.boot_id || nodes_.contains(boot_id); }
  void choose_nodes();

  std::string state_;
  std::int64_t longest_life_ns_;
  ClockEndpoint own_;
  std::string own_path_;                            // "": not published
  std::map<std::string, ClockEndpoint> endpoints_;  // by file name; others' only
  std::map<std::string, ClockEndpoint> nodes_;
  std::int64_t published_ns_ = 0;  // CLOCK_MONOTONIC
  std::set<std::string> dead_;     // boot ids
  std::string reference_;
};

}  // namespace jaxprof::netsampler
