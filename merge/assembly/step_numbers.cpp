#include "merge/assembly/step_numbers.h"

#include <algorithm>
#include <utility>

namespace jaxprof::assembly {

StepNumbers::StepNumbers(std::vector<std::int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  for (const std::int64_t number : numbers) append({number, number});
}

void StepNumbers::append(const Stretch& next) {
  // last + 1 may not exist
  if (stretches_.empty() || (next.first > stretches_.back().last && next.first - 1 != stretches_.back().last)) {
    stretches_.push_back(next);
  } else {
    stretches_.back().last = std::max(stretches_.back().last, next.last);
  }
}

StepNumbers StepNumbers::of_stretches(std::vector<Stretch> stretches) {
  StepNumbers numbers;
  numbers.stretches_ = std::move(stretches);
  return numbers;
}

StepNumbers StepNumbers::unite(const std::vector<StepNumbers>& sets) {
  std::vector<Stretch> all;
  for (const StepNumbers& set : sets) all.insert(all.end(), set.stretches_.begin(), set.stretches_.end());
  std::sort(all.begin(), all.end());
  StepNumbers united;
  for (const Stretch& stretch : all) united.append(stretch);
  return united;
}

std::uint64_t StepNumbers::size() const {
  std::uint64_t size = 0;
  for (const Stretch& stretch : stretches_) {
    size += static_cast<std::uint64_t>(stretch.last) - static_cast<std::uint64_t>(stretch.first) + 1;
  }
  return size;
}

StepNumbers StepNumbers::without(const StepNumbers& others) const {
  StepNumbers rest;
  auto other = others.stretches_.begin();
  for (Stretch left : stretches_) {
    while (other != others.stretches_.end() && other->last < left.first) ++other;
    bool has_rest = true;
    for (auto hole = other; has_rest && hole != others.stretches_.end() && hole->first <= left.last; ++hole) {
      if (hole->first > left.first) rest.append({left.first, hole->first - 1});
      has_rest = hole->last < left.last;
      if (has_rest) left.first = hole->last + 1;
    }
    if (has_rest) rest.append(left);
  }
  return rest;
}

StepNumbers StepNumbers::between(std::int64_t first, std::int64_t last) const {
  StepNumbers inside;
  for (const Stretch& stretch : stretches_) {
    if (stretch.last < first || stretch.first > last) continue;
    inside.append({std::max(stretch.first, first), std::min(stretch.last, last)});
  }
  return inside;
}

std::string StepNumbers::words() const {
  constexpr std::size_t kShown = 8;
  std::string text = size() == 1 ? "step " : "steps ";
  for (std::size_t i = 0; i < std::min(kShown, stretches_.size()); ++i) {
    const Stretch& stretch = stretches_[i];
    text += (i > 0 ? "," : "") + std::to_string(stretch.first);
    if (stretch.last != stretch.first) text += (stretch.first < 0 ? " to " : "-") + std::to_string(stretch.last);
  }
  if (stretches_.size() > kShown) text += " and " + std::to_string(stretches_.size() - kShown) + " more stretches";
  return text;
}

}  // namespace jaxprof::assembly
