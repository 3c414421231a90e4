#include "netsampler/nic/rdma_counters.h"

#include <rdma/rdma_netlink.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace jaxprof::netsampler {
namespace {

RdmaReply ask_counters(RdmaLink* link, std::uint32_t device, unsigned port) {
  return link->ask({.command = RDMA_NLDEV_CMD_STAT_GET, .device = device, .port = port});
}

}  // namespace

RdmaNames ask_counter_names(RdmaLink* link, std::uint32_t device, unsigned port) {
  const RdmaReply reply = ask_counters(link, device, port);
  if (reply.error != 0) return {.names = {}, .error = reply.error};
  std::vector<RdmaCounter> counters;
  RdmaNames found;
  if (!parse_rdma_counters(reply.bytes, &counters)) found.error = ENODATA;
  for (const RdmaCounter& counter : counters) found.names.emplace_back(counter.name);
  return found;
}

RdmaCounters::RdmaCounters(RdmaLink* link, std::uint32_t device, unsigned port, std::vector<RdmaColumn> columns)
    : link_(link), device_(device), port_(port), columns_(std::move(columns)) {}

ReadOutcome RdmaCounters::read(std::span<std::uint64_t> values) {
  const bool is_wanted = std::any_of(columns_.begin(), columns_.end(),
                                     [&](const RdmaColumn& column) { return column.column < values.size(); });
  if (!is_wanted) return ReadOutcome::kOk;
  const RdmaReply reply = ask_counters(link_, device_, port_);
  // The kernel says so of a device number that is no more; others pass.
  if (reply.error == EINVAL || reply.error == ENODEV) return ReadOutcome::kLost;
  if (reply.error != 0) return ReadOutcome::kOk;
  if (!parse_rdma_counters(reply.bytes, &counters_) || counters_.size() != columns_.size()) {
    return ReadOutcome::kChanged;
  }
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    if (counters_[i].name != columns_[i].name) return ReadOutcome::kChanged;
    if (columns_[i].column < values.size()) values[columns_[i].column] = counters_[i].value;
  }
  return ReadOutcome::kOk;
}

}  // namespace jaxprof::netsampler
