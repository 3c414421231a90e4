// The JSON records of a run's state folder.
#include <string>

#include "agent/contract/task_record.h"
#include "tests/fuzz/planted_fault.h"

using namespace jaxprof;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  if (const auto start = parse_task_start(text)) {
    fuzz::plant_fault(start->restart != 0);
    const std::string again = to_json(*start);
    const auto copy = parse_task_start(again);
    fuzz::demand(copy && to_json(*copy) == again, "a start record survives writing");
  }
  if (const auto end = parse_task_end(text)) {
    const std::string again = to_json(*end);
    const auto copy = parse_task_end(again);
    fuzz::demand(copy && to_json(*copy) == again, "an end record survives writing");
  }
  return 0;
}
