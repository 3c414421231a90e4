// --rank-from VAR[,LOCAL[,SIZE]]: a launcher that jaxprof does not know keeps its numbers in variables all the same,
// and a person can name them. What the names mean is the business of rank_identity; here they are read from the
// command line.
#pragma once

#include <string>

#include "agent/base/result.h"
#include "agent/contract/rank_identity.h"

namespace jaxprof::launcher {

// Names of variables from "RANK", "RANK,LOCAL", "RANK,LOCAL,SIZE" or "RANK,,SIZE". kUsage for anything else.
Result<RankVariables> parse_rank_from(const std::string& text);

}  // namespace jaxprof::launcher
