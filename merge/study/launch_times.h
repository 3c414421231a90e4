// When the call began that launched a piece of GPU work. Work points to its call by row, mostly in order but not quite;
// a few stretches of the calls are kept.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/study/row_cursor.h"

namespace jaxprof::study {

// One thread at a time.
class LaunchTimes {
 public:
  // kInputUnreadable.
  static Result<LaunchTimes> open(const runfile::RunFileReader& reader);

  bool has_calls() const { return n_rows_ > 0; }
  // -1 (kNoTime): no such call, or it has no time, or (told by status()) the file could not be read.
  std::int64_t begin_ns(std::uint64_t api);
  // The thread that called; kNoRow where it is not known.
  std::uint64_t tid(std::uint64_t api);
  const Status& status() const { return status_; }

 private:
  struct Stretch {
    std::uint64_t number = 0;
    std::uint64_t last_use = 0;
    std::vector<std::int64_t> start_ns;
    std::vector<std::uint64_t> tid;  // empty until one is asked for
  };
  LaunchTimes(const runfile::RunFileReader& reader, std::uint64_t n_rows) : reader_(&reader), n_rows_(n_rows) {}
  Stretch& stretch(std::uint64_t number);
  void read(std::uint64_t number, const char* column, runfile::ApiTable& rows);

  const runfile::RunFileReader* reader_;
  std::uint64_t n_rows_;
  std::uint64_t uses_ = 0;
  std::size_t last_ = 0;
  std::vector<Stretch> stretches_;
  Status status_;
};

}  // namespace jaxprof::study
