// The kernel's RDMA netlink. Reading a port's counters is one question and one answer with all of them: no privilege,
// no /sys, and nothing older than the question. The kernel works inside of send(), so that the answer lies there when
// it returns, and receiving never waits. Where there is no such socket (no RDMA in this kernel, or a filter of system
// calls), every question is answered by the reason. One thread.
#pragma once

#include <memory>

#include "netsampler/nic/rdma_link.h"

namespace jaxprof::netsampler {

class RdmaSocket : public RdmaLink {
 public:
  RdmaSocket();
  ~RdmaSocket() override;
  RdmaSocket(const RdmaSocket&) = delete;
  RdmaSocket& operator=(const RdmaSocket&) = delete;

  RdmaReply ask(const RdmaRequest& request) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace jaxprof::netsampler
