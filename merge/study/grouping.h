// What a study's rows stand for: --by.
#pragma once

#include <optional>
#include <string_view>

namespace jaxprof::study {

enum class By {
  kMember,  // one GPU of one process in one communicator
  kRank,
  kGpu,
  kNode,
  kComm,
  kRun,  // all together
  kStep,
};

std::string_view word(By by);  // "member", "rank", "gpu", "node", "comm", "run", "step"
std::optional<By> by_from_word(std::string_view word);

}  // namespace jaxprof::study
