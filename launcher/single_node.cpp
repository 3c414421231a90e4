#include "launcher/single_node.h"

#include <vector>

#include "launcher/tasks_per_node.h"

namespace jaxprof::launcher {
namespace {

// What says how many of the launcher's ranks are on the own node; null: nothing does.
const char* local_size_variable(Launcher launcher) {
  switch (launcher) {
    case Launcher::kOpenMpi:
      return "OMPI_COMM_WORLD_LOCAL_SIZE";
    case Launcher::kHydra:
      return "MPI_LOCALNRANKS";
    case Launcher::kMvapich:
      return "MV2_COMM_WORLD_LOCAL_SIZE";
    case Launcher::kTorchElastic:
      return "LOCAL_WORLD_SIZE";
    default:
      return nullptr;
  }
}

}  // namespace

bool is_known_single_node(const RankIdentity& own, const Env& env) {
  if (env.get("JAXPROF_RUN") != nullptr) return false;
  if (own.world_size == 1) return true;
  if (own.launcher == Launcher::kUnknown) return true;  // a run of one process
  if (own.world_size < 0) return false;
  // In a heterogeneous step ranks run over all components, tasks per node do not.
  const std::vector<std::int32_t> tasks = find_tasks_per_node(own, env);
  if (tasks.size() == 1 && tasks.front() == own.world_size) return true;
  return number_variable(env, local_size_variable(own.launcher)) == own.world_size;
}

}  // namespace jaxprof::launcher
