// When the folder of endpoints is listed again. In the first second often, since all nodes of a job start then and a
// job may be short; later ever more rarely, since a thousand nodes share a file server; soon again when somebody came.
// A folder that is slow to list is left alone in proportion. Values in, values out; times in ns of the caller's one
// clock.
#pragma once

#include <cstdint>

namespace jaxprof::netsampler {

class LookSchedule {
 public:
  static constexpr std::int64_t kShortestPauseNs = 1'000'000'000;
  static constexpr std::int64_t kLongestPauseNs = 30'000'000'000;
  static constexpr std::int64_t kPausePerLook = 20;  // a pause is so many times as long as the look before it

  // The first look is due at `begin_ns`.
  explicit LookSchedule(std::int64_t begin_ns) : begin_ns_(begin_ns), next_ns_(begin_ns) {}

  std::int64_t next_ns() const { return next_ns_; }
  // A look that took `took_ns` ended at `now_ns`. `has_news`: it found a node come, gone or replaced.
  void looked(std::int64_t now_ns, std::int64_t took_ns, bool has_news);

 private:
  std::int64_t begin_ns_;
  std::int64_t next_ns_;
  std::int64_t pause_ns_ = kShortestPauseNs;
};

}  // namespace jaxprof::netsampler
