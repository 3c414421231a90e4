#include "agent/contract/rank_selection.h"

#include <cstring>

#include "agent/base/text.h"
#include "agent/contract/condition.h"

namespace jaxprof {
namespace {

// One "FIRST[-LAST[:STRIDE]]".
struct NumberRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t stride = 1;
};

// Reads the digits at `*at`, and moves `*at` behind them.
bool read_digits(const char* text, std::size_t* at, std::uint64_t* value) noexcept {
  const std::size_t begin = *at;
  while (text[*at] >= '0' && text[*at] <= '9') ++*at;
  return parse_decimal(text + begin, *at - begin, value);
}

// Reads the range at `*at`, and moves `*at` behind it.
bool read_range(const char* list, std::size_t* at, NumberRange* range) noexcept {
  if (!read_digits(list, at, &range->first)) return false;
  range->last = range->first;
  range->stride = 1;
  if (list[*at] == '-') {
    ++*at;
    if (!read_digits(list, at, &range->last) || range->last < range->first) return false;
    if (list[*at] == ':') {
      ++*at;
      if (!read_digits(list, at, &range->stride) || range->stride == 0) return false;
    }
  }
  return true;
}

// The answers so far, of parts that must all hold.
class Conjunction {
 public:
  void add(bool holds) noexcept {
    if (!holds) is_refuted_ = true;
  }
  void add_unknown(const char* what, const char* why = ", which is not known here") noexcept {
    if (result_.selected == Selected::kUnknown) return;
    result_.selected = Selected::kUnknown;
    TextBuffer unknown(result_.unknown, sizeof result_.unknown);
    unknown.append(what);
    unknown.append(why);
  }
  void add_list(const char* list, std::int32_t number, const char* what) noexcept {
    if (list[0] == '\0') return;
    if (number < 0) {
      add_unknown(what);
    } else {
      add(number_list_contains(list, static_cast<std::uint64_t>(number)));
    }
  }
  void add_condition(const char* text, const RankIdentity& rank, const Env& env) noexcept {
    if (text[0] == '\0') return;
    const ConditionResult condition = evaluate_condition(text, rank, env);
    if (condition.value == ConditionValue::kUnknown) {
      add_unknown(condition.unknown(), condition.why_unknown());
    } else {
      add(condition.value == ConditionValue::kTrue);
    }
  }
  SelectionResult result() const noexcept { return is_refuted_ ? SelectionResult{Selected::kNo, {}} : result_; }

 private:
  SelectionResult result_;
  bool is_refuted_ = false;
};

}  // namespace

bool check_number_list(const char* list, std::size_t* fault_offset) noexcept {
  *fault_offset = 0;
  for (;;) {
    NumberRange range;
    if (!read_range(list, fault_offset, &range)) return false;
    if (list[*fault_offset] == '\0') return true;
    if (list[*fault_offset] != ',') return false;
    ++*fault_offset;
  }
}

bool number_list_contains(const char* list, std::uint64_t number) noexcept {
  for (std::size_t at = 0;;) {
    NumberRange range;
    if (!read_range(list, &at, &range)) return false;
    if (number >= range.first && number <= range.last && (number - range.first) % range.stride == 0) return true;
    if (list[at] != ',') return false;
    ++at;
  }
}

std::uint64_t largest_in_number_list(const char* list) noexcept {
  std::uint64_t largest = 0;
  for (std::size_t at = 0;; ++at) {
    NumberRange range;
    if (!read_range(list, &at, &range)) return largest;
    const std::uint64_t last = range.last - (range.last - range.first) % range.stride;
    if (last > largest) largest = last;
    if (list[at] != ',') return largest;
  }
}

bool is_sampled_rank(std::int32_t rank, std::int32_t world_size, std::uint32_t count) noexcept {
  if (rank < 0 || world_size <= 0 || rank >= world_size) return false;
  const auto r = static_cast<std::uint64_t>(rank);
  const auto size = static_cast<std::uint64_t>(world_size);
  if (count >= size) return true;
  // The i-th of `count` is floor(i * size / count); the only i that can give r is ceil(r * count / size).
  const std::uint64_t i = (r * count + size - 1) / size;
  return i < count && i * size / count == r;
}

SelectionResult is_selected(const RankSelection& selection, const RankIdentity& rank, const Env& env) noexcept {
  Conjunction all;
  all.add_list(selection.ranks, rank.rank, "rank");
  all.add_list(selection.local_ranks, rank.local_rank, "local rank");
  all.add_list(selection.nodes, rank.node_index, "node");
  if (selection.sample_ranks > 0) {
    if (rank.rank < 0) {
      all.add_unknown("rank");
    } else if (rank.world_size < 0) {
      all.add_unknown("world size");
    } else {
      all.add(is_sampled_rank(rank.rank, rank.world_size, selection.sample_ranks));
    }
  }
  all.add_condition(selection.condition, rank, env);
  return all.result();
}

SelectionResult is_task_selected(const RankSelection& selection, const RankIdentity& task, const Env& env) noexcept {
  Conjunction all;
  all.add_list(selection.nodes, task.node_index, "node");
  // `rank` and its kind mean the inner ranks here, which the wrapper does not have.
  RankIdentity node_only;
  node_only.node_index = task.node_index;
  all.add_condition(selection.condition, node_only, env);
  return all.result();
}

}  // namespace jaxprof
