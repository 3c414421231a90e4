// Hand-built buffers of activity records, from NVIDIA's own structs: what CUPTI would have written.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "agent/cupti/record_layout.h"

namespace jaxprof::test {

// Records one behind the other, as CUPTI lays them out.
class RecordBuffer {
 public:
  template <typename T>
  RecordBuffer& add(const T& record) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&record);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof record);
    return *this;
  }
  std::uint8_t* data() { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::vector<std::uint8_t> bytes_;
};

template <typename T>
cupti::Record record_of(const T& record) {
  return {reinterpret_cast<const std::uint8_t*>(&record), sizeof record};
}

template <typename Kernel>
Kernel make_kernel(const char* name, std::uint64_t start_ns, std::uint64_t end_ns, std::uint32_t correlation) {
  Kernel kernel;
  std::memset(&kernel, 0, sizeof kernel);
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.registersPerThread = 48;
  kernel.start = start_ns;
  kernel.end = end_ns;
  kernel.deviceId = 1;
  kernel.contextId = 2;
  kernel.streamId = 7;
  kernel.gridX = 132;
  kernel.gridY = 2;
  kernel.gridZ = 1;
  kernel.blockX = 256;
  kernel.blockY = 1;
  kernel.blockZ = 1;
  kernel.staticSharedMemory = 1024;
  kernel.dynamicSharedMemory = 98304;
  kernel.localMemoryPerThread = 16;
  kernel.correlationId = correlation;
  kernel.name = name;
  kernel.graphNodeId = (3ULL << 32) | 5;
  kernel.graphId = 3;
  kernel.channelID = 9;
  kernel.clusterX = 2;
  kernel.clusterY = 1;
  kernel.clusterZ = 1;
  return kernel;
}

inline CUpti_ActivityAPI make_call(CUpti_ActivityKind kind, std::uint32_t id, std::uint64_t start_ns,
                                   std::uint32_t correlation) {
  CUpti_ActivityAPI call;
  std::memset(&call, 0, sizeof call);
  call.kind = kind;
  call.cbid = id;
  call.start = start_ns;
  call.end = start_ns + 1000;
  call.threadId = 4711;
  call.correlationId = correlation;
  return call;
}

}  // namespace jaxprof::test
