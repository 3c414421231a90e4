// The NCCL rows of all processes between the time when a process is read and the time when all of them are known, which
// is when communicators have their numbers and sizes. A few are kept in memory, many in a scratch file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "merge/runfile/event_tables.h"
#include "merge/scratch/scratch_file.h"

namespace jaxprof::assembly {

struct StoredCalls {
  runfile::NcclTable rows;                   // without the columns `instance` and `transfer`
  std::vector<std::uint64_t> comm_hashes;    // `comm` of the rows is a position here
  std::vector<std::uint32_t> calls_in_plan;  // by row
};

// Calls are put and taken one process after the other. One thread.
class CallStore {
 public:
  // `folder` is where a scratch file may lie, `budget_bytes` what may be kept in memory.
  CallStore(std::string folder, std::size_t budget_bytes) : folder_(std::move(folder)), budget_bytes_(budget_bytes) {}

  Status put(StoredCalls calls);
  std::size_t n_processes() const { return entries_.size(); }
  // Of the how many-th process; once each.
  Result<StoredCalls> take(std::size_t process);

 private:
  struct Entry {
    StoredCalls calls;         // whose rows are empty if they lie in the file
    std::uint64_t offset = 0;  // in the file
    std::uint64_t n_rows = 0;
    bool is_in_file = false;
  };

  Status write(Entry* entry);

  std::string folder_;
  std::size_t budget_bytes_;
  std::size_t kept_bytes_ = 0;
  std::vector<Entry> entries_;
  std::optional<scratch::ScratchFile> file_;
};

}  // namespace jaxprof::assembly
