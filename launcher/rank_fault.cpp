#include "launcher/rank_fault.h"

#include "agent/contract/unknown_rank.h"

namespace jaxprof::launcher {
namespace {

std::string source_of(const RankIdentity& rank) {
  if (!rank.is_known()) return "the rank is not known";
  return std::string("the rank is that of ") + launcher_name(rank.launcher);
}

// "VAR=x", or "VAR, which is not set".
std::string with_value(const Env& env, const char* name) {
  const char* value = env.get(name);
  return value != nullptr ? std::string(name) + "=" + value : std::string(name) + ", which is not set";
}

std::string find_fault_of_named(const RankVariables& named, const RankIdentity& rank, const Env& env) {
  if (rank.launcher != Launcher::kNamed) {
    const bool has_no_size = named.world_size[0] != '\0' && number_variable(env, named.world_size) < 0;
    const char* name = has_no_size ? named.world_size : named.rank;
    return std::string("--rank-from names ") + with_value(env, name) + (has_no_size ? ": no size" : ": no rank") +
           ", a whole number" + (has_no_size ? "" : " below the size") + "; it is ignored, " + source_of(rank);
  }
  if (named.local_rank[0] != '\0' && number_variable(env, named.local_rank) < 0) {
    return std::string("--rank-from names ") + with_value(env, named.local_rank) +
           ": no local rank, a whole number; it is not known";
  }
  return {};
}

std::string find_fault_of_explicit(const RankIdentity& rank, const Env& env) {
  const char* given = env.get("JAXPROF_RANK");
  if (given == nullptr || rank.launcher == Launcher::kExplicit || rank.launcher == Launcher::kNamed) return {};
  const char* size = env.get("JAXPROF_WORLD_SIZE");
  return std::string("JAXPROF_RANK=") + given + (size != nullptr ? std::string(" of JAXPROF_WORLD_SIZE=") + size : "") +
         " is not a rank, a whole number below the size: it is ignored, " + source_of(rank);
}

}  // namespace

std::string find_rank_fault(const Options& options, const RankIdentity& rank, const Env& env) {
  // Whose variables are named may be set for the inner ranks only.
  if (options.rank_variables.rank[0] != '\0' && !options.has_inner_ranks) {
    if (std::string fault = find_fault_of_named(options.rank_variables, rank, env); !fault.empty()) return fault;
  }
  if (std::string fault = find_fault_of_explicit(rank, env); !fault.empty()) return fault;
  if (rank.is_known() || options.has_inner_ranks) return {};
  const std::string seen = describe_unknown_rank(env);
  if (seen.empty()) return {};
  return "the rank is not known: " + seen +
         "; start ranks by srun or mpirun, or name the variable that numbers them by --rank-from";
}

}  // namespace jaxprof::launcher
