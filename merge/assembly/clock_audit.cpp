#include "merge/assembly/clock_audit.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

// Who waits for whom; nothing of what may end before others begin, or whose root is not recorded.
std::optional<clock::Dependence> dependence_of(runfile::Coll coll) {
  switch (coll) {
    case runfile::Coll::kAllReduce:
    case runfile::Coll::kAllGather:
    case runfile::Coll::kReduceScatter:
    case runfile::Coll::kAllToAll:
    case runfile::Coll::kBarrier:
      return clock::Dependence::kAll;
    case runfile::Coll::kBroadcast:
    case runfile::Coll::kScatter:
      return clock::Dependence::kOnRoot;
    case runfile::Coll::kReduce:
    case runfile::Coll::kGather:
      return clock::Dependence::kOfRoot;
    default:
      return std::nullopt;
  }
}

}  // namespace

void ClockAudit::check(const match::InstanceBatch& batch) {
  const std::span<const match::CallRecord> calls(batch.calls);
  for (std::size_t row = 0; row < runfile::n_rows(batch.collectives); ++row, ++next_row_) {
    const std::uint64_t first = batch.first_member[row];
    check(batch.collectives, row, calls.subspan(first, batch.first_member[row + 1] - first));
  }
}

// A grouped call may share its kernel with another one that it does not wait for, and a seen part of the members says
// as much about those as the whole would.
void ClockAudit::check(const runfile::CollectiveTable& table, std::size_t row,
                       std::span<const match::CallRecord> calls) {
  const auto dependence = dependence_of(table.coll[row]);
  const bool is_usable = dependence && table.last_end_ns[row] != runfile::kNoTime && table.size_bytes[row] != 0 &&
                         (table.flags[row] & (runfile::kInstanceGrouped | runfile::kInstanceMismatch)) == 0 &&
                         !std::isnan(table.clock_bound_ns[row]);
  if (!is_usable) return;
  std::vector<clock::AuditMember> members;
  for (const match::CallRecord& call : calls) members.push_back(member_of(call));
  const double before_ns = audit_.worst().by_ns;
  audit_.check(members, *dependence);
  if (audit_.worst().by_ns > before_ns) worst_row_ = next_row_;
}

clock::AuditMember ClockAudit::member_of(const match::CallRecord& call) const {
  clock::AuditMember member;
  member.node = run_.processes.node[call.process];
  member.start_ns = call.gpu_start_ns;
  member.end_ns = call.gpu_start_ns + call.gpu_dur_ns;
  const match::NodeError error = errors_.at(member.node, member.start_ns);
  member.clock_error_ns = std::max(-error.hard_lo_ns, error.hard_hi_ns);
  const double residual_ns = run_.processes.gpu_clock_residual_ns[call.process];
  member.gpu_error_ns = std::isnan(residual_ns) ? 0 : residual_ns;
  member.is_root = call.root != runfile::kNoNumber && call.root == call.comm_rank;
  return member;
}

void ClockAudit::fill(runfile::ClockAuditTable* table) const {
  if (table->reference.empty()) return;
  table->n_instances[0] = audit_.instances();
  table->n_violations[0] = audit_.violations();
  if (audit_.violations() == 0) return;
  table->max_violation_ns[0] = std::llround(audit_.worst().by_ns);
  table->worst_instance[0] = worst_row_;
  table->worst_early[0] = audit_.worst().early_node;
  table->worst_late[0] = audit_.worst().late_node;
}

}  // namespace jaxprof::assembly
