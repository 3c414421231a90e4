#include "agent/nvtx/domains.h"

#include "agent/contract/step_marker.h"
#include "agent/nvtx/nccl_ordinals.h"

namespace jaxprof::nvtx {

namespace detail {
std::atomic<std::uint8_t> domain_uses[collect::kMaxDomains];
std::atomic<char> step_letter{'\0'};
std::atomic<char> content_letter{'\0'};
}  // namespace detail

namespace {

// XLA's titles begin with one of their own (step_marker.h).
char first_letter(const StepMarker& marker) noexcept {
  return marker.kind == StepMarkerKind::kXlaModule ? 'X' : marker.name[0];
}

}  // namespace

void note_domain(std::uint16_t domain, std::string_view name) noexcept {
  const SessionPlan& plan = collect::session_plan();
  const bool is_nccl = name == kNcclDomain;
  detail::step_letter.store(first_letter(plan.step_marker), std::memory_order_relaxed);
  detail::content_letter.store(first_letter(plan.window.marker), std::memory_order_relaxed);
  std::uint32_t uses = is_nccl ? kIsNccl : 0;
  if ((plan.trace & (is_nccl ? kTraceNccl : kTraceNvtx)) != 0) uses |= kIsKept;
  if (is_step_domain(plan.step_marker, name)) uses |= kHasSteps;
  if (is_step_domain(plan.window.marker, name)) uses |= kHasContent;  // a marker that is none marks nothing
  detail::domain_uses[domain].store(static_cast<std::uint8_t>(uses), std::memory_order_relaxed);
}

}  // namespace jaxprof::nvtx
