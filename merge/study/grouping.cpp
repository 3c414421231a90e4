#include "merge/study/grouping.h"

#include <array>
#include <utility>

namespace jaxprof::study {
namespace {

constexpr std::array<std::pair<By, std::string_view>, 7> kWords = {{{By::kMember, "member"},
                                                                    {By::kRank, "rank"},
                                                                    {By::kGpu, "gpu"},
                                                                    {By::kNode, "node"},
                                                                    {By::kComm, "comm"},
                                                                    {By::kRun, "run"},
                                                                    {By::kStep, "step"}}};

}  // namespace

std::string_view word(By by) {
  for (const auto& [value, text] : kWords) {
    if (value == by) return text;
  }
  return "";
}

std::optional<By> by_from_word(std::string_view word) {
  for (const auto& [value, text] : kWords) {
    if (text == word) return value;
  }
  return std::nullopt;
}

}  // namespace jaxprof::study
