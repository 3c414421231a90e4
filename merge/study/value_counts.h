// A sample of a hundred million times in little memory: each value once, with how often it came. GPUs count time in
// ticks, so values come again and again. Where they do not, values are rounded until the table fits, and is_exact()
// says so; number, sum, least and greatest stay exact.
#pragma once

#include <cstdint>
#include <vector>

namespace jaxprof::study {

// What a rounded value is off by, at most, as a share of it.
inline constexpr double kRoundingShare = 1.0 / 1024;

// One thread at a time.
class ValueCounts {
 public:
  void add(std::int64_t value, std::uint64_t times = 1);  // value >= 0
  void add_all(const ValueCounts& other);
  void round();  // from now on, and all that is there; at most 55 000 different values are left

  std::uint64_t n() const { return n_; }
  std::int64_t total() const { return total_; }  // what does not fit is the greatest that does
  std::int64_t min() const { return min_; }      // n() > 0
  std::int64_t max() const { return max_; }
  bool is_exact() const { return !is_rounded_; }
  std::size_t n_entries() const { return n_used_; }  // different values

  struct Shape {
    double mean = 0;
    double p50 = 0;  // linear interpolation, type 7
    double std = 0;  // n - 1; 0 for one value
  };
  Shape shape() const;  // n() > 0

 private:
  struct Entry {
    std::int64_t value = kFree;
    std::uint64_t times = 0;
  };
  static constexpr std::int64_t kFree = -1;
  void put(std::int64_t value, std::uint64_t times);
  void grow();

  std::vector<Entry> entries_;  // open addressing, a power of two
  std::size_t n_used_ = 0;
  std::uint64_t n_ = 0;
  std::int64_t total_ = 0;
  std::int64_t min_ = 0;
  std::int64_t max_ = 0;
  bool is_rounded_ = false;
};

}  // namespace jaxprof::study
