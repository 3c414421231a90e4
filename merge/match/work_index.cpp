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

}  // namespace

bool is_nccl_kernel(std::string_view name) {
  return std::any_of(kNcclNames.begin(), kNcclNames.end(),
                     [name](std::string_view known) { return name.find(known) != std::string_view::npos; });
}

WorkIndex::WorkIndex(const GpuWork& work, const rundir::GpuState& gpu, const runfile::StringTable& strings)
    : work_(work), calls_(work.api), strings_(strings) {
  const auto index = [this](const auto& table, bool is_memop) {
    for (std::uint64_t row = 0; row < table.correlation.size(); ++row) {
      const WorkRow item{is_memop, row};
      if (table.correlation[row] != runfile::kNoRow) by_correlation_.add(table.correlation[row], item);
      const bool is_of_window = (table.flags[row] & runfile::kWorkBeforeWindow) == 0;
      if (table.graph_node[row] != runfile::kNoRow && is_of_window) by_node_.add(table.graph_node[row], item);
    }
  };
  index(work.kernels, false);
  index(work.memops, true);
  for (KeyedLists<WorkRow>* lists : {&by_correlation_, &by_node_}) {
    lists->settle();
    lists->sort_each([this](const WorkRow& a, const WorkRow& b) { return launch_order(a) < launch_order(b); });
  }
  for (const spool::GpuStreamState& stream : gpu.streams) {
    lanes_[stream.address].emplace_back(stream.context, stream.stream);
  }
}

void WorkIndex::index_launches() {
  by_tid_.emplace();
  for (std::size_t row = 0; row < work_.api.tid.size(); ++row) {
    const bool is_usable = work_.api.correlation[row] != runfile::kNoRow && work_.api.start_ns[row] >= 0;
    if (!is_usable) continue;
    const std::int64_t half_ns = std::max<std::int64_t>(work_.api.dur_ns[row], 0) / 2;
    by_tid_->add(work_.api.tid[row], {work_.api.start_ns[row] + half_ns, calls_.outermost(row)});
  }
  by_tid_->settle();
  by_tid_->sort_each([](const Launch& a, const Launch& b) { return a.middle_ns < b.middle_ns; });
}

void WorkIndex::index_nccl_kernels() {
  nccl_kernels_.emplace();
  for (std::uint64_t row = 0; row < work_.kernels.name.size(); ++row) {
    const bool is_eager = work_.kernels.graph_node[row] == runfile::kNoRow;
    const bool is_of_window = (work_.kernels.flags[row] & runfile::kWorkBeforeWindow) == 0;
    const WorkRow kernel{false, row};
    if (is_eager && is_of_window && is_nccl(kernel)) (*nccl_kernels_)[lane_of(kernel)].push_back(kernel);
  }
}

std::span<const WorkRow> WorkIndex::with_correlation(std::uint64_t correlation, std::int64_t called_ns) const {
  std::span<const WorkRow> rows = by_correlation_.of(correlation);
  while (!rows.empty()) {
    const auto next =
        std::find_if(rows.begin(), rows.end(), [&](const WorkRow& row) { return !is_one_launch(rows.front(), row); });
    const auto count = static_cast<std::size_t>(next - rows.begin());
    if (next == rows.end() || launch_ns(rows.front()) >= called_ns - kStampErrorNs) return rows.first(count);
    rows = rows.subspan(count);
  }
  return {};
}

bool WorkIndex::is_one_launch(const WorkRow& a, const WorkRow& b) const {
  const std::uint64_t call = api_of(a);
  const std::uint64_t other = api_of(b);
  if (call != runfile::kNoRow && other != runfile::kNoRow) return call == other;
  return launch_ns(b) - launch_ns(a) < kShortestWrapNs;
}

std::vector<WorkRow> WorkIndex::launched_in(std::uint64_t tid, std::int64_t start_ns, std::int64_t end_ns) {
  if (!by_tid_) index_launches();
  std::vector<WorkRow> rows;
  const std::span<const Launch> launches = std::as_const(*by_tid_).of(tid);
  auto launch = std::lower_bound(launches.begin(), launches.end(), start_ns,
                                 [](const Launch& a, std::int64_t value) { return a.middle_ns < value; });
  for (; launch != launches.end() && launch->middle_ns <= end_ns; ++launch) {
    const std::span<const WorkRow> more = by_correlation_.of(work_.api.correlation[launch->call]);
    std::copy_if(more.begin(), more.end(), std::back_inserter(rows),
                 [&](const WorkRow& work) { return api_of(work) == launch->call; });
  }
  // A runtime call and the driver call inside of it have one correlation.
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

std::vector<WorkRow> WorkIndex::nccl_kernels_on(std::uint64_t stream_address) {
  if (!nccl_kernels_) index_nccl_kernels();
  std::vector<WorkRow> rows;
  std::vector<Lane> seen;
  const auto lanes = lanes_.find(stream_address);
  if (lanes == lanes_.end()) return rows;
  for (const Lane& lane : lanes->second) {
    if (std::find(seen.begin(), seen.end(), lane) != seen.end()) continue;
    seen.push_back(lane);
    const auto found = nccl_kernels_->find(lane);
    if (found != nccl_kernels_->end()) rows.insert(rows.end(), found->second.begin(), found->second.end());
  }
  std::sort(rows.begin(), rows.end());  // rows are in order of their start
  return rows;
}

bool WorkIndex::is_nccl(const WorkRow& work) {
  if (work.is_memop) return false;
  const runfile::StringId name = work_.kernels.name[work.row];
  const auto [known, is_new] = is_nccl_.try_emplace(static_cast<std::uint32_t>(name));
  if (is_new) known->second = is_nccl_kernel(strings_.text(name));
  return known->second;
}

bool WorkIndex::is_on(const WorkRow& work, std::uint64_t stream_address) const {
  const auto lanes = lanes_.find(stream_address);
  if (lanes == lanes_.end()) return false;
  return std::find(lanes->second.begin(), lanes->second.end(), lane_of(work)) != lanes->second.end();
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
