// HDF5 inflates the chunks of a column one by one with zlib, and whoever reads ten columns waits for the sum. What is
// asked for as whole columns is collected here, and then inflated by several threads straight to where it is wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "merge/runfile/chunk_places.h"

namespace jaxprof::runfile {

class ColumnLoads {
 public:
  // `values` are the column's bytes, places.rows elements, and stay where they are until run() is over.
  void add(std::string path, ChunkPlaces places, std::span<std::byte> values);
  // Fills all columns from the file behind descriptor `fd`, by at most `n_threads` threads, the caller's among them.
  // Of several failures the first that came, with the path of its column; what was not filled stays as it was.
  Status run(int fd, unsigned n_threads);

 private:
  struct Load {
    std::string path;
    ChunkPlaces places;
    std::span<std::byte> values;
  };
  struct Chunk {
    std::size_t load;
    std::uint64_t first_row;
  };
  class Progress;
  void work(int fd, Progress& progress) const;

  std::vector<Load> loads_;
  std::vector<Chunk> chunks_;  // of all loads, in order
  std::size_t bytes_ = 0;      // of all values
};

}  // namespace jaxprof::runfile
