// The kernel's side of RDMA netlink: devices that a test makes, changes and takes away while a sampler asks for them.
#pragma once

#include <cerrno>

#include "netsampler/nic/rdma_link.h"
#include "netsampler/nic/rdma_reply.h"
#include "tests/unit/nic/netlink_bytes.h"

namespace jaxprof::test {

class RecordedLink : public netsampler::RdmaLink {
 public:
  std::vector<AnsweredDevice> devices;
  int error = 0;                      // of every question
  std::size_t counter_questions = 0;  // so far

  netsampler::RdmaReply ask(const netsampler::RdmaRequest& request) override {
    if (error != 0) return {.error = error};
    answer_ = answer(request);
    if (const int found = netsampler::find_netlink_error(answer_); found != 0) return {.error = found};
    return {.bytes = answer_};
  }

  AnsweredDevice& device(const std::string& name) {
    for (AnsweredDevice& one : devices) {
      if (one.name == name) return one;
    }
    devices.push_back({.index = next_index_++, .name = name, .guid = 0, .ports = {}});
    return devices.back();
  }
  // Of port 1.
  void set(const std::string& name, const std::string& counter, std::uint64_t value) {
    for (auto& [known, number] : device(name).ports.at(0).counters) {
      if (known == counter) number = value;
    }
  }
  // It is then another one, as after a new start of its driver.
  void renumber(const std::string& name) { device(name).index = next_index_++; }

 private:
  Octets answer(const netsampler::RdmaRequest& request) {
    if (request.command == kGet) return answer_devices(devices);
    for (const AnsweredDevice& one : devices) {
      if (one.index != request.device) continue;
      if (request.command == kPortGet) return answer_ports(one);
      ++counter_questions;
      for (const AnsweredPort& port : one.ports) {
        if (port.number == request.port && !port.counters.empty()) return answer_counters(one, port);
      }
    }
    return answer_error(EINVAL);
  }

  Octets answer_;
  std::uint32_t next_index_ = 0;
};

}  // namespace jaxprof::test
