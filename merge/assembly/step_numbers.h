// Sets of step numbers. A run of a million steps on a thousand ranks is a thousand sets of a million numbers, nearly
// all of them "0 to 999999": so a set is kept as its stretches of neighbours.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jaxprof::assembly {

class StepNumbers {
 public:
  struct Stretch {
    std::int64_t first;
    std::int64_t last;
    auto operator<=>(const Stretch&) const = default;
  };

  StepNumbers() = default;
  // In any order; one that repeats counts once.
  explicit StepNumbers(std::vector<std::int64_t> numbers);
  // What stretches() gave.
  static StepNumbers of_stretches(std::vector<Stretch> stretches);
  static StepNumbers unite(const std::vector<StepNumbers>& sets);

  // Ascending, with a gap between any two.
  const std::vector<Stretch>& stretches() const { return stretches_; }
  bool is_empty() const { return stretches_.empty(); }
  // Of a set that is not empty.
  std::int64_t first() const { return stretches_.front().first; }
  std::int64_t last() const { return stretches_.back().last; }
  std::uint64_t size() const;
  StepNumbers without(const StepNumbers& others) const;
  StepNumbers between(std::int64_t first, std::int64_t last) const;  // both included

  // "step 4", "steps 17-19,25", "steps -2 to 1,8 and 7 more stretches".
  std::string words() const;

  bool operator==(const StepNumbers&) const = default;
  auto operator<=>(const StepNumbers&) const = default;

 private:
  void append(const Stretch& next);  // which begins no earlier than the last one

  std::vector<Stretch> stretches_;
};

}  // namespace jaxprof::assembly
