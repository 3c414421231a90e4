// What is said of who holds a run back, in one line, and how grave it is. A rank is named only if it imposes enough
// waiting, more often than chance would have it, and by more than the clocks can be wrong.
#pragma once

#include <string>

#include "merge/study/straggler_facts.h"
#include "merge/study/table.h"

namespace jaxprof::study {

inline constexpr double kMostP = 0.01;         // of the sign test
inline constexpr std::size_t kLeastSigns = 7;  // fewer cannot reach it
inline constexpr std::size_t kLeastSteps = 5;  // fewer, and it is counted how often of the instances

// p of `n_above` or more of `n` on one side, if either side were as likely; 1 for n = 0.
double sign_test_p(std::size_t n_above, std::size_t n);

// How often the lanes had most fault, and the sign test of their own time against their peers'.
struct Persistence {
  bool is_of_steps = true;  // of steps; false: of instances in which one of them was last
  std::size_t n_most = 0;
  std::size_t n = 0;
  std::size_t longest = 0;  // run of steps
  std::optional<double> p;  // none: too few to tell
  double share() const { return n == 0 ? 0 : static_cast<double>(n_most) / static_cast<double>(n); }
};
// By group; `group_of` by lane: who is compared with whom (GPUs, or their nodes), counted from 0.
std::vector<Persistence> persistences(const StragglerFacts& facts, const std::vector<std::uint32_t>& group_of);

struct Verdict {
  std::string text;
  Finding finding = Finding::kNone;
  Judgement judgement;  // what it is about; level kNone: nobody
};
Verdict straggler_verdict(const runfile::RunTables& run, const StragglerFacts& facts);

// "rank 136 (node n17, GPU 0, local rank 0)", "node n17 (ranks 8-15)"
std::string name_of(const runfile::RunTables& run, const StragglerFacts& facts, const Judgement& judgement);

}  // namespace jaxprof::study
