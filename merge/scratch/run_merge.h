// Merges sorted runs of one scratch file into one order, with a buffer of a given size for each. Of equal records those
// of the earlier run come first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "agent/base/result.h"
#include "merge/scratch/scratch_file.h"
#include "merge/scratch/sort_items.h"

namespace jaxprof::scratch {

// A stretch of a scratch file that holds `count` records in order.
struct SortedRun {
  std::uint64_t offset_bytes = 0;
  std::uint64_t count = 0;
};

template <typename Record>
class RunReader {
 public:
  RunReader(const ScratchFile& file, SortedRun run, std::size_t buffer_records)
      : file_(&file),
        run_(run),
        buffer_(std::min<std::uint64_t>(std::max<std::size_t>(buffer_records, 1), run.count)) {}

  // Null at the end. The record is there until the next call.
  Result<const Record*> next() {
    if (next_ == filled_) {
      filled_ = std::min<std::uint64_t>(buffer_.size(), run_.count);
      next_ = 0;
      if (filled_ == 0) return nullptr;
      const auto bytes = std::as_writable_bytes(std::span(buffer_).first(filled_));
      if (auto read = file_->read(run_.offset_bytes, bytes); !read) return tl::unexpected(std::move(read.error()));
      run_.offset_bytes += bytes.size();
      run_.count -= filled_;
    }
    return &buffer_[next_++];
  }

 private:
  const ScratchFile* file_;
  SortedRun run_;  // what is not in the buffer yet
  std::vector<Record> buffer_;
  std::size_t filled_ = 0;
  std::size_t next_ = 0;
};

template <typename Record, typename Before>
class RunMerge {
 public:
  // Memory for buffer_records of each run. `file` outlives it.
  RunMerge(const ScratchFile& file, std::span<const SortedRun> runs, std::size_t buffer_records) {
    for (const SortedRun& run : runs) readers_.emplace_back(file, run, buffer_records);
  }

  // `take(const Record&)` answers a Status; the first failure ends the merge.
  template <typename Take>
  Status for_each(const Take& take) {
    for (std::size_t run = 0; run < readers_.size(); ++run) {
      auto head = head_of(run);
      if (!head) return tl::unexpected(std::move(head.error()));
      if (head->record != nullptr) heads_.push(*head);
    }
    while (!heads_.empty()) {
      Head head = heads_.top();
      heads_.pop();
      // Neighbours often come from one run: the rest of the heap is asked only once for each.
      do {
        if (auto taken = take(*head.record); !taken) return taken;
        auto next = head_of(head.run);
        if (!next) return tl::unexpected(std::move(next.error()));
        head = *next;
      } while (head.record != nullptr && (heads_.empty() || !IsAfter{}(head, heads_.top())));
      if (head.record != nullptr) heads_.push(head);
    }
    return {};
  }

 private:
  struct Head {
    Leading leading;
    const Record* record;
    std::size_t run;
  };
  struct IsAfter {
    bool operator()(const Head& a, const Head& b) const {
      if (!is_equal(a.leading, b.leading)) return is_less(b.leading, a.leading);
      if (Before{}(*b.record, *a.record)) return true;
      return !Before{}(*a.record, *b.record) && a.run > b.run;
    }
  };

  Result<Head> head_of(std::size_t run) {
    auto record = readers_[run].next();
    if (!record) return tl::unexpected(std::move(record.error()));
    return Head{*record != nullptr ? leading_of<Before>(**record) : Leading{}, *record, run};
  }

  std::vector<RunReader<Record>> readers_;
  std::priority_queue<Head, std::vector<Head>, IsAfter> heads_;
};

}  // namespace jaxprof::scratch
