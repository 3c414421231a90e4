// When did steps become slower, or faster, and stay so? Two cumulated sums (Page's CUSUM): one step however long is no
// change, several of the same kind are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace jaxprof::study {

inline constexpr double kChangeDelta = 0.05;       // changes of at least so much are looked for
inline constexpr double kChangeThreshold = 0.25;   // cumulated deviation beyond delta / 2 at which one is believed
inline constexpr std::size_t kStepsOfAChange = 5;  // at least so many on either side

struct ChangePoint {
  std::size_t first = 0;  // position of the first value of the new kind
  double ratio = 1;       // median from there to the next change, over the median before
};

// Of lengths in order of time. A value counts as at most 2 delta off, so that one alone proves nothing.
std::vector<ChangePoint> change_points(std::span<const std::int64_t> lengths_ns);

}  // namespace jaxprof::study
