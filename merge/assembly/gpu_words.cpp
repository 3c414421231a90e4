#include "merge/assembly/gpu_words.h"

#include "agent/contract/session_page.h"

namespace jaxprof::assembly {
namespace {

// The word at position `number - 1` of a list that has CUPTI's order, which begins with 1.
template <typename E>
E word_at(std::uint32_t number, E last) {
  const bool is_known = number >= 1 && number <= static_cast<std::uint32_t>(last) + 1;
  return is_known ? static_cast<E>(number - 1) : E::kUnknown;
}

}  // namespace

runfile::MemopKind memop_kind_of(std::uint32_t cupti) {
  return word_at(cupti, runfile::MemopKind::kPtoP);
}

runfile::MemoryKind memory_kind_of(std::uint32_t cupti) {
  return word_at(cupti, runfile::MemoryKind::kManagedStatic);
}

runfile::OverheadKind overhead_kind_of(std::uint32_t cupti) {
  if (cupti == 1) return runfile::OverheadKind::kDriverCompiler;
  const bool is_of_cupti = (cupti & 0xffff) == 0 && cupti != 0;
  return is_of_cupti ? word_at((cupti >> 16) + 1, runfile::OverheadKind::kUvmInit) : runfile::OverheadKind::kUnknown;
}

runfile::SyncKind sync_kind_of(std::uint32_t cupti) {
  return word_at(cupti, runfile::SyncKind::kContextSynchronize);
}

runfile::WindowCause window_cause_of(std::uint32_t cause) {
  return word_at(cause, runfile::WindowCause::kExit);
}

runfile::GpuMode gpu_mode_of(std::uint32_t mode) {
  switch (static_cast<GpuMode>(mode)) {
    case GpuMode::kNone:
      return runfile::GpuMode::kNone;
    case GpuMode::kShared:
      return runfile::GpuMode::kShared;
    case GpuMode::kAlone:
      return runfile::GpuMode::kAlone;
    case GpuMode::kUnavailable:
      return runfile::GpuMode::kUnavailable;
  }
  return runfile::GpuMode::kMissing;
}

}  // namespace jaxprof::assembly
