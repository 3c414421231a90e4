// Sorts more records than memory holds. Records are taken in any order; whenever the budget is full they are sorted and
// written to a scratch file as one run, and at the end the runs are merged. What fits into the budget never touches a
// disk. Records with equal keys come out in the order in which they were added.
//
// `Record` is trivially copyable; `Before` orders two of them. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "agent/base/result.h"
#include "merge/scratch/scratch_file.h"

namespace jaxprof::scratch {

template <typename Record, typename Before>
class SortedSpill {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  // Memory for records at any time, also while runs are merged. `folder` is where scratch files may lie.
  SortedSpill(std::string folder, std::size_t budget_bytes);

  // kOutputFailed, naming the folder, when the disk is full.
  Status add(const Record& record);
  std::uint64_t size() const;

  // All records in order; nothing may be added after it. Stops at the first failure of `take`, and answers it.
  Status for_each(const std::function<Status(const Record&)>& take);
};

}  // namespace jaxprof::scratch
