// The parts of a run that several processes read, in the order of the run, for the one that writes: its own share and
// what the others send.
#pragma once

#include "merge/assembly/part_source.h"
#include "merge/mpi/peers.h"

namespace jaxprof::merge {

// A process sends the heads of that many more of its spools before the rows of one.
inline constexpr std::size_t kHeadsAhead = 2;

class SharedParts final : public assembly::PartSource {
 public:
  // Of process 0. All are borrowed.
  SharedParts(const assembly::RunSources& sources, unsigned n_threads, std::size_t budget_bytes, Peers* peers);

  std::size_t ahead() const override { return kHeadsAhead * static_cast<std::size_t>(peers_.size()); }
  Result<assembly::PartHead> next_head() override;
  Status place(assembly::Placement placement) override;
  Result<assembly::PlacedPart> next_rows() override;

 private:
  // Who reads the how many-th process.
  int reader_of(std::size_t process) const {
    return static_cast<int>(process % static_cast<std::size_t>(peers_.size()));
  }

  Peers& peers_;
  assembly::LocalParts own_;
  std::size_t next_head_ = 0;
  std::size_t next_placed_ = 0;
  std::size_t next_rows_ = 0;
};

}  // namespace jaxprof::merge
