// Backwards, piece by piece, each ending where the one behind it begins.
#include "merge/study/critical_path.h"

#include <algorithm>
#include <limits>
#include <map>

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

struct Last {
  std::uint32_t member = kNoMember;
  bool is_tied = false;
};

class Walk {
 public:
  Walk(const RunTables& run, const Arrivals& arrivals, const std::vector<std::int64_t>& resolution_ns)
      : run_(run), arrivals_(arrivals), resolution_ns_(resolution_ns) {}

  // The pieces of [begin, the instance's last end), the last one first.
  std::vector<PathPiece> back_from(std::size_t instance, std::uint32_t step, std::int64_t begin_ns) {
    pieces_.clear();
    step_ = step;
    begin_ns_ = begin_ns;
    t_ns_ = arrivals_.instances.end_ns[instance];
    std::uint32_t member = last_to_end(instance);
    // A damaged file might lead around in a circle of instants.
    for (std::size_t n = 0; t_ns_ > begin_ns_ && n <= arrivals_.members.call.size(); ++n) {
      member = add_instance(instance, member);
      if (t_ns_ <= begin_ns_) break;
      const std::uint32_t previous = arrivals_.members.previous[member];
      const std::int64_t since_ns = previous == kNoMember ? begin_ns_ : arrivals_.members.end_ns[previous];
      add(member, false, false, since_ns);
      if (previous == kNoMember) break;
      member = previous;
      instance = instance_of(previous);
    }
    add(member, false, false, begin_ns_);
    return std::move(pieces_);
  }

 private:
  void add(std::uint32_t member, bool is_transfer, bool is_tied, std::int64_t since_ns) {
    since_ns = std::clamp(since_ns, begin_ns_, t_ns_);
    if (since_ns == t_ns_) return;
    pieces_.push_back({step_, member, is_transfer, is_tied, {since_ns, t_ns_}});
    t_ns_ = since_ns;
  }

  // Who held the member up in that instance, itself if nobody did; its transfer is added.
  std::uint32_t add_instance(std::size_t instance, std::uint32_t member) {
    const bool is_held_up =
        arrivals_.has(instance, kArrivalSynchronizing) && arrivals_.instances.last_ns[instance] <= t_ns_;
    if (!is_held_up) {
      add(member, true, false, arrivals_.members.start_ns[member]);
      return member;
    }
    const Last last = last_to_arrive(instance);
    add(last.member, true, last.is_tied, arrivals_.members.start_ns[last.member]);
    return last.member;
  }

  Last last_to_arrive(std::size_t instance) const {
    Last last;
    std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
    for (std::size_t m = arrivals_.begin(instance); m < arrivals_.end(instance); ++m) {
      if (last.member != kNoMember && arrivals_.members.start_ns[m] < last_ns) continue;
      last_ns = arrivals_.members.start_ns[m];
      last.member = static_cast<std::uint32_t>(m);
    }
    const std::int64_t resolution = resolution_ns_[instance];
    for (std::size_t m = arrivals_.begin(instance); m < arrivals_.end(instance); ++m) {
      if (m == last.member) continue;
      const std::int64_t off_ns = span_ns(arrivals_.members.start_ns[m], last_ns);
      const bool is_on_its_node = node_of(m) == node_of(last.member);
      last.is_tied |= is_on_its_node ? off_ns == 0 : resolution < 0 || off_ns <= resolution;
    }
    return last;
  }

  std::uint32_t last_to_end(std::size_t instance) const {
    const auto first = arrivals_.members.end_ns.begin() + static_cast<std::ptrdiff_t>(arrivals_.begin(instance));
    const auto behind = arrivals_.members.end_ns.begin() + static_cast<std::ptrdiff_t>(arrivals_.end(instance));
    return static_cast<std::uint32_t>(std::max_element(first, behind) - arrivals_.members.end_ns.begin());
  }

  std::uint32_t node_of(std::size_t member) const { return run_.processes.node[arrivals_.members.process[member]]; }

  std::size_t instance_of(std::uint32_t member) const {
    const auto& offset = arrivals_.instances.member_offset;
    return static_cast<std::size_t>(std::upper_bound(offset.begin(), offset.end(), member) - offset.begin()) - 1;
  }

  const RunTables& run_;
  const Arrivals& arrivals_;
  const std::vector<std::int64_t>& resolution_ns_;
  std::uint32_t step_ = 0;
  std::int64_t begin_ns_ = 0;
  std::int64_t t_ns_ = 0;
  std::vector<PathPiece> pieces_;
};

struct StepEnd {
  std::size_t instance = kNone;  // that ends last
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();  // first arrival
};

std::map<std::uint32_t, StepEnd> ends_of_steps(const Scope& scope, const Arrivals& arrivals, const Judged& judged) {
  std::map<std::uint32_t, StepEnd> ends;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (judged.is_counted[i] == 0 || (scope.has_steps() && arrivals.instances.step[i] < 0)) continue;
    StepEnd& end = ends[scope.has_steps() ? static_cast<std::uint32_t>(arrivals.instances.step[i]) : 0];
    end.first_ns = std::min(end.first_ns, arrivals.instances.first_ns[i]);
    if (end.instance != kNone && arrivals.instances.end_ns[i] <= end.end_ns) continue;
    end.instance = i;
    end.end_ns = arrivals.instances.end_ns[i];
  }
  return ends;
}

}  // namespace

CriticalPath critical_path(const RunTables& run, const Scope& scope, const Arrivals& arrivals, const Judged& judged,
                           const std::vector<std::int64_t>& resolution_ns) {
  CriticalPath path;
  Walk walk(run, arrivals, resolution_ns);
  const auto ends = ends_of_steps(scope, arrivals, judged);
  for (auto at = ends.begin(); at != ends.end(); ++at) {
    const auto& [step, end] = *at;
    std::int64_t begin_ns = scope.has_steps() ? scope.axis().steps()[step].span.begin_ns : end.first_ns;
    if (at != ends.begin() && std::prev(at)->first + 1 == step) begin_ns = std::prev(at)->second.end_ns;
    if (begin_ns >= end.end_ns) continue;
    std::vector<PathPiece> pieces = walk.back_from(end.instance, step, begin_ns);
    path.steps.push_back({step, {begin_ns, end.end_ns}});
    path.pieces.insert(path.pieces.end(), pieces.rbegin(), pieces.rend());
  }
  return path;
}

}  // namespace jaxprof::study
