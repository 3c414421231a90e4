// MPI counts elements by int, and a message may be longer: it goes as its length and then in pieces.
#include "merge/mpi/mpi_peers.h"

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace jaxprof::merge {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 30;

}  // namespace

MpiPeers::MpiPeers(int* argc, char*** argv) {
  int provided = 0;
  MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

MpiPeers::~MpiPeers() {
  MPI_Finalize();
}

void MpiPeers::send(int to, MessageKind kind, std::span<const std::byte> bytes) {
  const int tag = static_cast<int>(kind);
  const std::uint64_t length = bytes.size();
  MPI_Send(&length, 1, MPI_UINT64_T, to, tag, MPI_COMM_WORLD);
  for (std::size_t at = 0; at < bytes.size(); at += kPieceBytes) {
    const std::size_t piece = std::min(kPieceBytes, bytes.size() - at);
    MPI_Send(bytes.data() + at, static_cast<int>(piece), MPI_BYTE, to, tag, MPI_COMM_WORLD);
  }
}

Message MpiPeers::receive(int from, MessageKind kind) {
  const int tag = static_cast<int>(kind);
  std::uint64_t length = 0;
  MPI_Recv(&length, 1, MPI_UINT64_T, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  Message message(length);
  for (std::size_t at = 0; at < message.size(); at += kPieceBytes) {
    const std::size_t piece = std::min(kPieceBytes, message.size() - at);
    MPI_Recv(message.data() + at, static_cast<int>(piece), MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return message;
}

void MpiPeers::end_all(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::abort();  // MPI_Abort is not declared to end
}

}  // namespace jaxprof::merge
