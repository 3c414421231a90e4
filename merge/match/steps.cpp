#include "merge/match/steps.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "agent/spool/identity.h"

namespace jaxprof::match {
namespace {

// The integer that a range carries, if it has one that a step's number can hold; the lowest int64 is the run file's
// "missing". Types are NVTX_PAYLOAD_TYPE_* of nvToolsExt.h; narrow ones were widened by their sign.
std::optional<std::int64_t> integer_payload(const NvtxRange& range) {
  const auto value = static_cast<std::int64_t>(range.payload);
  switch (range.payload_type) {
    case 1:  // uint64
      return value >= 0 ? std::optional(value) : std::nullopt;
    case 2:  // int64
    case 4:  // uint32
    case 5:  // int32
      return value != std::numeric_limits<std::int64_t>::min() ? std::optional(value) : std::nullopt;
    default:
      return std::nullopt;
  }
}

Step step_of(const NvtxRanges& nvtx, std::size_t index, const StepMarker& marker) {
  const NvtxRange& range = nvtx.ranges[index];
  const auto ordinal = static_cast<std::int64_t>(range.step - 1);
  if (marker.kind == StepMarkerKind::kXlaModule) return {index, ordinal, runfile::StepSource::kXlaModule};
  if (const auto number = integer_payload(range)) return {index, *number, runfile::StepSource::kPayload};
  return {index, ordinal, runfile::StepSource::kOrdinal};
}

// What a range says to a marker, by message; most ranges share few messages.
class Messages {
 public:
  Messages(const rundir::SpoolTrace& trace, const StepMarker& marker) : trace_(trace), marker_(marker) {}

  bool marks_step(spool::StringId message) { return look(message).marks_step; }
  const std::string& module(spool::StringId message) { return look(message).module; }

 private:
  struct Answer {
    bool marks_step = false;
    std::string module;
  };
  const Answer& look(spool::StringId message) {
    const auto [answer, is_new] = answers_.try_emplace(message);
    if (is_new) {
      const std::string_view text = message != spool::kNoString ? trace_.text(message) : std::string_view();
      answer->second = {is_step_message(marker_, text), std::string(xla_module_of(text))};
    }
    return answer->second;
  }

  const rundir::SpoolTrace& trace_;
  const StepMarker& marker_;
  std::map<spool::StringId, Answer> answers_;
};

void note_alternative(const rundir::SpoolTrace& trace, const StepMarker& marker, const NvtxRange& range,
                      Messages* messages, ProcessSteps* found) {
  const std::string_view domain = trace.domain_name(range.domain);
  const bool is_in_domain = is_step_domain(marker, domain);
  if (marker.kind == StepMarkerKind::kXlaModule) {
    const std::string& module = messages->module(range.message);
    if (is_in_domain && !module.empty()) ++found->alternatives[module];
  } else if (!is_in_domain && messages->marks_step(range.message)) {
    ++found->alternatives[std::string(domain)];
  }
}

}  // namespace

bool read_step_marker(const rundir::SpoolTrace& trace, StepMarker* marker) {
  const std::string text = trace.identity().text(spool::IdentityKey::kStepMarker);
  *marker = StepMarker{};
  return !text.empty() && parse_step_marker(text.c_str(), marker) == nullptr;
}

ProcessSteps find_steps(const rundir::SpoolTrace& trace, const StepMarker& marker, const NvtxRanges& nvtx) {
  ProcessSteps found;
  if (marker.kind == StepMarkerKind::kNone) return found;
  Messages messages(trace, marker);
  for (std::size_t i = 0; i < nvtx.ranges.size(); ++i) {
    const NvtxRange& range = nvtx.ranges[i];
    if (range.kind == RangeKind::kMark) continue;
    if (range.step != 0) {
      found.steps.push_back(step_of(nvtx, i, marker));
    } else if (is_step_domain(marker, trace.domain_name(range.domain)) && messages.marks_step(range.message)) {
      ++found.nested;
    } else {
      note_alternative(trace, marker, range, &messages, &found);
    }
  }
  std::stable_sort(found.steps.begin(), found.steps.end(), [&nvtx](const Step& a, const Step& b) {
    return nvtx.ranges[a.range].start < nvtx.ranges[b.range].start;
  });
  if (!found.steps.empty()) found.alternatives.clear();
  return found;
}

}  // namespace jaxprof::match
