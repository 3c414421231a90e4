// A dataset of a file that may be damaged, foreign or newer: opened, measured and read only after its rank, type and
// length have been checked. A length that the file cannot hold is refused before memory is asked for it.
#pragma once

#include <cstdint>
#include <string>

#include "agent/base/result.h"
#include "merge/runfile/hdf5_handle.h"

namespace jaxprof::runfile {

// Whether values of file type `stored` can be read as `wanted`: the same class, width and sign for numbers; a word
// list of one byte; a fixed text of at most the same width; a variable text.
Status check_type(hid_t stored, hid_t wanted);

// Whether there is something at `path` ("/events/nccl/seq").
bool has_dataset(hid_t file, const std::string& path);

class DatasetReader {
 public:
  // kInputUnreadable if there is no dataset of one dimension at `path`.
  static Result<DatasetReader> open(hid_t file, const std::string& path);

  std::uint64_t rows() const { return rows_; }
  hid_t type() const { return type_.get(); }
  hid_t id() const { return dataset_.get(); }
  const std::string& path() const { return path_; }
  Status check(hid_t wanted) const;
  // Rows [first, first + count) as `memory_type` into `out`; the range must lie inside rows().
  Status read(std::uint64_t first, std::uint64_t count, hid_t memory_type, void* out) const;
  // Gives back what a read of variable-length texts allocated.
  void reclaim(std::uint64_t count, hid_t memory_type, void* out) const;

 private:
  std::string path_;
  Handle dataset_;
  Handle type_;
  std::uint64_t rows_ = 0;
};

}  // namespace jaxprof::runfile
