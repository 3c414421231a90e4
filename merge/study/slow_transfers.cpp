#include "merge/study/slow_transfers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

using Kind = std::tuple<Coll, Dtype, std::uint64_t, std::uint32_t, std::uint32_t>;

struct Usual {
  std::vector<std::int64_t> all_ns;
  std::int64_t median_ns = 0;
  double limit_ns = 0;
};

}  // namespace

SlowTransfers slow_transfers(const RunTables& run, const Arrivals& arrivals, const Judged& judged,
                             std::size_t n_steps) {
  SlowTransfers found;
  found.is_slow.assign(arrivals.size(), 0);
  found.over_usual_ns.assign(arrivals.size(), 0);
  n_steps = std::max<std::size_t>(1, n_steps);
  found.excess_ns.assign(n_steps, 0);
  found.network_ns.assign(n_steps, 0);
  found.n_slow.assign(n_steps, 0);
  if (!arrivals.is_gpu) return found;
  const CollectiveTable& t = run.collectives;
  const auto n_nodes_of = [&run](std::uint32_t comm) { return comm == kNoIndex ? kNoIndex : run.comms.n_nodes[comm]; };
  const auto transfer_ns = [&arrivals](std::size_t i) {
    return std::max<std::int64_t>(0, span_ns(arrivals.instances.last_ns[i], arrivals.instances.end_ns[i]));
  };
  std::map<Kind, Usual> kinds;
  std::vector<Usual*> of_instance(arrivals.size(), nullptr);
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (!arrivals.has(i, kArrivalAsRecorded | kArrivalSynchronizing)) continue;
    const std::uint64_t row = arrivals.instances.collective[i];
    Usual& usual = kinds[{t.coll[row], t.dtype[row], t.size_bytes[row], t.n_ranks[row], n_nodes_of(t.comm[row])}];
    usual.all_ns.push_back(transfer_ns(i));
    of_instance[i] = &usual;
  }
  for (auto& [kind, usual] : kinds) {
    usual.median_ns = median_ns(usual.all_ns);
    for (std::int64_t& ns : usual.all_ns) ns = distance_ns(usual.median_ns, ns);
    const auto middle = static_cast<double>(usual.median_ns);
    usual.limit_ns = std::max(kSlowMedians * middle, middle + kSlowMads * static_cast<double>(median_ns(usual.all_ns)));
  }
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (of_instance[i] == nullptr) continue;
    const Usual& usual = *of_instance[i];
    if (usual.all_ns.size() >= kLeastOfKind) {
      found.over_usual_ns[i] = std::max<std::int64_t>(0, span_ns(usual.median_ns, transfer_ns(i)));
    }
    if (judged.is_counted[i] == 0) continue;
    const std::size_t step = static_cast<std::size_t>(std::max(0, arrivals.instances.step[i]));
    const auto n_members = static_cast<std::int64_t>(arrivals.end(i) - arrivals.begin(i));
    const std::int64_t ns = transfer_ns(i);
    const auto times_members = [n_members](std::int64_t length_ns) {
      std::int64_t product_ns = 0;
      return __builtin_mul_overflow(length_ns, n_members, &product_ns) ? std::numeric_limits<std::int64_t>::max()
                                                                       : product_ns;
    };
    if (n_nodes_of(arrivals.instances.comm[i]) != 1) {
      found.network_ns[step] = instant_after(found.network_ns[step], times_members(ns));
    }
    const std::int64_t excess_ns = span_ns(usual.median_ns, ns);
    const std::int64_t apart_ns = span_ns(arrivals.instances.first_ns[i], arrivals.instances.last_ns[i]);
    const bool is_slow =
        usual.all_ns.size() >= kLeastOfKind && static_cast<double>(ns) > usual.limit_ns && apart_ns < excess_ns;
    if (!is_slow) continue;
    found.is_slow[i] = 1;
    ++found.n_slow[step];
    found.excess_ns[step] = instant_after(found.excess_ns[step], times_members(excess_ns));
  }
  return found;
}

}  // namespace jaxprof::study
