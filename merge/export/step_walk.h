// In which step rows of a process lie that come in order of time: a walk beside its steps, no search a row.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "merge/study/step_axis.h"

namespace jaxprof::exporting {

// One process; one thread. `axis` outlives it.
class StepWalk {
 public:
  StepWalk(const study::StepAxis& axis, std::size_t process) : axis_(&axis), steps_(axis.of_process(process)) {}

  // The number of the step at `t_ns`; nothing: in none. Cheap where `t_ns` does not go back.
  std::optional<std::int64_t> number_at(std::int64_t t_ns) {
    if (next_ > 0 && t_ns < steps_[next_ - 1].span.begin_ns) next_ = 0;
    while (next_ < steps_.size() && steps_[next_].span.begin_ns <= t_ns) ++next_;
    if (next_ == 0 || !steps_[next_ - 1].span.contains(t_ns)) return std::nullopt;
    return axis_->steps()[steps_[next_ - 1].index].step;
  }

 private:
  const study::StepAxis* axis_;
  std::span<const study::ProcessStep> steps_;
  std::size_t next_ = 0;  // the first step that begins later
};

}  // namespace jaxprof::exporting
