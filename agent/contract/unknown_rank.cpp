#include "agent/contract/unknown_rank.h"

#include <filesystem>
#include <fstream>

#include "agent/contract/rank_identity.h"

namespace jaxprof {
namespace {

std::string with_value(const char* name, const char* value) {
  return std::string(name) + "=" + value;
}

// Numbers that a launcher has set, and that are no rank.
std::string describe_numbers(const Env& env) {
  const RankColumns columns = find_unusable_rank(env);
  if (columns.rank == nullptr) return {};
  const std::string rank = with_value(columns.rank, env.get(columns.rank));
  if (env.get(columns.marker) == nullptr) return rank + " is set without " + columns.marker;
  const std::int32_t size = number_variable(env, columns.size);
  if (number_variable(env, columns.rank) < 0 || size < 0) return rank + " is no number";
  return rank + " is no number below " + with_value(columns.size, env.get(columns.size));
}

std::string describe_pod(const Env& env) {
  const char* index = env.get("JOB_COMPLETION_INDEX");
  if (index == nullptr) return {};
  if (env.get("JAXPROF_JOB_INDEX") == nullptr) return with_value("JOB_COMPLETION_INDEX", index) + " is no rank";
  return with_value("JOB_COMPLETION_INDEX", index) +
         " and JAXPROF_JOB_INDEX need JAXPROF_PODS_PER_JOB, a number above the first";
}

// PBS counts the processes of a job in PBS_NP (Torque) or by the lines of a file, which only the first of its nodes
// has. NCPUS is a process's number of processors.
bool is_pbs_job_of_one(const Env& env) {
  if (const std::int32_t n_processes = number_variable(env, "PBS_NP"); n_processes > 0) return n_processes == 1;
  const char* path = env.get("PBS_NODEFILE");
  std::error_code ignored;
  if (path == nullptr || !std::filesystem::is_regular_file(path, ignored)) return false;
  std::ifstream nodes(path);
  std::string first, second;
  return std::getline(nodes, first) && !std::getline(nodes, second);
}

// A job of several tasks or nodes of which this is none, or of which nobody tells how many they are. A job of one lacks
// nothing.
std::string describe_batch_job(const Env& env) {
  if (const char* job = env.get("SLURM_JOB_ID"); job != nullptr) {
    const bool is_of_many = number_variable(env, "SLURM_NTASKS") > 1 || number_variable(env, "SLURM_JOB_NUM_NODES") > 1;
    if (!is_of_many || env.get("SLURM_STEP_ID") != nullptr) return {};
    return std::string("the process was started inside Slurm job ") + job +
           " and not by srun (no SLURM_STEP_ID is set)";
  }
  if (const char* job = env.get("PBS_JOBID"); job != nullptr && !is_pbs_job_of_one(env)) {
    return std::string("PBS job ") + job + " has started the process, and no launcher that numbers ranks";
  }
  if (const char* job = env.get("LSB_JOBID"); job != nullptr && number_variable(env, "LSB_DJOB_NUMPROC") != 1) {
    return std::string("LSF job ") + job + " has started the process, and no launcher that numbers ranks";
  }
  return {};
}

}  // namespace

std::string describe_unknown_rank(const Env& env) {
  for (const auto describe : {describe_numbers, describe_pod, describe_batch_job}) {
    if (std::string seen = describe(env); !seen.empty()) return seen;
  }
  return {};
}

}  // namespace jaxprof
