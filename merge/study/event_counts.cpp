// Each table is counted by a function of a stretch of it; what it finds is added up under a lock.
#include "merge/study/event_counts.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

using ByBit = std::array<std::int64_t, EventCounts::kBits>;

std::size_t bit_of(std::uint16_t flag) {
  return static_cast<std::size_t>(std::countr_zero(flag));
}

// Most columns hold one value over long stretches, and comparing bytes is faster than counting them.
template <typename T>
bool is_constant(const std::vector<T>& values) {
  return !values.empty() && std::memcmp(values.data(), values.data() + 1, (values.size() - 1) * sizeof(T)) == 0;
}

template <typename T, typename Predicate>
std::int64_t count_where(const std::vector<T>& values, const Predicate& is_counted) {
  if (is_constant(values)) return is_counted(values[0]) ? static_cast<std::int64_t>(values.size()) : 0;
  return std::count_if(values.begin(), values.end(), is_counted);
}

ByBit count_bits(const std::vector<std::uint16_t>& flags) {
  ByBit counts{};
  if (is_constant(flags) && flags[0] == 0) return counts;
  for (std::size_t bit = 0; bit < counts.size(); ++bit) {
    counts[bit] = count_where(flags, [bit](std::uint16_t f) { return (f >> bit & 1) != 0; });
  }
  return counts;
}

// Any thread, several at once.
class EventCounter {
 public:
  explicit EventCounter(std::span<const std::uint64_t> nccl_process_offset) : calls_(nccl_process_offset) {}

  CallCounter& calls() { return calls_; }

  void take(const NvtxTable& rows) {
    std::array<std::int64_t, 256> by_kind{};
    if (is_constant(rows.kind)) {
      by_kind[static_cast<std::uint8_t>(rows.kind[0])] = static_cast<std::int64_t>(rows.kind.size());
    } else {
      for (const NvtxKind kind : rows.kind) ++by_kind[static_cast<std::uint8_t>(kind)];
    }
    const std::lock_guard lock(mutex_);
    for (std::size_t kind = 0; kind < by_kind.size(); ++kind) counts_.nvtx_by_kind[kind] += by_kind[kind];
  }
  void take(const KernelTable& rows) {
    const std::int64_t in_graphs = count_where(rows.graph_node, [](std::uint64_t node) { return node != kNoRow; });
    add(rows.flags, &counts_.n_kernels, &counts_.gpu_flaws);
    const std::lock_guard lock(mutex_);
    counts_.n_kernels_in_graphs += in_graphs;
  }
  void take(const MemopTable& rows) { add(rows.flags, &counts_.n_memops, &counts_.gpu_flaws); }
  void take(const ApiTable& rows) { add(rows.flags, &counts_.n_api, &counts_.gpu_flaws); }
  void take(const GraphTable& rows) { add(rows.flags, &counts_.n_graphs, &counts_.gpu_flaws); }
  void take(const CollectiveTable& rows) { add(rows.flags, &counts_.n_instances, &counts_.instance_flags); }

  EventCounts counts() const {
    const std::lock_guard lock(mutex_);
    EventCounts counts = counts_;
    counts.calls = calls_.counts();
    return counts;
  }

 private:
  void add(const std::vector<std::uint16_t>& flags, std::int64_t* n_rows, ByBit* by_bit) {
    const ByBit own = count_bits(flags);
    const std::lock_guard lock(mutex_);
    *n_rows += static_cast<std::int64_t>(flags.size());
    for (std::size_t bit = 0; bit < own.size(); ++bit) (*by_bit)[bit] += own[bit];
  }

  CallCounter calls_;
  mutable std::mutex mutex_;
  EventCounts counts_;
};

bool is_counted(std::string_view path) {
  constexpr std::array<std::string_view, 7> kColumns = {
      "/events/nvtx/kind", "/events/kernels/flags", "/events/kernels/graph_node", "/events/memops/flags",
      "/events/api/flags", "/events/graphs/flags",  "/collectives/flags"};
  return std::find(kColumns.begin(), kColumns.end(), path) != kColumns.end();
}

unsigned n_threads() {
  constexpr unsigned kMost = 16;  // each of them has some MB
  return std::clamp(std::thread::hardware_concurrency(), 1U, kMost);
}

template <typename Table>
Status count_table(const RunFileReader& file, EventCounter* counter) {
  const auto take = [counter](const Table& rows, std::uint64_t) { counter->take(rows); };
  return file.scan_rows<Table>(is_counted, n_threads(), take);
}

Status count_calls_of(const RunFileReader& file, const RunTables& run, CallCounter* calls) {
  const auto n_rows = file.count_rows<NcclTable>();
  if (!n_rows) return tl::unexpected(n_rows.error());
  if (run.nccl_process_offset.back() != *n_rows) {
    return fail(ErrorCode::kInputUnreadable, "/events/nccl/process_offset ends at " +
                                                 std::to_string(run.nccl_process_offset.back()) + " of " +
                                                 std::to_string(*n_rows) + " rows");
  }
  const auto take = [calls](const NcclTable& rows, std::uint64_t first) { calls->take(rows, first); };
  const auto take_reasons = [calls](const NcclTable& rows, std::uint64_t) { calls->take_reasons(rows); };
  auto status = file.scan_rows<NcclTable>(CallCounter::wants, n_threads(), take);
  if (!status || calls->counts().n_unmatched() == 0) return status;
  return file.scan_rows<NcclTable>(CallCounter::wants_for_reasons, n_threads(), take_reasons);
}

}  // namespace

std::int64_t EventCounts::n_with_flaw(std::uint16_t flag) const {
  return gpu_flaws[bit_of(flag)];
}
std::int64_t EventCounts::n_instances_with(std::uint16_t flag) const {
  return instance_flags[bit_of(flag)];
}

EventCounts count_events(const RunTables& run) {
  EventCounter counter(run.nccl_process_offset);
  counter.calls().take(run.nccl, 0);
  counter.calls().take_reasons(run.nccl);
  counter.take(run.nvtx);
  counter.take(run.kernels);
  counter.take(run.memops);
  counter.take(run.api);
  counter.take(run.graphs);
  counter.take(run.collectives);
  return counter.counts();
}

Result<EventCounts> count_events(const RunFileReader& file, const RunTables& run) {
  EventCounter counter(run.nccl_process_offset);
  auto status = count_calls_of(file, run, &counter.calls());
  if (status) status = count_table<NvtxTable>(file, &counter);
  if (status) status = count_table<KernelTable>(file, &counter);
  if (status) status = count_table<MemopTable>(file, &counter);
  if (status) status = count_table<ApiTable>(file, &counter);
  if (status) status = count_table<GraphTable>(file, &counter);
  if (status) status = count_table<CollectiveTable>(file, &counter);
  if (!status) return tl::unexpected(std::move(status.error()));
  return counter.counts();
}

}  // namespace jaxprof::study
