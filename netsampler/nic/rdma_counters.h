// A port's hw_counters over RDMA netlink: all in one answer, whichever of them are wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "netsampler/nic/counter_source.h"
#include "netsampler/nic/rdma_link.h"
#include "netsampler/nic/rdma_reply.h"

namespace jaxprof::netsampler {

// A counter's place in the answers, and the column it goes to.
struct RdmaColumn {
  std::string name;
  std::size_t column = 0;
};

// What the port answers now: the names in the driver's order, and errno where it does not (ENODATA: it has none).
struct RdmaNames {
  std::vector<std::string> names;
  int error = 0;
};
RdmaNames ask_counter_names(RdmaLink* link, std::uint32_t device, unsigned port);

class RdmaCounters : public CounterSource {
 public:
  // `columns` in the order of the answers, all of them. `link` outlives it.
  RdmaCounters(RdmaLink* link, std::uint32_t device, unsigned port, std::vector<RdmaColumn> columns);
  ReadOutcome read(std::span<std::uint64_t> values) override;

 private:
  RdmaLink* link_;
  std::uint32_t device_;
  unsigned port_;
  std::vector<RdmaColumn> columns_;
  std::vector<RdmaCounter> counters_;
};

}  // namespace jaxprof::netsampler
