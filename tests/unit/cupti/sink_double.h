// The rest of the agent as agent/cupti sees it (agent/collect/event_sink.h), in memory: what was interned, registered
// and counted can be looked at, and nothing is attached. A test that links this does not link agent/collect.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "agent/contract/session_page.h"
#include "agent/spool/state_record.h"

namespace jaxprof::test {

class SinkDouble {
 public:
  SinkDouble();  // forgets all of before
  std::string text(spool::StringId id) const;
  std::uint64_t drops(Drop drop) const;
  // All records of a kind, in order.
  template <typename State>
  std::vector<State> states(spool::StateKind kind) const {
    std::vector<State> found;
    for (const std::string& bytes : raw_states(kind)) {
      State state;
      std::memcpy(&state, bytes.data(), sizeof state);
      found.push_back(state);
    }
    return found;
  }

 private:
  std::vector<std::string> raw_states(spool::StateKind kind) const;
};

}  // namespace jaxprof::test
