// Sorts more records than memory holds. Records are taken in any order; whenever the budget is full they are sorted and
// written to a scratch file as one run, and at the end the runs are merged. What fits into the budget never touches a
// disk. Records with equal keys come out in the order in which they were added.
//
// `Record` is trivially copyable; `Before` orders two of them, and is much faster with a leading part (sort_items.h).
// One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "agent/base/result.h"
#include "merge/scratch/run_merge.h"
#include "merge/scratch/scratch_file.h"
#include "merge/scratch/sort_items.h"

namespace jaxprof::scratch {

template <typename Record, typename Before>
class SortedSpill {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  // Memory for records at any time, also while runs are merged; a budget that is too small for a few records is
  // exceeded by these. `folder` is where scratch files may lie: as much as all records, twice that if the budget is so
  // small that there are very many runs.
  SortedSpill(std::string folder, std::size_t budget_bytes) : folder_(std::move(folder)), budget_bytes_(budget_bytes) {}

  // kOutputFailed, naming the folder, when the disk is full.
  Status add(const Record& record) {
    if (records_.size() == records_.capacity()) {
      const std::size_t most = records_in_memory();
      if (records_.size() >= most) {
        if (auto spilled = spill(); !spilled) return spilled;
      } else {
        records_.reserve(std::min(most, std::max<std::size_t>(2 * records_.size(), 64)));
      }
    }
    records_.push_back(record);
    ++size_;
    return {};
  }

  std::uint64_t size() const { return size_; }

  // All records in order; nothing may be added after it. Stops at the first failure of `take`, and answers it. May be
  // called again.
  Status for_each(const std::function<Status(const Record&)>& take) {
    if (runs_.empty()) return for_each_in_memory(take);
    if (auto prepared = prepare_merge(); !prepared) return prepared;
    return RunMerge<Record, Before>(*file_, runs_, buffer_records(runs_.size())).for_each(take);
  }

 private:
  // Larger buffers make reading from a disk no faster, smaller ones do make it slower.
  static constexpr std::size_t kBufferBytes = 128 << 10;
  static constexpr std::size_t kMostRunsAtOnce = 512;

  // A record waits with two items for its sorting, and passes through one buffer.
  std::size_t records_in_memory() const {
    const std::size_t for_records = budget_bytes_ - std::min(budget_bytes_ / 8, kBufferBytes);
    return std::max<std::size_t>(for_records / (sizeof(Record) + 2 * sizeof(SortItem)), 1);
  }
  std::size_t buffer_records(std::size_t buffers) const {
    return std::max<std::size_t>(budget_bytes_ / buffers / sizeof(Record), 1);
  }
  std::size_t runs_at_once() const {
    return std::clamp<std::size_t>(budget_bytes_ / std::max(kBufferBytes, sizeof(Record)), 2, kMostRunsAtOnce);
  }

  Status for_each_in_memory(const std::function<Status(const Record&)>& take) {
    if (order_.empty()) order_ = sorted_places<Before, Record>(records_);
    for (const SortItem& item : order_) {
      if (auto taken = take(records_[item.place]); !taken) return taken;
    }
    return {};
  }

  // Collects records for one write.
  class RunWriter {
   public:
    RunWriter(ScratchFile* file, std::size_t buffer_records) : file_(*file), run_{file->size_bytes(), 0} {
      buffer_.reserve(buffer_records);
    }
    Status add(const Record& record) {
      buffer_.push_back(record);
      ++run_.count;
      return buffer_.size() < buffer_.capacity() ? Status{} : flush();
    }
    Result<SortedRun> finish() {
      return flush().map([this] { return run_; });
    }

   private:
    Status flush() {
      auto written = file_.append(std::as_bytes(std::span(buffer_)));
      buffer_.clear();
      return written;
    }
    ScratchFile& file_;
    SortedRun run_;
    std::vector<Record> buffer_;
  };

  Status make_file() {
    auto made = ScratchFile::create(folder_);
    if (!made) return tl::unexpected(std::move(made.error()));
    file_ = std::move(*made);
    return {};
  }

  // What is in memory becomes a run.
  Status spill() {
    if (!file_) {
      if (auto made = make_file(); !made) return made;
    }
    RunWriter writer(&*file_, std::max<std::size_t>(std::min(budget_bytes_ / 8, kBufferBytes) / sizeof(Record), 1));
    for (const SortItem& item : sorted_places<Before, Record>(records_)) {
      if (auto added = writer.add(records_[item.place]); !added) return added;
    }
    records_.clear();
    return finish(&writer, &runs_);
  }

  static Status finish(RunWriter* writer, std::vector<SortedRun>* runs) {
    auto run = writer->finish();
    if (!run) return tl::unexpected(std::move(run.error()));
    runs->push_back(*run);
    return {};
  }

  // Leaves nothing in memory, and no more runs than can be merged at once.
  Status prepare_merge() {
    if (!records_.empty()) {
      if (auto spilled = spill(); !spilled) return spilled;
    }
    records_ = std::vector<Record>();  // gives its memory back, as {} does not
    while (runs_.size() > runs_at_once()) {
      if (auto merged = merge_pass(); !merged) return merged;
    }
    return {};
  }

  // Neighbouring runs become one, in a new file.
  Status merge_pass() {
    const std::optional<ScratchFile> before = std::exchange(file_, std::nullopt);
    const std::vector<SortedRun> all = std::exchange(runs_, {});
    if (auto made = make_file(); !made) return made;
    for (std::size_t first = 0; first < all.size(); first += runs_at_once()) {
      const auto some = std::span(all).subspan(first, std::min(runs_at_once(), all.size() - first));
      const std::size_t buffer = buffer_records(some.size() + 1);
      RunWriter writer(&*file_, buffer);
      RunMerge<Record, Before> merge(*before, some, buffer);
      auto merged = merge.for_each([&writer](const Record& record) { return writer.add(record); });
      if (merged) merged = finish(&writer, &runs_);
      if (!merged) return merged;
    }
    return {};
  }

  std::string folder_;
  std::size_t budget_bytes_;
  std::uint64_t size_ = 0;
  std::vector<Record> records_;  // in memory, as they came
  std::vector<SortItem> order_;  // of these, once they are all
  std::optional<ScratchFile> file_;
  std::vector<SortedRun> runs_;
};

}  // namespace jaxprof::scratch
