// What marks the steps of a training loop. Studies compare ranks step by step, windows open at a step, and only the
// program knows where its steps begin: so one kind of NVTX range is named to be the steps. This is the one place that
// knows how a marker is written on the command line and how a range is recognised as one.
//
//   NAME           NVTX ranges with the message NAME in the default domain or in the domain "jaxprof"
//   NAME@DOMAIN    in the domain DOMAIN; NAME@* in any
//   xla:MODULE     executions of the XLA module MODULE, which XLA marks in its domain "TSL"
//   none           no steps are looked for
//
// The last @ divides. A step is the outermost such range that a thread pushes, and each that is started outside of one.
// Its number is the range's integer payload if it has one, else its
// ordinal since the process began, from 0: of the process for ranges, of the thread for XLA modules, since XLA launches
// each device's executions from a thread of its own. Agent-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/base/text.h"

namespace jaxprof {

// The domain of jaxprof's own annotations (launcher/python, slurm/examples).
inline constexpr const char* kAnnotationDomain = "jaxprof";
inline constexpr const char* kXlaDomain = "TSL";

// What --step-marker is unless it is given.
inline constexpr const char* kDefaultStepMarker = "step";

enum class StepMarkerKind : std::uint32_t {
  kNone = 0,       // no steps are looked for
  kRange = 1,      // NVTX ranges with the message `name`
  kXlaModule = 2,  // executions of the XLA module `name`
};

// Plain memory: it lies in the session page.
struct StepMarker {
  StepMarkerKind kind = StepMarkerKind::kNone;
  std::uint32_t is_any_domain = 0;  // kRange: in whatever domain
  char name[128] = {};              // kRange: the message; kXlaModule: the module's name
  char domain[64] = {};             // kRange: the domain's name; "": the default domain and kAnnotationDomain
};

inline constexpr std::size_t kStepMarkerBytes = sizeof(StepMarker::name) + sizeof(StepMarker::domain) + 8;

// Reads what the head of this file describes. Null if it could; else what is wrong with `text`, and `marker` is kNone.
const char* parse_step_marker(const char* text, StepMarker* marker) noexcept;

// The inverse: the text that gives `marker`, of less than kStepMarkerBytes.
void append_step_marker(const StepMarker& marker, TextBuffer* out) noexcept;

// Where a step may be marked, and by which messages. A range needs both. `domain` is "" for the default domain.
bool is_step_domain(const StepMarker& marker, std::string_view domain) noexcept;
bool is_step_message(const StepMarker& marker, std::string_view message) noexcept;

// The module of a title that XLA gives to an execution ("XlaModule:#hlo_module=NAME,program_id=7#", or with
// "prefix=..," first); "" for any other message. A module that is compiled again has another title and the same name.
std::string_view xla_module_of(std::string_view message) noexcept;

}  // namespace jaxprof
