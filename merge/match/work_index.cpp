#include "merge/match/work_index.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "merge/runfile/run_tables.h"

namespace jaxprof::match {
namespace {

// NCCL up to 2.18, from 2.19 on, symmetric ones of 2.27 and of 2.28 on; and the reduction of a communicator of one.
constexpr std::array<std::string_view, 5> kNcclNames = {"ncclKernel_", "ncclDevKernel_", "ncclSymDevKernel_",
                                                        "ncclSymkDevKernel_", "oneRankReduce"};

// By how much a launch may be stamped before the event of NCCL's around it, as their clocks differ.
constexpr std::int64_t kStampErrorNs = 1'000'000;

template <typename Value>
const std::vector<Value>& found_in(const std::unordered_map<std::uint64_t, std::vector<Value>>& map,
                                   std::uint64_t key) {
  static const std::vector<Value> kNone;
  const auto found = map.find(key);
  return found == map.end() ? kNone : found->second;
}

}  // namespace

bool is_nccl_kernel(std::string_view name) {
  return std::any_of(kNcclNames.begin(), kNcclNames.end(),
                     [name](std::string_view known) { return name.find(known) != std::string_view::npos; });
}

WorkIndex::WorkIndex(const GpuWork& work, const rundir::GpuState& gpu, const runfile::StringTable& strings)
    : work_(work), calls_(work.api) {
  const auto index = [this](const auto& table, bool is_memop) {
    for (std::uint64_t row = 0; row < table.correlation.size(); ++row) {
      const WorkRow item{is_memop, row};
      if (table.correlation[row] != runfile::kNoRow) by_correlation_[table.correlation[row]].push_back(item);
      const bool is_of_window = (table.flags[row] & runfile::kWorkBeforeWindow) == 0;
      if (table.graph_node[row] != runfile::kNoRow && is_of_window) by_node_[table.graph_node[row]].push_back(item);
    }
  };
  index(work.kernels, false);
  index(work.memops, true);
  for (auto* map : {&by_correlation_, &by_node_}) {
    for (auto& [key, rows] : *map) {
      std::stable_sort(rows.begin(), rows.end(),
                       [this](const WorkRow& a, const WorkRow& b) { return launch_order(a) < launch_order(b); });
    }
  }
  for (std::size_t row = 0; row < work.api.tid.size(); ++row) {
    const bool is_usable = work.api.correlation[row] != runfile::kNoRow && work.api.start_ns[row] >= 0;
    if (!is_usable) continue;
    const std::int64_t half_ns = std::max<std::int64_t>(work.api.dur_ns[row], 0) / 2;
    by_tid_[work.api.tid[row]].push_back({work.api.start_ns[row] + half_ns, calls_.outermost(row)});
  }
  for (auto& [tid, launches] : by_tid_) {
    std::stable_sort(launches.begin(), launches.end(),
                     [](const Launch& a, const Launch& b) { return a.middle_ns < b.middle_ns; });
  }
  for (const spool::GpuStreamState& stream : gpu.streams) {
    lanes_[stream.address].emplace_back(stream.context, stream.stream);
  }
  std::unordered_map<std::uint32_t, bool> is_nccl_name;
  is_nccl_.resize(work.kernels.name.size());
  for (std::uint64_t row = 0; row < work.kernels.name.size(); ++row) {
    const runfile::StringId name = work.kernels.name[row];
    const auto [known, is_new] = is_nccl_name.try_emplace(static_cast<std::uint32_t>(name));
    if (is_new) known->second = is_nccl_kernel(strings.text(name));
    is_nccl_[row] = known->second;
    const bool is_eager = work.kernels.graph_node[row] == runfile::kNoRow;
    const bool is_of_window = (work.kernels.flags[row] & runfile::kWorkBeforeWindow) == 0;
    if (known->second && is_eager && is_of_window) nccl_kernels_[lane_of({false, row})].push_back({false, row});
  }
}

std::vector<WorkRow> WorkIndex::with_correlation(std::uint64_t correlation, std::int64_t called_ns) const {
  const std::vector<WorkRow>& rows = found_in(by_correlation_, correlation);
  auto begin = rows.begin();
  while (begin != rows.end()) {
    const auto next = std::find_if(begin, rows.end(), [&](const WorkRow& row) { return !is_one_launch(*begin, row); });
    if (next == rows.end() || launch_ns(*begin) >= called_ns - kStampErrorNs) return {begin, next};
    begin = next;
  }
  return {};
}

bool WorkIndex::is_one_launch(const WorkRow& a, const WorkRow& b) const {
  const std::uint64_t call = api_of(a);
  const std::uint64_t other = api_of(b);
  if (call != runfile::kNoRow && other != runfile::kNoRow) return call == other;
  return launch_ns(b) - launch_ns(a) < kShortestWrapNs;
}

const std::vector<WorkRow>& WorkIndex::of_node(std::uint64_t node) const {
  return found_in(by_node_, node);
}

std::vector<WorkRow> WorkIndex::launched_in(std::uint64_t tid, std::int64_t start_ns, std::int64_t end_ns) const {
  std::vector<WorkRow> rows;
  const std::vector<Launch>& launches = found_in(by_tid_, tid);
  auto launch = std::lower_bound(launches.begin(), launches.end(), start_ns,
                                 [](const Launch& a, std::int64_t value) { return a.middle_ns < value; });
  for (; launch != launches.end() && launch->middle_ns <= end_ns; ++launch) {
    const std::vector<WorkRow>& more = found_in(by_correlation_, work_.api.correlation[launch->call]);
    std::copy_if(more.begin(), more.end(), std::back_inserter(rows),
                 [&](const WorkRow& work) { return api_of(work) == launch->call; });
  }
  // A runtime call and the driver call inside of it have one correlation.
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

std::vector<WorkRow> WorkIndex::nccl_kernels_on(std::uint64_t stream_address) const {
  std::vector<WorkRow> rows;
  std::vector<Lane> seen;
  for (const Lane& lane : found_in(lanes_, stream_address)) {
    if (std::find(seen.begin(), seen.end(), lane) != seen.end()) continue;
    seen.push_back(lane);
    const auto found = nccl_kernels_.find(lane);
    if (found != nccl_kernels_.end()) rows.insert(rows.end(), found->second.begin(), found->second.end());
  }
  std::sort(rows.begin(), rows.end());  // rows are in order of their start
  return rows;
}

bool WorkIndex::is_nccl(const WorkRow& work) const {
  return !work.is_memop && is_nccl_[work.row];
}

bool WorkIndex::is_on(const WorkRow& work, std::uint64_t stream_address) const {
  const std::vector<Lane>& lanes = found_in(lanes_, stream_address);
  return std::find(lanes.begin(), lanes.end(), lane_of(work)) != lanes.end();
}

std::int64_t WorkIndex::launch_ns(const WorkRow& work) const {
  const std::uint64_t api = api_of(work);
  if (api == runfile::kNoRow || work_.api.start_ns[api] < 0) return start_ns(work);
  return work_.api.start_ns[api] + std::max<std::int64_t>(work_.api.dur_ns[api], 0) / 2;
}

std::pair<std::int64_t, std::int64_t> WorkIndex::launch_order(const WorkRow& work) const {
  return {launch_ns(work), start_ns(work)};
}

std::int64_t WorkIndex::start_ns(const WorkRow& work) const {
  return work.is_memop ? work_.memops.start_ns[work.row] : work_.kernels.start_ns[work.row];
}

std::int32_t WorkIndex::device(const WorkRow& work) const {
  return work.is_memop ? work_.memops.device[work.row] : work_.kernels.device[work.row];
}

std::uint64_t WorkIndex::api_of(const WorkRow& work) const {
  return work.is_memop ? work_.memops.api[work.row] : work_.kernels.api[work.row];
}

WorkIndex::Lane WorkIndex::lane_of(const WorkRow& work) const {
  if (work.is_memop) return {work_.memops.context[work.row], work_.memops.stream[work.row]};
  return {work_.kernels.context[work.row], work_.kernels.stream[work.row]};
}

}  // namespace jaxprof::match
