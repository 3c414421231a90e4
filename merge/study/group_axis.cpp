#include "merge/study/group_axis.h"

#include <fmt/format.h>

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

// CUDA's number for the GPU in its process; missing where several processes used it.
Cell ordinal_cell(const RunTables& run, std::int32_t device) {
  const auto row = static_cast<std::size_t>(device);
  if (device < 0 || row >= run.devices.ordinal.size() || run.devices.ordinal[row] < 0) return Missing{};
  return std::int64_t{run.devices.ordinal[row]};
}

std::string host_of(const RunTables& run, std::uint32_t node) {
  if (node >= run.nodes.host.size()) return "";
  return std::string(run.strings.text(run.nodes.host[node]));
}

}  // namespace

Cell rank_cell(std::int32_t rank) {
  return rank < 0 ? Cell{Missing{}} : Cell{std::int64_t{rank}};
}

Cell host_cell(const RunTables& run, std::uint32_t node) {
  std::string host = host_of(run, node);
  return host.empty() ? Cell{Missing{}} : Cell{std::move(host)};
}

// A process without a rank is a rank of its own, and so is its GPU where it is unknown.
GroupAxis::Key GroupAxis::key_of(std::size_t process, std::int32_t device) const {
  constexpr std::int64_t kWithoutNumber = std::int64_t{1} << 32;
  const std::int32_t rank = run_.processes.rank[process];
  const auto own = static_cast<std::int64_t>(process);
  switch (by_) {
    case By::kRank:
      return rank >= 0 ? Key{rank, 0} : Key{kWithoutNumber, own};
    case By::kGpu:
      return device >= 0 ? Key{device, 0} : Key{kWithoutNumber, own};
    case By::kNode:
      return {run_.processes.node[process], 0};
    default:
      return {0, 0};
  }
}

std::uint32_t GroupAxis::group_of(std::size_t process, std::int32_t device) {
  if (!groups_.empty() && last_.process == process && last_.device == device) return last_group_;
  const auto next = static_cast<std::uint32_t>(groups_.size());
  const auto [at, is_new] = numbers_.try_emplace(key_of(process, device), next);
  if (is_new) groups_.push_back({process, device});
  last_ = {process, device};
  return last_group_ = at->second;
}

std::size_t GroupAxis::last_process(std::size_t process) const {
  const std::size_t n = run_.processes.process.size();
  if (by_ == By::kRun || n == 0) return n == 0 ? 0 : n - 1;
  // GPUs of one process may be another's as well, which only their rows tell.
  for (std::size_t last = n; last-- > process + 1;) {
    const bool is_same = by_ == By::kGpu ? run_.processes.node[last] == run_.processes.node[process]
                                         : key_of(last, -1) == key_of(process, -1);
    if (is_same) return last;
  }
  return process;
}

std::vector<Column> GroupAxis::columns() const {
  switch (by_) {
    case By::kRank:
      return {{"rank", "rank"}, {"node", "node"}};
    case By::kGpu:
      return {{"rank", "rank"}, {"node", "node"}, {"device", "device", Unit::kNone, true}, {"gpu", "gpu"}};
    case By::kNode:
      return {{"node", "node"}};
    default:
      return {};
  }
}

Row GroupAxis::cells(std::uint32_t group) const {
  const auto [process, device] = groups_[group];
  const Cell rank = rank_cell(run_.processes.rank[process]);
  const Cell host = host_cell(run_, run_.processes.node[process]);
  switch (by_) {
    case By::kRank:
      return {rank, host};
    case By::kGpu:
      return {rank, host, device < 0 ? Cell{Missing{}} : Cell{std::int64_t{device}}, ordinal_cell(run_, device)};
    case By::kNode:
      return {host};
    default:
      return {};
  }
}

std::string GroupAxis::name(std::uint32_t group) const {
  const auto [process, device] = groups_[group];
  const std::int32_t rank = run_.processes.rank[process];
  const std::string host = host_of(run_, run_.processes.node[process]);
  const std::string of_rank =
      rank < 0 ? fmt::format("process {} without a rank", process) : fmt::format("rank {}", rank);
  switch (by_) {
    case By::kRank:
      return of_rank;
    case By::kGpu: {
      const Cell ordinal = ordinal_cell(run_, device);
      const auto* number = std::get_if<std::int64_t>(&ordinal);
      const std::string gpu = number != nullptr ? fmt::format("GPU {}", *number) : "a GPU";
      return gpu + " of " + of_rank;
    }
    case By::kNode:
      return "node " + (host.empty() ? std::string("unknown") : host);
    default:
      return "the run";
  }
}

std::vector<std::uint32_t> GroupAxis::in_order() const {
  std::vector<std::uint32_t> order;
  for (const auto& [key, group] : numbers_) order.push_back(group);
  return order;
}

bool group_axis_wants(std::string_view path) {
  return path == "/job/processes" || path == "/job/devices" || path == "/job/nodes";
}

}  // namespace jaxprof::study
