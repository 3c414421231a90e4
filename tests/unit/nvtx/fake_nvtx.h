// A copy of NVTX as the agent sees it when it is initialised: an export table with the slots of the two modules, of any
// size, and the payload extension's segment. What the agent puts into the slots is what a program's NVTX calls reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "agent/nvtx/nvtx_types.h"

namespace jaxprof::test {

class FakeNvtx {
 public:
  FakeNvtx() : FakeNvtx(NVTX_CBID_CORE_SIZE, NVTX_CBID_CORE2_SIZE) {}
  FakeNvtx(unsigned core_size, unsigned core2_size);
  // Runs the agent's initialiser with these tables; its result.
  int initialize();

  // The callback in a slot, as the function type that NVTX gives it; null if the agent left it alone.
  template <typename Function>
  Function core(unsigned id) const {
    return reinterpret_cast<Function>(core_[id]);
  }
  template <typename Function>
  Function core2(unsigned id) const {
    return reinterpret_cast<Function>(core2_[id]);
  }
  std::size_t filled_core() const;
  std::size_t filled_core2() const;

  // Shorthands for the calls that most scenarios make.
  nvtxDomainHandle_t create_domain(const char* name) const;
  nvtxStringHandle_t register_string(nvtxDomainHandle_t domain, const char* text) const;
  int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t& attributes) const;
  int pop(nvtxDomainHandle_t domain) const;

 private:
  static int get_table(std::uint32_t module, void**** table, unsigned* size);
  static const void* get_export_table(unsigned id);

  std::vector<void*> core_;
  std::vector<void*> core2_;
  std::vector<void**> core_slots_;
  std::vector<void**> core2_slots_;
};

// Attributes of the present NVTX with an ASCII message.
nvtxEventAttributes_t attributes_of(const char* message);

// The payload extension's segment with `slot_count` slots, filled by the agent.
class FakeExtension {
 public:
  explicit FakeExtension(std::size_t slot_count) : slots_(slot_count, 0) {}
  int initialize(std::uint16_t module = nvtx::kPayloadModule, std::size_t segment_id = 0);
  template <typename Function>
  Function slot(nvtx::PayloadSlot which) const {
    return reinterpret_cast<Function>(slots_[static_cast<std::size_t>(which)]);
  }
  std::size_t filled() const;

 private:
  std::vector<std::intptr_t> slots_;
};

}  // namespace jaxprof::test
