#include "merge/mpi/shared_parts.h"

#include <utility>

#include "merge/mpi/part_messages.h"
#include "merge/mpi/part_server.h"

namespace jaxprof::merge {

SharedParts::SharedParts(const assembly::RunSources& sources, unsigned n_threads, std::size_t budget_bytes,
                         Peers* peers)
    : peers_(*peers), own_(sources, share_of(0, peers->size(), sources.processes.size()), n_threads, budget_bytes) {}

Result<assembly::PartHead> SharedParts::next_head() {
  const int reader = reader_of(next_head_++);
  if (reader == 0) return own_.next_head();
  return unpack_head(peers_.receive(reader, MessageKind::kHead));
}

Status SharedParts::place(assembly::Placement placement) {
  const int reader = reader_of(next_placed_++);
  if (reader == 0) return own_.place(std::move(placement));
  peers_.send(reader, MessageKind::kPlacement, pack(placement));
  return {};
}

Result<assembly::PlacedPart> SharedParts::next_rows() {
  const int reader = reader_of(next_rows_++);
  if (reader == 0) return own_.next_rows();
  return unpack_rows(peers_.receive(reader, MessageKind::kRows));
}

}  // namespace jaxprof::merge
