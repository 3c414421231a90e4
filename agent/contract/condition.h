// `--if 'SLURM_LOCALID==0 && SLURM_NODEID%4==0'`: a condition over integers from the environment. nsys-jax hands such
// text to bash; a profiler must not run a shell on every rank, so this is a small language of its own: integers,
// variables (`rank`, `local_rank`, `node`, `world_size`, or any environment variable that holds an integer),
// || && ! == != < <= > >= + - * / % and parentheses, with C's precedence. Nothing is compiled or allocated: the text is
// evaluated as it is read, in the wrapper and, where only a process knows its rank, in each process. Agent-safe.
#pragma once

#include <cstddef>

#include "agent/base/env.h"
#include "agent/contract/rank_identity.h"

namespace jaxprof {

enum class ConditionValue {
  kFalse,
  kTrue,
  kUnknown,  // a variable that it depends on is not set or not an integer, or it divides by zero
  kInvalid,  // not a condition; the same on every rank
};

struct ConditionResult {
  ConditionValue value = ConditionValue::kInvalid;
  std::size_t fault_offset = 0;    // of kInvalid: where reading stopped
  char unknown_variable[64] = {};  // of kUnknown: the first such variable; "" if a division alone is at fault
  bool is_set = false;             // the unknown variable has a value, which is no integer
  bool is_constant = true;         // no variable occurs in it: the same on every rank

  // What a kUnknown lacks, in words.
  const char* unknown() const noexcept {
    return unknown_variable[0] != '\0' ? unknown_variable : "the result of a division by zero (or beyond 64 bits)";
  }
  // What is wrong with that, to follow unknown() in a message.
  const char* why_unknown() const noexcept {
    if (unknown_variable[0] == '\0') return "";
    return is_set ? ", which is set here, but to no integer" : ", which is not known here";
  }
};

ConditionResult evaluate_condition(const char* text, const RankIdentity& rank, const Env& env) noexcept;

}  // namespace jaxprof
