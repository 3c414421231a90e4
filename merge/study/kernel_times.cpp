#include "merge/study/kernel_times.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "merge/study/gpu_sweep.h"
#include "merge/study/kernel_class.h"
#include "merge/study/row_cursor.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

struct Sample {
  ValueCounts ns;
  std::int64_t n_comm = 0;
};
using Samples = std::unordered_map<std::uint32_t, std::unique_ptr<Sample>>;  // by name

// A group that the process at hand adds to.
struct Share {
  std::uint32_t group = 0;
  std::vector<Sample*> samples;  // [strings], null until the name comes
  std::vector<std::uint32_t> names;
  std::vector<std::int64_t> before_ns;  // [names] what the group had of it before this process
};

// One GPU of the process at hand.
struct Lane {
  std::int32_t device = -1;
  Share* share = nullptr;
};

class Summing {
 public:
  Summing(const StudyRun& run, const RecordedTime& time, GroupAxis& groups, CommWork comm, KernelSums& sums)
      : run_(run.tables), time_(time), groups_(groups), comm_(std::move(comm)), sums_(sums) {
    sums_.ranks.resize(run_.strings.size());
  }

  void begin(std::size_t process) {
    process_ = process;
    lanes_.clear();
    shares_.clear();
    last_lane_ = nullptr;
    for (const std::int32_t device : own_devices(run_, process)) lane_of(device);
  }

  void add(const KernelTable& t, std::uint64_t first, std::uint64_t last, std::uint64_t offset, Walker& in_scope) {
    for (std::uint64_t row = first; row < last; ++row) {
      const std::size_t i = row - offset;
      if (t.start_ns[i] < 0 || t.dur_ns[i] < 0) {
        ++sums_.n_without_time;
        continue;
      }
      Lane& lane = lane_of(t.device[i]);
      if ((t.flags[i] & kWorkOutside) != 0) {
        ++sums_.n_outside;
      } else if (!in_scope.contains(t.start_ns[i])) {
        ++sums_.n_out_of_scope;
      } else {
        Sample& sample = sample_of(*lane.share, t.name[i]);
        sample.ns.add(t.dur_ns[i]);
        if (comm_.is_comm_kernel(row, t.name[i])) ++sample.n_comm;
      }
    }
    std::vector<ValueCounts*> all;
    for (auto& [group, samples] : open_) {
      for (auto& [name, sample] : samples) all.push_back(&sample->ns);
    }
    keep_small(std::move(all));
  }

  void end() {
    sums_.wall_ns.resize(groups_.size());
    sums_.gpus.resize(groups_.size());
    for (const Lane& lane : lanes_) {
      std::int64_t& wall_ns = sums_.wall_ns[lane.share->group];
      wall_ns = instant_after(wall_ns, time_.of_process(process_).length_ns());
      ++sums_.gpus[lane.share->group];
    }
    const std::int32_t rank = run_.processes.rank[process_];
    for (const auto& share : shares_) {
      for (std::size_t k = 0; k < share->names.size(); ++k) {
        const std::uint32_t name = share->names[k];
        sums_.ranks[name].push_back({rank, span_ns(share->before_ns[k], share->samples[name]->ns.total())});
      }
      if (groups_.last_process(process_) == process_) finish(share->group);
    }
  }

  void finish_all() {
    while (!open_.empty()) finish(open_.begin()->first);
  }

 private:
  Lane& lane_of(std::int32_t device) {
    if (last_lane_ != nullptr && last_lane_->device == device) return *last_lane_;
    const auto is_same = [device](const auto& lane) { return lane.device == device; };
    auto found = std::find_if(lanes_.begin(), lanes_.end(), is_same);
    if (found == lanes_.end()) {
      found = lanes_.insert(lanes_.end(), Lane{device, &share_of(groups_.group_of(process_, device))});
    }
    last_lane_ = &*found;
    return *found;
  }

  Share& share_of(std::uint32_t group) {
    for (const auto& share : shares_) {
      if (share->group == group) return *share;
    }
    shares_.push_back(std::make_unique<Share>());
    shares_.back()->group = group;
    shares_.back()->samples.resize(run_.strings.size());
    return *shares_.back();
  }

  Sample& sample_of(Share& share, StringId name) {
    const auto id = static_cast<std::uint32_t>(name);
    Sample*& known = share.samples[id];
    if (known == nullptr) {
      std::unique_ptr<Sample>& sample = open_[share.group][id];
      if (sample == nullptr) sample = std::make_unique<Sample>();
      known = sample.get();
      share.names.push_back(id);
      share.before_ns.push_back(known->ns.total());
    }
    return *known;
  }

  void finish(std::uint32_t group) {
    const auto found = open_.find(group);
    if (found == open_.end()) return;
    for (const auto& [name, sample] : found->second) {
      sums_.rows.push_back({static_cast<StringId>(name), group, static_cast<std::int64_t>(sample->ns.n()),
                            sample->n_comm, sample->ns.total(), sample->ns.is_exact(), sum_cells(sample->ns)});
    }
    open_.erase(found);
  }

  const RunTables& run_;
  const RecordedTime& time_;
  GroupAxis& groups_;
  CommWork comm_;
  KernelSums& sums_;
  std::size_t process_ = 0;
  std::vector<Lane> lanes_;
  std::vector<std::unique_ptr<Share>> shares_;
  Lane* last_lane_ = nullptr;
  std::unordered_map<std::uint32_t, Samples> open_;  // by group
};

bool is_kernel_column_wanted(std::string_view path) {
  constexpr std::string_view kTable = "/events/kernels/";
  if (!path.starts_with(kTable)) return false;
  path.remove_prefix(kTable.size());
  return path == "start_ns" || path == "dur_ns" || path == "name" || path == "device" || path == "flags";
}

}  // namespace

Result<KernelSums> sum_kernels(const StudyRun& run, const StudyOptions& options, const RecordedTime& time,
                               GroupAxis& groups) {
  KernelSums sums;
  auto comm = CommWork::load(run.reader, run.tables.strings);
  if (!comm) return tl::unexpected(comm.error());
  auto cursor = RowCursor<KernelTable>::open(run.reader, is_kernel_column_wanted);
  if (!cursor) return tl::unexpected(cursor.error());
  Summing summing(run, time, groups, std::move(*comm), sums);
  const std::vector<std::uint64_t>& offset = run.tables.kernel_process_offset;
  for (std::size_t process = 0; process + 1 < offset.size(); ++process) {
    if (!is_rank_wanted(run.tables.processes.rank[process], options)) continue;
    summing.begin(process);
    Walker in_scope(time.of_process(process));
    for (std::uint64_t row = offset[process]; row < offset[process + 1];) {
      if (auto read = cursor->seek(row); !read) return tl::unexpected(read.error());
      const std::uint64_t last = std::min(cursor->end(), offset[process + 1]);
      summing.add(cursor->table(), row, last, cursor->begin(), in_scope);
      row = last;
    }
    summing.end();
  }
  summing.finish_all();
  return sums;
}

}  // namespace jaxprof::study
