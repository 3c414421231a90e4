#include "merge/match/instance_rows.h"

#include <algorithm>

#include "merge/match/match_order.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::match {
namespace {

// The value that all members share who know it, `missing` if none does, or `otherwise`. A member that was seen by NVTX
// or by the plugin alone does not know all; that is no disagreement.
template <typename T>
T common(std::span<const CallRecord> members, T CallRecord::*field, T missing, T otherwise, bool* is_mismatch) {
  T shared = missing;
  for (const CallRecord& member : members) {
    const T value = member.*field;
    if (value == missing || value == shared) continue;
    if (shared != missing) {
      *is_mismatch = true;
      return otherwise;
    }
    shared = value;
  }
  return shared;
}

bool is_grouped(std::span<const CallRecord> members) {
  return std::any_of(members.begin(), members.end(), [](const CallRecord& call) { return call.calls_in_plan > 1; });
}

void set_gpu_times(std::span<const CallRecord> members, const FirstAndLast& on_gpu, std::size_t row,
                   runfile::CollectiveTable* table) {
  table->first_start_ns[row] = on_gpu.first->gpu_start_ns;
  table->last_start_ns[row] = on_gpu.last->gpu_start_ns;
  table->last_arrival[row] = on_gpu.last->comm_rank;
  const auto is_earlier = [](const CallRecord& a, const CallRecord& b) { return gpu_end_ns(a) < gpu_end_ns(b); };
  const auto [first_end, last_end] = std::minmax_element(members.begin(), members.end(), is_earlier);
  table->first_end_ns[row] = gpu_end_ns(*first_end);
  table->last_end_ns[row] = gpu_end_ns(*last_end);
}

}  // namespace

void add_instance(std::span<const CallRecord> members, std::uint32_t rank_count, Arrivals* arrivals,
                  runfile::CollectiveTable* to) {
  runfile::CollectiveTable& table = *to;
  const std::size_t row = runfile::add_row(table);
  const CallRecord& any = members.front();
  table.comm[row] = any.comm;
  table.seq[row] = any.seq;
  table.coll[row] = any.coll;
  table.capture[row] = any.capture;
  table.replay[row] = any.replay;
  bool is_mismatch = false;
  bool is_tuning_mixed = false;  // members may choose algorithm and protocol differently: no mismatch
  table.dtype[row] =
      common(members, &CallRecord::dtype, runfile::Dtype::kMissing, runfile::Dtype::kUnknown, &is_mismatch);
  table.size_bytes[row] = common(members, &CallRecord::size_bytes, runfile::kNoRow, runfile::kNoRow, &is_mismatch);
  common(members, &CallRecord::redop, runfile::Redop::kMissing, runfile::Redop::kMissing, &is_mismatch);
  table.algo[row] =
      common(members, &CallRecord::algo, runfile::Algo::kMissing, runfile::Algo::kUnknown, &is_tuning_mixed);
  table.proto[row] =
      common(members, &CallRecord::proto, runfile::Proto::kMissing, runfile::Proto::kUnknown, &is_tuning_mixed);
  const auto seen = static_cast<std::uint32_t>(members.size());
  table.n_ranks[row] = rank_count == runfile::kNoIndex ? seen : rank_count;
  table.n_seen[row] = seen;

  const FirstAndLast on_host = first_and_last(members, &CallRecord::enqueue_ns);
  const FirstAndLast on_gpu = first_and_last(members, &CallRecord::gpu_start_ns);
  if (on_host.first != nullptr) {
    table.first_enqueue_ns[row] = on_host.first->enqueue_ns;
    table.last_enqueue_ns[row] = on_host.last->enqueue_ns;
    table.last_member[row] = on_host.last->comm_rank;
  }
  if (on_gpu.first != nullptr) set_gpu_times(members, on_gpu, row, &table);
  const ArrivalError arrival = arrivals->weigh(members, on_gpu, on_host);
  table.clock_sigma_ns[row] = arrival.error.sigma_ns;
  table.clock_bound_ns[row] = arrival.error.bound_ns;
  std::uint16_t flags = arrival.flags;
  if (seen < table.n_ranks[row]) flags |= runfile::kInstancePartial;
  if (is_grouped(members)) flags |= runfile::kInstanceGrouped;
  if (is_mismatch) flags |= runfile::kInstanceMismatch;
  table.flags[row] = flags;
}

void add_transfer(std::span<const CallRecord> sides, Arrivals* arrivals, runfile::TransferTable* to) {
  runfile::TransferTable& table = *to;
  const std::size_t row = runfile::add_row(table);
  const CallRecord& any = sides.front();
  table.comm[row] = any.comm;
  table.source[row] = TransferOrder::source(any);
  table.destination[row] = TransferOrder::destination(any);
  table.seq[row] = any.seq;
  table.coll[row] = TransferOrder::counted(any);
  table.capture[row] = any.capture;
  table.replay[row] = any.replay;
  for (const CallRecord& side : sides) {
    const bool is_send = TransferOrder::is_send(side);
    (is_send ? table.send_row : table.recv_row)[row] = side.row;
    (is_send ? table.send_enqueue_ns : table.recv_enqueue_ns)[row] = side.enqueue_ns;
    (is_send ? table.send_start_ns : table.recv_start_ns)[row] = side.gpu_start_ns;
  }
  bool is_mismatch = false;
  table.dtype[row] =
      common(sides, &CallRecord::dtype, runfile::Dtype::kMissing, runfile::Dtype::kUnknown, &is_mismatch);
  table.size_bytes[row] = common(sides, &CallRecord::size_bytes, runfile::kNoRow, runfile::kNoRow, &is_mismatch);

  const FirstAndLast on_gpu = first_and_last(sides, &CallRecord::gpu_start_ns);
  if (on_gpu.first != nullptr) {
    for (const CallRecord& side : sides) table.end_ns[row] = std::max(table.end_ns[row], gpu_end_ns(side));
  }
  const ArrivalError arrival = arrivals->weigh(sides, on_gpu, first_and_last(sides, &CallRecord::enqueue_ns));
  table.clock_sigma_ns[row] = arrival.error.sigma_ns;
  table.clock_bound_ns[row] = arrival.error.bound_ns;
  std::uint16_t flags = arrival.flags;
  if (sides.size() < 2) flags |= runfile::kInstancePartial;
  if (is_grouped(sides)) flags |= runfile::kInstanceGrouped;
  if (is_mismatch) flags |= runfile::kInstanceMismatch;
  table.flags[row] = flags;
}

}  // namespace jaxprof::match
