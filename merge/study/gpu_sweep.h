// Goes over the GPUs of all ranks that are asked for, each as its process used it, and tells what it did when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "merge/study/busy_sweep.h"
#include "merge/study/gpu_work.h"

namespace jaxprof::study {

// Work that the sweep left out, or could not look into.
struct SweepCounts {
  std::int64_t n_without_time = 0;
  std::int64_t n_outside = 0;
  std::int64_t n_graphs = 0;  // CUDA graphs that were recorded as a whole
};

// What one GPU does in order of time, told to a Lane that has
//   void busy(TimeSpan span, unsigned classes);   // kBusy… bits, at least one
//   void idle(TimeSpan span, const GpuWork* before, const GpuWork* after);   // which ended last, which begins next
// and covers the whole time axis; null: there is none.
template <typename Lane>
class LaneSweep {
 public:
  LaneSweep(std::int32_t device, Lane lane) : device_(device), lane_(std::move(lane)) {}

  std::int32_t device() const { return device_; }
  Lane& lane() { return lane_; }
  void add(const GpuWork& work) {
    busy_.add(work, [&](TimeSpan span, unsigned classes) { tell(span, classes, &work); });
    if (has_before_ && work.end_ns <= before_.end_ns) return;
    before_ = work;
    has_before_ = true;
  }
  void finish() {
    busy_.finish([&](TimeSpan span, unsigned classes) { tell(span, classes, nullptr); });
  }

 private:
  void tell(TimeSpan span, unsigned classes, const GpuWork* after) {
    if (classes != 0) {
      lane_.busy(span, classes);
    } else {
      lane_.idle(span, has_before_ ? &before_ : nullptr, after);
    }
  }

  std::int32_t device_;
  Lane lane_;
  BusySweep busy_;
  GpuWork before_;  // that ended last
  bool has_before_ = false;
};

// GPUs that the process alone used, as far as is known; none where its GPUs were not recorded.
std::vector<std::int32_t> own_devices(const runfile::RunTables& run, std::size_t process);

// One process after the other: make(process, device) is the Lane of each of its GPUs, those without work too, and
// done(process, device, lane) gets it back. kInputUnreadable.
template <typename Make, typename Done>
Result<SweepCounts> sweep_gpus(const StudyRun& run, const StudyOptions& options, bool has_api, Make&& make,
                               Done&& done) {
  using Sweep = LaneSweep<decltype(make(std::size_t{}, std::int32_t{}))>;
  auto stream = GpuWorkStream::open(run, has_api);
  if (!stream) return tl::unexpected(stream.error());
  for (std::size_t process = 0; process < run.tables.processes.process.size(); ++process) {
    if (!is_rank_wanted(run.tables.processes.rank[process], options)) continue;
    std::vector<std::unique_ptr<Sweep>> sweeps;
    Sweep* last = nullptr;
    const auto sweep_of = [&](std::int32_t device) -> Sweep& {
      if (last != nullptr && last->device() == device) return *last;
      const auto is_same = [device](const auto& sweep) { return sweep->device() == device; };
      auto found = std::find_if(sweeps.begin(), sweeps.end(), is_same);
      if (found == sweeps.end()) {
        found = sweeps.insert(found, std::make_unique<Sweep>(device, make(process, device)));
      }
      return *(last = found->get());
    };
    for (const std::int32_t device : own_devices(run.tables, process)) sweep_of(device);
    const auto read = stream->of_process(process, [&](const GpuWork& work) { sweep_of(work.device).add(work); });
    if (!read) return tl::unexpected(read.error());
    for (const auto& sweep : sweeps) {
      sweep->finish();
      done(process, sweep->device(), std::move(sweep->lane()));
    }
  }
  return SweepCounts{stream->n_without_time(), stream->n_outside(), stream->n_graphs()};
}

// Notes on what the counts mean, for below the table.
std::vector<std::string> notes_of(const SweepCounts& counts);

}  // namespace jaxprof::study
