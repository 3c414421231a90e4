// Does a time grow while the run goes on? Theil and Sen's slope: the median of the slopes between all pairs of steps,
// which a few odd steps do not move.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace jaxprof::study {

inline constexpr std::size_t kMinStepsForDrift = 8;
inline constexpr std::size_t kMostStepsForDrift = 512;  // of more, so many evenly spread ones

// values_ns[i] was measured in step steps[i]. By how much the median of a step grows from the first step to the last,
// relative to the median of all steps; none with fewer than kMinStepsForDrift steps, or where that median is 0.
std::optional<double> drift_of(std::span<const std::int64_t> values_ns, std::span<const std::uint32_t> steps);

}  // namespace jaxprof::study
