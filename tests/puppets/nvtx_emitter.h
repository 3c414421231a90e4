// NVTX calls in one domain, each counted as it is made. Thin on purpose: what reaches a tool is exactly one NVTX call
// per method. Used from any thread, except that a push and its pop belong to one thread, as NVTX wants it.
#pragma once

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <string>

#include "tests/puppets/nvtx_counts.h"

namespace jaxprof::puppets {

// What a range or mark may carry besides its message.
struct Decoration {
  std::uint32_t category = 0;
  std::uint32_t color_argb = 0;  // 0: none
  int payload_type = NVTX_PAYLOAD_UNKNOWN;
  std::uint64_t payload_bits = 0;
};

class NvtxEmitter {
 public:
  // The default domain.
  explicit NvtxEmitter(NvtxCounts& counts) : counts_(counts) {}
  // Creates the domain `name`; with `is_wide` through the wide-character call.
  NvtxEmitter(NvtxCounts& counts, const std::string& name, bool is_wide = false);

  nvtxStringHandle_t register_string(const std::string& text);
  nvtxStringHandle_t register_wide_string(const std::wstring& text, const std::string& as_utf8);

  void push(const std::string& message, const Decoration& decoration = {});
  void push_registered(nvtxStringHandle_t message);
  void push_wide(const std::wstring& message);
  void pop();
  nvtxRangeId_t start(const std::string& message);
  void end(nvtxRangeId_t range);
  void mark(const std::string& message, const Decoration& decoration = {});

  void name_category(std::uint32_t category, const std::string& name);
  nvtxResourceHandle_t name_resource(void* resource, const std::string& name);
  void forget_resource(nvtxResourceHandle_t resource);
  void destroy_domain();

  nvtxDomainHandle_t domain() const { return domain_; }
  const std::string& name() const { return name_; }
  NvtxCounts& counts() { return counts_; }
  // For calls that are not wrapped here.
  void count(const std::string& kind, std::uint64_t n = 1) { counts_.add(name_, kind, n); }

 private:
  NvtxCounts& counts_;
  std::string name_;
  nvtxDomainHandle_t domain_ = nullptr;
};

// Version and size filled in, nothing else.
nvtxEventAttributes_t empty_event();

}  // namespace jaxprof::puppets
