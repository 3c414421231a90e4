#include "launcher/rank_from.h"

#include <algorithm>
#include <vector>

namespace jaxprof::launcher {
namespace {

bool is_variable_name(const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && !is_digit(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || is_digit(c); });
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

tl::unexpected<Error> refuse(const std::string& text, const std::string& reason) {
  return fail(ErrorCode::kUsage,
              "--rank-from " + text + ": " + reason + "; write names of variables: RANK[,LOCAL_RANK[,WORLD_SIZE]]");
}

}  // namespace

Result<RankVariables> parse_rank_from(const std::string& text) {
  const std::vector<std::string> names = split_at_commas(text);
  if (names.size() > 3) return refuse(text, std::to_string(names.size()) + " names, at most 3");
  RankVariables variables;
  char* const targets[] = {variables.rank, variables.local_rank, variables.world_size};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    if (i == 1 && name.empty() && names.size() == 3) continue;  // "RANK,,SIZE"
    if (!is_variable_name(name)) return refuse(text, "'" + name + "' is no name of a variable");
    if (name.size() >= kVariableNameBytes) {
      return refuse(text, name + " is longer than " + std::to_string(kVariableNameBytes - 1) + " characters");
    }
    std::copy(name.begin(), name.end(), targets[i]);
  }
  return variables;
}

}  // namespace jaxprof::launcher
