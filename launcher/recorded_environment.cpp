#include "launcher/recorded_environment.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <fnmatch.h>
#include <xxhash.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace jaxprof::launcher {
namespace {

constexpr const char* kAllowed[] = {
    // communication and networks
    "NCCL_*", "NVSHMEM_*", "UCX_*", "UCC_*", "FI_*", "OFI_*", "EFA_*", "RDMAV_*", "IBV_*", "MLX5_*", "SHARP_*",
    "HCOLL_*", "GLOO_*", "PSM2_*", "PSM3_*",
    // frameworks and their compilers
    "XLA_*", "JAX_*", "TF_*", "TORCH_*", "PYTORCH_*", "TORCHINDUCTOR_*", "TORCHDYNAMO_*", "TRITON_*", "NVTE_*",
    // CUDA
    "CUDA_*", "NVIDIA_*", "CUBLAS_*", "CUBLASLT_*", "CUDNN_*", "NVTX_*",
    // MPI, without what launchers tell their own processes (kLaunchersOwn)
    "OMPI_MCA_*", "PMIX_MCA_*", "PRTE_MCA_*", "OPAL_*", "MPI_*", "MPICH_*", "I_MPI_*", "MV2_*",
    // threads and memory
    "OMP_*", "GOMP_*", "KMP_*", "MKL_*", "OPENBLAS_*", "MALLOC_*", "GLIBC_TUNABLES",
    // the loader and Python
    "LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "LD_BIND_NOW", "PYTHON*", "VIRTUAL_ENV", "CONDA_PREFIX",
    // where and how Slurm runs the task; nothing about accounts and users
    "SLURM_CLUSTER_NAME", "SLURM_JOB_PARTITION", "SLURM_JOB_QOS", "SLURM_RESTART_COUNT", "SLURM_JOB_NUM_NODES",
    "SLURM_NNODES", "SLURM_NTASKS", "SLURM_NTASKS_PER_*", "SLURM_TASKS_PER_NODE", "SLURM_STEP_NUM_*",
    "SLURM_STEP_TASKS_PER_NODE", "SLURM_JOB_NODELIST", "SLURM_STEP_NODELIST", "SLURM_PROCID", "SLURM_LOCALID",
    "SLURM_NODEID", "SLURM_TOPOLOGY_ADDR", "SLURM_TOPOLOGY_ADDR_PATTERN", "SLURM_DISTRIBUTION", "SLURM_CPU_BIND",
    "SLURM_CPU_BIND_*", "SLURM_CPU_FREQ_REQ", "SLURM_CPUS_ON_NODE", "SLURM_CPUS_PER_*", "SLURM_JOB_CPUS_PER_NODE",
    "SLURM_THREADS_PER_CORE", "SLURM_CORE_SPEC", "SLURM_HINT", "SLURM_MEM_*", "SLURM_GPU_*", "SLURM_GPUS",
    "SLURM_GPUS_*", "SLURM_JOB_GPUS", "SLURM_STEP_GPUS", "SLURM_SHARDS_ON_NODE", "SLURM_NETWORK", "SLURM_MPI_TYPE",
    "SLURM_OVERCOMMIT", "SLURM_HET_SIZE"};

// What launchers tell the processes that they start: contacts, folders and numbers that are others in each run. Only a
// pattern of the user's records them.
constexpr const char* kLaunchersOwn[] = {"OMPI_MCA_orte_*", "OMPI_MCA_prte_*", "OMPI_MCA_ess*", "OMPI_MCA_initial_wdir",
                                         "PRTE_MCA_ess*",   "PRTE_MCA_prte_*", "MPI_LOCAL*",    "I_MPI_HYDRA_*",
                                         "MV2_COMM_WORLD_*"};

constexpr const char* kSecretWords[] = {"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "COOKIE",
                                        "KEY", "AUTH", "URI", "PRIVATE", "SIGNATURE", "JWT",
                                        // Open MPI's key for access to its transports
                                        "PRECONDITION_TRANSPORTS"};

// Numbers and switches.
constexpr const char* kHarmless[] = {"NCCL_IB_PKEY",
                                     "UCX_IB_PKEY",
                                     "OMPI_MCA_btl_openib_pkey",
                                     "JAX_DEBUG_KEY_REUSE",
                                     "JAX_COMPILATION_CACHE_INCLUDE_METADATA_IN_KEY",
                                     "TOKENIZERS_PARALLELISM"};

bool matches(const char* pattern, const std::string& name) {
  return fnmatch(pattern, name.c_str(), 0) == 0;
}

template <typename Patterns>
bool matches_any(const Patterns& patterns, const std::string& name) {
  return std::any_of(std::begin(patterns), std::end(patterns),
                     [&name](const auto& pattern) { return matches(std::string(pattern).c_str(), name); });
}

bool is_allowed(const std::string& name, const std::vector<std::string>& added) {
  return matches_any(added, name) || (matches_any(kAllowed, name) && !matches_any(kLaunchersOwn, name));
}

// "https://user:password@host/" without the two.
std::string without_url_users(std::string value) {
  constexpr std::string_view kScheme = "://";
  for (std::size_t at = value.find(kScheme); at != std::string::npos; at = value.find(kScheme, at)) {
    at += kScheme.size();
    const std::size_t end = value.find_first_of("/?# \t\n,;", at);
    const std::size_t sign = value.substr(at, end - at).rfind('@');
    if (sign != std::string::npos) value.replace(at, sign, "…");
  }
  return value;
}

std::string fitted(const std::string& value) {
  if (value.size() <= kMaxRecordedValueBytes) return value;
  std::size_t end = kMaxRecordedValueBytes;
  const auto is_inside_character = [&](std::size_t at) {
    return (static_cast<unsigned char>(value[at]) & 0xC0U) == 0x80U;
  };
  while (end > 0 && is_inside_character(end)) --end;
  return fmt::format("{}… (cut, {} bytes, hash {:016x})", value.substr(0, end), value.size(),
                     static_cast<std::uint64_t>(XXH3_64bits(value.data(), value.size())));
}

std::string in_capitals(std::string_view text) {
  std::string capitals(text);
  std::transform(capitals.begin(), capitals.end(), capitals.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return capitals;
}

bool is_pattern(const std::string& text) {
  const auto is_of_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (text.empty() || !is_of_name(static_cast<unsigned char>(text[0])) || (text[0] >= '0' && text[0] <= '9')) {
    return false;
  }
  return std::all_of(text.begin(), text.end(), [&is_of_name](char c) {
    return is_of_name(static_cast<unsigned char>(c)) || c == '*' || c == '?';
  });
}

}  // namespace

bool looks_secret(std::string_view name) {
  if (std::find(std::begin(kHarmless), std::end(kHarmless), name) != std::end(kHarmless)) return false;
  const std::string capitals = in_capitals(name);
  return std::any_of(std::begin(kSecretWords), std::end(kSecretWords),
                     [&capitals](const char* word) { return capitals.find(word) != std::string::npos; });
}

RecordedEnvironment record_environment(const std::vector<std::string>& environment,
                                       const std::vector<std::string>& added) {
  std::map<std::string, std::string> allowed;
  RecordedEnvironment recorded;
  for (const std::string& entry : environment) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    std::string name = entry.substr(0, equals);
    if (!is_allowed(name, added)) continue;
    if (looks_secret(name)) {
      recorded.withheld.push_back(std::move(name));
    } else {
      allowed.try_emplace(std::move(name), entry.substr(equals + 1));
    }
  }
  std::sort(recorded.withheld.begin(), recorded.withheld.end());
  std::size_t bytes = 0;
  for (auto& [name, value] : allowed) {
    value = fitted(without_url_users(std::move(value)));
    bytes += name.size() + value.size();
    if (bytes > kMaxRecordedBytes) {
      ++recorded.n_dropped;
    } else {
      recorded.variables.emplace(name, std::move(value));
    }
  }
  return recorded;
}

Result<std::vector<std::string>> parse_environment_patterns(const std::string& text) {
  std::vector<std::string> patterns;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::string pattern = text.substr(at, end - at);
    if (!is_pattern(pattern)) {
      return fail(ErrorCode::kUsage, "--env-allow " + text + ": '" + pattern +
                                         "' is no name of a variable, nor one with * or ? behind its first letter");
    }
    patterns.push_back(std::move(pattern));
    at = end + 1;
  }
  return patterns;
}

}  // namespace jaxprof::launcher
