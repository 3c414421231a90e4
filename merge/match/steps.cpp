#include "merge/match/steps.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

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

// Inside a step that never ended?
bool is_swallowed(const NvtxRanges& nvtx, std::size_t index) {
  while (index != kNoRange && nvtx.ranges[index].step == 0) index = nvtx.ranges[index].parent;
  return index != kNoRange && !nvtx.ranges[index].has_end;
}

// What the marker says to domains and messages, each looked up once: most ranges share few.
class Lookup {
 public:
  Lookup(const rundir::SpoolTrace& trace, const StepMarker& marker) : trace_(trace), marker_(marker) {}

  bool has_domain(const NvtxRange& range) {
    const auto [answer, is_new] = domains_.try_emplace(range.domain);
    if (is_new) answer->second = is_step_domain(marker_, trace_.domain_name(range.domain));
    return answer->second;
  }
  bool has_message(const NvtxRange& range) { return look(range.message).marks_step; }
  const std::string& module(const NvtxRange& range) { return look(range.message).module; }

 private:
  struct Message {
    bool marks_step = false;
    std::string module;
  };
  const Message& look(spool::StringId message) {
    const auto [answer, is_new] = messages_.try_emplace(message);
    if (is_new) {
      const std::string_view text = message != spool::kNoString ? trace_.text(message) : std::string_view();
      answer->second = {is_step_message(marker_, text), std::string(xla_module_of(text))};
    }
    return answer->second;
  }

  const rundir::SpoolTrace& trace_;
  const StepMarker& marker_;
  std::unordered_map<std::uint32_t, bool> domains_;
  std::unordered_map<spool::StringId, Message> messages_;
};

std::map<std::string, std::uint64_t> find_alternatives(const rundir::SpoolTrace& trace, const StepMarker& marker,
                                                       const NvtxRanges& nvtx, Lookup* lookup) {
  std::map<std::string, std::uint64_t> found;
  for (const NvtxRange& range : nvtx.ranges) {
    if (range.kind == RangeKind::kMark) continue;
    if (marker.kind == StepMarkerKind::kXlaModule) {
      if (lookup->has_domain(range) && !lookup->module(range).empty()) ++found[lookup->module(range)];
    } else if (!lookup->has_domain(range) && lookup->has_message(range)) {
      ++found[std::string(trace.domain_name(range.domain))];
    }
  }
  return found;
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
  Lookup lookup(trace, marker);
  for (std::size_t i = 0; i < nvtx.ranges.size(); ++i) {
    const NvtxRange& range = nvtx.ranges[i];
    if (range.kind == RangeKind::kMark) continue;
    if (range.step != 0) {
      found.steps.push_back(step_of(nvtx, i, marker));
      const bool has_payload = range.payload_type != 0;
      if (has_payload && found.steps.back().source == runfile::StepSource::kOrdinal) ++found.unusable_payloads;
    } else if (lookup.has_domain(range) && lookup.has_message(range)) {
      ++(is_swallowed(nvtx, range.parent) ? found.swallowed : found.nested);
    }
  }
  std::stable_sort(found.steps.begin(), found.steps.end(), [&nvtx](const Step& a, const Step& b) {
    return nvtx.ranges[a.range].start < nvtx.ranges[b.range].start;
  });
  if (found.steps.empty()) found.alternatives = find_alternatives(trace, marker, nvtx, &lookup);
  return found;
}

}  // namespace jaxprof::match
