// Of several processes of a node that come to a meeting one takes the node's part, for they have one clock, one address
// and one place in the folder. Whoever is first has it until it ends, in whatever way: it is a name among the abstract
// sockets, which are of one network namespace each, as the places in the folder are. No file is left anywhere.
#pragma once

#include <string>

#include "agent/base/result.h"
#include "agent/base/unique_fd.h"

namespace jaxprof::netsampler {

class MeetingPart {
 public:
  // Of the node `boot_id` in the meeting at `folder`. kNodeNotReady with the reason if there is no such folder, or no
  // socket to be had.
  static Result<MeetingPart> take(const std::string& folder, const std::string& boot_id);

  // Another process of this node has it.
  bool is_anothers() const { return !socket_; }

 private:
  explicit MeetingPart(UniqueFd socket) : socket_(std::move(socket)) {}

  UniqueFd socket_;
};

}  // namespace jaxprof::netsampler
