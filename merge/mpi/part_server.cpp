#include "merge/mpi/part_server.h"

#include <algorithm>
#include <deque>
#include <future>
#include <utility>

#include "merge/assembly/part_placer.h"
#include "merge/assembly/part_source.h"
#include "merge/mpi/part_messages.h"
#include "merge/mpi/shared_parts.h"
#include "merge/runfile/encoded_part.h"
#include "merge/runfile/schema.h"

namespace jaxprof::merge {
namespace {

runfile::RowPositions positions_of(const assembly::RowCounts& counts) {
  runfile::EventTables events;
  runfile::RowPositions positions = runfile::RowPositions::none();
  std::size_t next = 0;
  runfile::for_each_event_table(events, [&](auto& table) {
    const void* at = &table;
    std::uint64_t& rows = positions.rows[next++];
    if (at == &events.nvtx) rows = counts.nvtx;
    if (at == &events.kernels) rows = counts.kernels;
    if (at == &events.memops) rows = counts.memops;
    if (at == &events.api) rows = counts.api;
    if (at == &events.overhead) rows = counts.overhead;
    if (at == &events.graphs) rows = counts.graphs;
    if (at == &events.syncs) rows = counts.syncs;
    if (at == &events.cuda_events) rows = counts.cuda_events;
    if (at == &events.nccl_work) rows = counts.nccl_work;
    if (at == &events.steps) rows = counts.steps;
  });
  return positions;
}

Message encode(assembly::ProcessPart part, const assembly::Placement& placement, runfile::Compression compression) {
  assembly::PlacedPart placed;
  placed.early = place_rows(placement, &part);
  placed.rows = encode_part(part.rows, positions_of(placement.first_rows), compression);
  placed.calls = std::move(part.calls);
  return pack(placed);
}

}  // namespace

std::vector<std::size_t> share_of(int rank, int size, std::size_t count) {
  std::vector<std::size_t> share;
  for (auto i = static_cast<std::size_t>(rank); i < count; i += static_cast<std::size_t>(size)) share.push_back(i);
  return share;
}

Status serve_parts(const assembly::RunSources& sources, unsigned n_threads, std::size_t budget_bytes,
                   runfile::Compression compression, Peers* peers) {
  const std::vector<std::size_t> share = share_of(peers->rank(), peers->size(), sources.processes.size());
  assembly::OrderedParts<assembly::ProcessPart> parts(
      share.size(), assembly::threads_of(n_threads), budget_bytes,
      [&](std::size_t i) { return memory_of(sources.processes[share[i]]); },
      [&](std::size_t i) { return read_process(sources, share[i]); });
  std::deque<std::future<Message>> encoded;
  const auto send_rows = [&] {
    peers->send(0, MessageKind::kRows, encoded.front().get());
    encoded.pop_front();
  };
  for (std::size_t i = 0; i < share.size(); ++i) {
    assembly::ProcessPart part = parts.next();
    peers->send(0, MessageKind::kHead, pack(part.head));
    auto placement = unpack_placement(peers->receive(0, MessageKind::kPlacement));
    if (!placement) return tl::unexpected(std::move(placement.error()));
    encoded.push_back(std::async(std::launch::async,
                                 [part = std::move(part), placement = std::move(*placement), compression]() mutable {
                                   return encode(std::move(part), placement, compression);
                                 }));
    if (encoded.size() > kHeadsAhead) send_rows();
  }
  while (!encoded.empty()) send_rows();
  return {};
}

}  // namespace jaxprof::merge
