// `-o DIRECTORY/STEM`: where a run and each of its ranks are written. People write %q{SLURM_JOB_ID} as for nsys, with
// %h and %p, and jaxprof adds %r (rank), %l (local rank), %n (node number), %J and %S (job and step), %% and
// %q{VAR:-default}. An unset variable must lose neither the job nor its profile: it becomes `unset-VAR` and is
// reported, and so does an empty one, which names nothing either. The directory has to be one for all ranks, so what
// differs between ranks is refused there. Names are expanded late, by each process for itself: a task's wrapper does
// not know the rank of a torchrun worker. Agent-safe.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "agent/base/env.h"
#include "agent/base/text.h"
#include "agent/contract/rank_identity.h"
#include "agent/contract/run_identity.h"

namespace jaxprof {

inline constexpr std::size_t kStemBytes = 256;  // a file name with room for suffixes stays below NAME_MAX (255)
inline constexpr std::size_t kPathBytes = 1024;

// What the macros stand for.
struct TemplateValues {
  RankIdentity rank;
  const RunIdentity* run = nullptr;
  const char* host = "";
  pid_t pid = 0;
};

enum class TemplateFault {
  kNone,
  kUnknownMacro,       // %x that means nothing
  kUnterminatedMacro,  // %q{ without }
  kPerRankDirectory,   // a macro that differs between ranks, in the directory
  kEmptyStem,          // "DIRECTORY/"
  kTooLong,
};

struct TemplateReport {
  TemplateFault fault = TemplateFault::kNone;
  std::size_t fault_offset = 0;  // in the text that was expanded or checked
  char unset_variable[64] = {};  // the first variable that was not set, or empty; "" if none
  bool is_no_name = false;       // of expand_stem: the text gave no name for a file, and the rank's stands for it
};

// Checks `text` as a whole template; what it finds is the same on every rank. `named`: variables that differ between
// ranks beyond those that are known to.
TemplateReport check_template(const char* text, const RankVariables& named = {}) noexcept;

// Offset in `text` of the first character of STEM: behind the last '/', or 0.
std::size_t stem_offset(const char* text) noexcept;

// Expands `length` bytes of `text` to `out`. In a stem, characters of values that do not belong into a file name
// (a slash above all) become '_'. An unknown rank gives HOST.PID for %r, and `unknown` for %l and %n.
TemplateReport expand_template(const char* text, std::size_t length, bool is_stem, const TemplateValues& values,
                               const Env& env, TextBuffer* out) noexcept;

// Expands `text`, the STEM of a template, to a name that a file can have: where nothing, "." or ".." comes out, as of
// "%q{VAR:-}", it is `rankN`, or HOST.PID of an unknown rank.
TemplateReport expand_stem(const char* text, const TemplateValues& values, const Env& env,
                           char (&stem)[kStemBytes]) noexcept;

// A fault in words, for a message; a literal.
const char* describe(TemplateFault fault) noexcept;

}  // namespace jaxprof
