#include "merge/clock/causality_audit.h"

#include <algorithm>

namespace jaxprof::clock {
namespace {

double error_ns(const AuditMember& member) {
  return member.clock_error_ns + member.gpu_error_ns;
}

// Whether `x` proves a later start than `y`: errors count against it.
bool starts_later(const AuditMember& x, const AuditMember& y) {
  return static_cast<double>(x.start_ns - y.start_ns) > error_ns(x) - error_ns(y);
}

}  // namespace

void CausalityAudit::compare(const AuditMember& early, const AuditMember& late) {
  if (early.node == late.node) return;
  const double by_ns = static_cast<double>(late.start_ns - early.end_ns) - error_ns(early) - error_ns(late);
  if (!(by_ns > 0)) return;
  ++violations_;
  if (by_ns > worst_.by_ns) worst_ = {by_ns, early.node, late.node};
}

void CausalityAudit::check(std::span<const AuditMember> members, Dependence dependence) {
  const auto is_elsewhere = [&](const AuditMember& member) { return member.node != members.front().node; };
  if (members.empty() || std::none_of(members.begin(), members.end(), is_elsewhere)) return;
  ++instances_;
  if (dependence == Dependence::kOnRoot) {
    const auto root = std::find_if(members.begin(), members.end(), [](const auto& member) { return member.is_root; });
    if (root == members.end()) return;
    for (const AuditMember& member : members) compare(member, *root);
    return;
  }
  // The latest start, and the latest on any other node for the members that share the first one's.
  const AuditMember* latest = nullptr;
  for (const AuditMember& member : members) {
    if (latest == nullptr || starts_later(member, *latest)) latest = &member;
  }
  const AuditMember* second = nullptr;
  for (const AuditMember& member : members) {
    if (member.node == latest->node) continue;
    if (second == nullptr || starts_later(member, *second)) second = &member;
  }
  for (const AuditMember& member : members) {
    if (dependence == Dependence::kOfRoot && !member.is_root) continue;
    compare(member, member.node == latest->node ? *second : *latest);
  }
}

}  // namespace jaxprof::clock
