#include "merge/assembly/expected_ranks.h"

#include <sstream>

#include "agent/base/parse_number.h"
#include "agent/contract/rank_selection.h"

namespace jaxprof::assembly {

Expectation is_expected(const std::string& selection, std::int32_t rank, std::int32_t world_size) {
  Expectation expectation = Expectation::kYes;
  std::istringstream words(selection);
  std::string option;
  std::string value;
  while (words >> option) {
    // A condition is quoted and may hold blanks; it comes last and cannot be evaluated here anyway.
    if (option == "--if" || option == "--local-ranks" || option == "--nodes") {
      expectation = Expectation::kUnknown;
      if (option == "--if") break;
      words >> value;
      continue;
    }
    if (!(words >> value)) break;
    if (option == "--ranks" && !number_list_contains(value.c_str(), static_cast<std::uint64_t>(rank))) {
      return Expectation::kNo;
    }
    if (option == "--sample-ranks") {
      const auto count = parse_uint64(value);
      if (count && !is_sampled_rank(rank, world_size, static_cast<std::uint32_t>(*count))) return Expectation::kNo;
    }
  }
  return expectation;
}

}  // namespace jaxprof::assembly
