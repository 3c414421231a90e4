// Members are put into lanes, one a GPU or process; in each, arrivals are walked beside ends, both in order of time.
#include "merge/study/previous_ops.h"

#include <algorithm>

#include "merge/study/in_parallel.h"

namespace jaxprof::study {
namespace {

// Positions of members by lane.
struct Lanes {
  std::vector<std::size_t> offset;      // [lanes + 1]
  std::vector<std::uint32_t> position;  // [members]
  std::span<std::uint32_t> of(std::size_t lane) {
    return std::span(position).subspan(offset[lane], offset[lane + 1] - offset[lane]);
  }
};

Lanes lanes_of(std::size_t n_processes, std::size_t n_devices, const ArrivalMembers& members) {
  const auto lane_of = [&members, n_devices](std::size_t i) {
    return members.device[i] >= 0 ? static_cast<std::size_t>(members.device[i]) : n_devices + members.process[i];
  };
  Lanes lanes;
  lanes.offset.assign(n_devices + n_processes + 2, 0);
  for (std::size_t i = 0; i < members.call.size(); ++i) ++lanes.offset[lane_of(i) + 2];
  for (std::size_t lane = 2; lane < lanes.offset.size(); ++lane) lanes.offset[lane] += lanes.offset[lane - 1];
  lanes.position.resize(members.call.size());
  for (std::size_t i = 0; i < members.call.size(); ++i) {
    lanes.position[lanes.offset[lane_of(i) + 1]++] = static_cast<std::uint32_t>(i);
  }
  lanes.offset.pop_back();
  return lanes;
}

void sort_by(const std::vector<std::int64_t>& time_ns, std::span<std::uint32_t> positions) {
  const auto is_before = [&time_ns](std::uint32_t a, std::uint32_t b) {
    return std::pair(time_ns[a], a) < std::pair(time_ns[b], b);
  };
  if (!std::is_sorted(positions.begin(), positions.end(), is_before)) {
    std::sort(positions.begin(), positions.end(), is_before);
  }
}

// `by_end` is scratch.
void walk(std::span<std::uint32_t> by_start, const std::vector<std::uint8_t>& is_sync,
          std::vector<std::uint32_t>& by_end, ArrivalMembers& members) {
  sort_by(members.start_ns, by_start);
  by_end.assign(by_start.begin(), by_start.end());
  std::erase_if(by_end, [&is_sync](std::uint32_t i) { return is_sync[i] == 0; });
  sort_by(members.end_ns, by_end);
  std::size_t n_ended = 0;
  for (const std::uint32_t i : by_start) {
    // One of no length ends where it begins; it is nobody's predecessor at that instant, least of all its own.
    while (n_ended < by_end.size() && members.end_ns[by_end[n_ended]] <= members.start_ns[i] &&
           members.start_ns[by_end[n_ended]] < members.start_ns[i]) {
      ++n_ended;
    }
    if (n_ended > 0) members.previous[i] = by_end[n_ended - 1];
  }
}

}  // namespace

void find_previous_ops(std::size_t n_processes, std::size_t n_devices, Arrivals& arrivals) {
  ArrivalMembers& members = arrivals.members;
  members.previous.assign(members.call.size(), kNoMember);
  std::vector<std::uint8_t> is_sync(members.call.size(), 0);
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (!arrivals.has(i, kArrivalSynchronizing)) continue;
    std::fill(is_sync.begin() + static_cast<std::ptrdiff_t>(arrivals.begin(i)),
              is_sync.begin() + static_cast<std::ptrdiff_t>(arrivals.end(i)), std::uint8_t{1});
  }
  Lanes lanes = lanes_of(n_processes, n_devices, members);
  in_parallel(lanes.offset.size() - 1, 1, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint32_t> by_end;
    for (std::size_t lane = begin; lane < end; ++lane) walk(lanes.of(lane), is_sync, by_end, members);
  });
}

}  // namespace jaxprof::study
