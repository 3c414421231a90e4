#include "agent/nvtx/domains.h"

#include "agent/contract/step_marker.h"
#include "agent/nvtx/nccl_ordinals.h"

namespace jaxprof::nvtx {

namespace detail {
std::atomic<std::uint8_t> domain_uses[collect::kMaxDomains];
}  // namespace detail

void note_domain(std::uint16_t domain, std::string_view name) noexcept {
  const SessionPlan& plan = collect::session_plan();
  const bool is_nccl = name == kNcclDomain;
  std::uint32_t uses = is_nccl ? kIsNccl : 0;
  if ((plan.trace & (is_nccl ? kTraceNccl : kTraceNvtx)) != 0) uses |= kIsKept;
  if (is_step_domain(plan.step_marker, name)) uses |= kHasSteps;
  if (is_step_domain(plan.window.marker, name)) uses |= kHasContent;  // a marker that is none marks nothing
  detail::domain_uses[domain].store(static_cast<std::uint8_t>(uses), std::memory_order_relaxed);
}

}  // namespace jaxprof::nvtx
