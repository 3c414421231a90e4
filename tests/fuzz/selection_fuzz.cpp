// What selects ranks: number lists and the --if condition; and what selects ranges, the step marker.
#include <string>

#include "agent/contract/condition.h"
#include "agent/contract/rank_selection.h"
#include "agent/contract/step_marker.h"
#include "tests/fuzz/planted_fault.h"

using namespace jaxprof;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  const std::size_t length = std::char_traits<char>::length(text.c_str());
  std::size_t fault = 0;
  const bool is_list = check_number_list(text.c_str(), &fault);
  fuzz::demand(is_list || fault <= length, "a list's fault lies within it");
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{7}, UINT64_MAX}) {
    (void)number_list_contains(text.c_str(), number);
  }
  const char* environment[] = {"A=3", "B=-9223372036854775808", "TEXT=x", nullptr};
  RankIdentity rank;
  rank.rank = 5;
  rank.world_size = 8;
  const ConditionResult result = evaluate_condition(text.c_str(), rank, Env(environment));
  fuzz::demand(result.value != ConditionValue::kInvalid || result.fault_offset <= length,
               "a condition's fault lies within it");
  fuzz::demand(text.find(result.unknown_variable) != std::string::npos, "an unknown variable is one of the text's");
  fuzz::plant_fault(result.value == ConditionValue::kTrue && text.find('%') != std::string::npos);

  RankSelection selection;
  text.copy(selection.condition, sizeof selection.condition - 1);
  text.copy(selection.ranks, sizeof selection.ranks - 1);
  (void)is_selected(selection, rank, Env(environment));
  (void)is_task_selected(selection, rank, Env(environment));

  StepMarker marker;
  if (parse_step_marker(text.c_str(), &marker) == nullptr) {
    char written[kStepMarkerBytes];
    TextBuffer out(written, sizeof written);
    append_step_marker(marker, &out);
    fuzz::demand(text.c_str() == std::string(written), "a marker is written as it was read");
  }
  (void)is_step_message(marker, text);
  (void)xla_module_of(text);
  return 0;
}
