#include "tests/synthetic/fault.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "agent/base/parse_number.h"

namespace jaxprof::synthetic {
namespace {

struct Word {
  std::string_view text;
  FaultKind kind;
};
constexpr Word kWords[] = {
    {"late", FaultKind::kLate},           {"missing", FaultKind::kMissing}, {"torn", FaultKind::kTorn},
    {"duplicate", FaultKind::kDuplicate}, {"swap", FaultKind::kSwap},       {"reorder", FaultKind::kReorder},
    {"skip", FaultKind::kSkip},           {"lose", FaultKind::kLose},       {"late-step", FaultKind::kLateStep},
};
constexpr std::uint64_t kMostLateUs = 10'000'000;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ':') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

Result<Fault> parse_fault(const std::string& text) {
  const std::vector<std::string> parts = split(text);
  const auto* const word =
      std::find_if(std::begin(kWords), std::end(kWords), [&parts](const Word& w) { return w.text == parts.front(); });
  const bool is_late = parts.front() == "late";
  const auto bad = [&text](const char* why) { return fail(ErrorCode::kUsage, "--fault " + text + ": " + why); };
  if (word == std::end(kWords)) {
    return bad("the kinds are late missing torn duplicate swap reorder skip lose late-step");
  }
  if (parts.size() != (is_late ? 3U : 2U)) return bad("it is written late:RANK:MICROSECONDS, or KIND:RANK");
  const auto rank = parse_uint64(parts[1]);
  if (!rank || *rank > UINT32_MAX) return bad("no such rank");
  Fault fault{word->kind, static_cast<std::uint32_t>(*rank), 0};
  if (is_late) {
    const auto late_us = parse_uint64(parts[2]);
    if (!late_us || *late_us == 0 || *late_us > kMostLateUs) return bad("from 1 to 10000000 microseconds");
    fault.late_ns = static_cast<std::int64_t>(*late_us * 1000);
  }
  return fault;
}

}  // namespace jaxprof::synthetic
