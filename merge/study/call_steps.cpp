#include "merge/study/call_steps.h"

#include <algorithm>

#include "merge/study/in_parallel.h"

namespace jaxprof::study {
namespace {

// Which of ascending, disjoint stretches holds an instant; cheap where instants ascend.
template <typename Spans, typename SpanOf>
class Walk {
 public:
  Walk(const Spans& spans, SpanOf span_of) : spans_(spans), span_of_(span_of) {}

  // Its position; spans.size() if none does.
  std::size_t at(std::int64_t t_ns) {
    if (t_ns < last_ns_) next_ = 0;
    last_ns_ = t_ns;
    while (next_ < spans_.size() && span_of_(spans_[next_]).end_ns <= t_ns) ++next_;
    return next_ < spans_.size() && span_of_(spans_[next_]).contains(t_ns) ? next_ : spans_.size();
  }

 private:
  Spans spans_;
  SpanOf span_of_;
  std::size_t next_ = 0;
  std::int64_t last_ns_ = 0;
};

}  // namespace

CallSteps::CallSteps(const runfile::RunTables& run, const Scope& scope) : code_(run.nccl.start_ns.size(), 0) {
  in_parallel(run.nccl_process_offset.size() - 1, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t process = begin; process < end; ++process) mark_process(run, scope, process);
  });
}

void CallSteps::mark_process(const runfile::RunTables& run, const Scope& scope, std::size_t process) {
  const auto own = scope.axis().of_process(process);
  Walk in_step(own, [](const ProcessStep& step) { return step.span; });
  Walk in_scope(scope.of_process(process).spans(), [](const TimeSpan& span) { return span; });
  const std::size_t n_scope = scope.of_process(process).spans().size();
  for (std::uint64_t row = run.nccl_process_offset[process]; row < run.nccl_process_offset[process + 1]; ++row) {
    const std::int64_t t_ns = run.nccl.start_ns[row];
    std::int32_t step = -1;
    if (!scope.has_steps()) {
      step = 0;
    } else if (own.empty()) {
      const auto index = scope.axis().index_at(process, t_ns);
      if (index) step = static_cast<std::int32_t>(*index);
    } else if (const std::size_t at = in_step.at(t_ns); at < own.size()) {
      step = static_cast<std::int32_t>(own[at].index);
    }
    code_[row] = 2 * (step + 1) + (in_scope.at(t_ns) < n_scope ? 1 : 0);
  }
}

}  // namespace jaxprof::study
