// Peers over MPI: the processes that mpirun or srun started.
#pragma once

#include "merge/mpi/peers.h"

namespace jaxprof::merge {

// MPI is initialised while it lives; one in a process.
class MpiPeers final : public Peers {
 public:
  MpiPeers(int* argc, char*** argv);
  ~MpiPeers() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void send(int to, MessageKind kind, std::span<const std::byte> bytes) override;
  Message receive(int from, MessageKind kind) override;

  // Ends all processes with that status.
  [[noreturn]] static void end_all(int status);

 private:
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace jaxprof::merge
