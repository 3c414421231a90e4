// What marks the steps of a training loop. Studies compare ranks step by step, windows open at a step, and only the
// program knows where its steps begin: so one kind of NVTX range is named to be the steps. This is the one place that
// knows how a marker is written on the command line and how a range is recognised as one. Agent-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jaxprof {

// The domain of jaxprof's own annotations (launcher/python, slurm/examples).
inline constexpr const char* kAnnotationDomain = "jaxprof";

enum class StepMarkerKind : std::uint32_t {
  kNone = 0,       // no steps are looked for
  kRange = 1,      // NVTX ranges with the message `name`
  kXlaModule = 2,  // executions of the XLA module `name`, which XLA marks in its domain "TSL"
};

// Plain memory: it lies in the session page.
struct StepMarker {
  StepMarkerKind kind = StepMarkerKind::kNone;
  std::uint32_t is_any_domain = 0;  // kRange: in whatever domain
  char name[128] = {};              // kRange: the message; kXlaModule: the module's name
  char domain[64] = {};             // kRange: the domain's name; "": the default domain and kAnnotationDomain
};

}  // namespace jaxprof
