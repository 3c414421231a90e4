// How fast calls become instances when they do not fit into memory. 64 ranks on 8 nodes call AllReduce, AllGather and
// ReduceScatter on a communicator of all and on one of their node, and send to their neighbour. The limit is std::sort
// of the same records in memory, measured in the same run, which makes no instances.
//
// Times are of the processor, as the machine may have others to serve. Usage: match_bench [RECORDS [FOLDER
// [BUDGET_MIB]]]; prints "NAME VALUE UNIT" lines.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "merge/match/call_order.h"
#include "merge/match/instance_matcher.h"
#include "merge/match/match_order.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof {
namespace {

using match::CallRecord;
using runfile::Coll;

constexpr std::uint32_t kRanks = 64;
constexpr std::uint32_t kRanksANode = 8;
constexpr std::uint64_t kCallsAStep = 10;

double cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Call i of a rank; `row` is its row of /events/nccl.
CallRecord call_at(std::uint32_t rank, std::uint64_t i, std::uint64_t row) {
  const std::uint64_t step = i / kCallsAStep;
  const std::uint64_t place = i % kCallsAStep;
  CallRecord call;
  call.row = row;
  call.process = rank;
  call.enqueue_ns = static_cast<std::int64_t>(i * 1000 + (i * 2654435761U + rank * 40503U) % 700);
  call.gpu_start_ns = call.enqueue_ns + 5000;
  call.gpu_dur_ns = 800;
  call.size_bytes = 1 << 20;
  call.dtype = runfile::Dtype::kBf16;
  call.redop = runfile::Redop::kSum;
  call.algo = runfile::Algo::kRing;
  call.proto = runfile::Proto::kSimple;
  if (place >= 8) {  // the ring of all ranks
    const bool is_send = place == 8;
    call.coll = is_send ? Coll::kSend : Coll::kRecv;
    call.comm = 0;
    call.comm_rank = static_cast<std::int32_t>(rank);
    call.peer = static_cast<std::int32_t>((rank + (is_send ? 1 : kRanks - 1)) % kRanks);
    call.seq = step;
    return call;
  }
  const bool is_of_node = place < 5;
  call.comm = is_of_node ? 1 + rank / kRanksANode : 0;
  call.comm_rank = static_cast<std::int32_t>(is_of_node ? rank % kRanksANode : rank);
  // On its node 3 AllReduces, AllGather, ReduceScatter; with all 2 AllReduces and an AllGather.
  constexpr Coll kColls[] = {Coll::kAllReduce,     Coll::kAllReduce, Coll::kAllReduce, Coll::kAllGather,
                             Coll::kReduceScatter, Coll::kAllReduce, Coll::kAllReduce, Coll::kAllGather};
  constexpr std::uint64_t kSeq[] = {0, 1, 2, 0, 0, 0, 1, 0};
  constexpr std::uint64_t kCallsOfKind[] = {3, 3, 3, 1, 1, 2, 2, 1};
  call.coll = kColls[place];
  call.seq = step * kCallsOfKind[place] + kSeq[place];
  call.order = is_of_node ? step * 5 + place : step * 3 + place - 5;
  return call;
}

match::MatchFacts facts_of_run() {
  match::MatchFacts facts;
  facts.rank_count = {kRanks};
  facts.rank_count.resize(1 + kRanks / kRanksANode, kRanksANode);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) facts.node.push_back(rank / kRanksANode);
  facts.opened_by_time.resize(kRanks);
  facts.has_lost_gpu_work.resize(kRanks);
  return facts;
}

struct Counts {
  std::uint64_t instances = 0;
  std::uint64_t transfers = 0;
  std::uint64_t matched_rows = 0;
  bool is_whole = true;
};

// Matches the calls of all ranks; `order` may be null.
Counts match_all(std::uint64_t calls_a_rank, const std::string& folder, std::size_t budget_bytes,
                 match::CallOrder* order) {
  Counts counts;
  match::InstanceMatcher matcher(facts_of_run(), folder, budget_bytes);
  std::uint64_t row = 0;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    for (std::uint64_t i = 0; i < calls_a_rank; ++i) {
      if (!matcher.add(call_at(rank, i, row++))) counts.is_whole = false;
    }
  }
  const auto collectives = matcher.match_collectives([&](const match::InstanceBatch& batch) -> Status {
    counts.instances += runfile::n_rows(batch.collectives);
    if (order != nullptr) return order->add(batch);
    return {};
  });
  const auto transfers = matcher.match_transfers([&](const runfile::TransferTable& batch) -> Status {
    counts.transfers += runfile::n_rows(batch);
    return {};
  });
  const auto count_rows = [&](std::span<const std::uint64_t> rows) -> Status {
    for (const std::uint64_t target : rows) counts.matched_rows += target != runfile::kNoRow ? 1 : 0;
    return {};
  };
  counts.is_whole = counts.is_whole && collectives && transfers && matcher.for_each_instance(row, count_rows) &&
                    matcher.for_each_transfer(row, count_rows);
  return counts;
}

double sort_seconds(std::uint64_t calls_a_rank) {
  std::vector<CallRecord> calls;
  calls.reserve(kRanks * calls_a_rank);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    for (std::uint64_t i = 0; i < calls_a_rank; ++i) calls.push_back(call_at(rank, i, calls.size()));
  }
  const double begin_s = cpu_s();
  std::sort(calls.begin(), calls.end(), match::CollectiveOrder{});
  return cpu_s() - begin_s;
}

int run(std::uint64_t records, const std::string& folder, std::size_t budget_bytes) {
  const std::uint64_t calls_a_rank = records / kRanks / kCallsAStep * kCallsAStep;
  const auto all = static_cast<double>(kRanks * calls_a_rank);
  double begin_s = cpu_s();
  const Counts counts = match_all(calls_a_rank, folder, budget_bytes, nullptr);
  const double match_s = cpu_s() - begin_s;
  begin_s = cpu_s();
  match::CallOrder order({}, folder, budget_bytes / 16);
  match_all(calls_a_rank, folder, budget_bytes, &order);
  const auto findings = order.finish();
  const double with_order_s = cpu_s() - begin_s;
  const double peak = peak_mb();
  const double sort_s = sort_seconds(calls_a_rank);
  std::printf("match.records %.2f M records/s\n", all / match_s / 1e6);
  std::printf("match.records_with_order %.2f M records/s\n", all / with_order_s / 1e6);
  std::printf("match.sort %.2f M records/s\n", all / sort_s / 1e6);
  std::printf("match.match_to_sort %.3f ratio\n", sort_s / match_s);
  std::printf("match.peak_mb %.0f MB\n", peak);
  const std::uint64_t steps = calls_a_rank / kCallsAStep;
  const bool is_right = counts.is_whole && counts.instances == steps * (3 + 5 * kRanks / kRanksANode) &&
                        counts.transfers == steps * kRanks && counts.matched_rows == kRanks * calls_a_rank &&
                        findings && findings->empty();
  if (is_right) return 0;
  std::fprintf(stderr, "match_bench: %llu instances and %llu transfers; the figures above mean nothing\n",
               static_cast<unsigned long long>(counts.instances), static_cast<unsigned long long>(counts.transfers));
  return 1;
}

}  // namespace
}  // namespace jaxprof

int main(int argc, char** argv) {
  const std::uint64_t records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
  const std::size_t budget_mib = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 128;
  return jaxprof::run(records, argc > 2 ? argv[2] : "/tmp", budget_mib << 20);
}
