#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "merge/assembly/clock_findings.h"
#include "merge/clock/causality_audit.h"
#include "merge/match/clock_errors.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

using runfile::RunTables;

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

class Audit {
 public:
  explicit Audit(RunTables* run) : run_(run), errors_(*run) {}

  void check_all() {
    for (std::size_t row = 0; row < runfile::n_rows(run_->collectives); ++row) check(row);
    runfile::ClockAuditTable& table = run_->clock_audit;
    if (table.reference.empty()) return;
    table.n_instances[0] = audit_.instances();
    table.n_violations[0] = audit_.violations();
    if (audit_.violations() == 0) return;
    table.max_violation_ns[0] = std::llround(audit_.worst().by_ns);
    table.worst_instance[0] = worst_row_;
    table.worst_early[0] = audit_.worst().early_node;
    table.worst_late[0] = audit_.worst().late_node;
  }

 private:
  // A grouped call may share its kernel with another one that it does not wait for, and a seen part of the members says
  // as much about those as the whole would.
  void check(std::size_t row) {
    const runfile::CollectiveTable& table = run_->collectives;
    const auto dependence = dependence_of(table.coll[row]);
    const bool is_usable = dependence && table.last_end_ns[row] != runfile::kNoTime && table.size_bytes[row] != 0 &&
                           (table.flags[row] & (runfile::kInstanceGrouped | runfile::kInstanceMismatch)) == 0 &&
                           !std::isnan(table.clock_bound_ns[row]);
    if (!is_usable) return;
    std::vector<clock::AuditMember> members;
    for (std::uint64_t i = run_->collective_member_offset[row]; i < run_->collective_member_offset[row + 1]; ++i) {
      members.push_back(member_of(run_->collective_members.event_row[i]));
    }
    const double before_ns = audit_.worst().by_ns;
    audit_.check(members, *dependence);
    if (audit_.worst().by_ns > before_ns) worst_row_ = row;
  }

  clock::AuditMember member_of(std::uint64_t call) const {
    const runfile::NcclTable& nccl = run_->nccl;
    const auto& offset = run_->nccl_process_offset;
    const auto process =
        static_cast<std::size_t>(std::upper_bound(offset.begin(), offset.end(), call) - offset.begin() - 1);
    clock::AuditMember member;
    member.node = run_->processes.node[process];
    member.start_ns = nccl.gpu_start_ns[call];
    member.end_ns = nccl.gpu_start_ns[call] + nccl.gpu_dur_ns[call];
    const match::NodeError error = errors_.at(member.node, member.start_ns);
    member.clock_error_ns = std::max(-error.hard_lo_ns, error.hard_hi_ns);
    const double residual_ns = run_->processes.gpu_clock_residual_ns[process];
    member.gpu_error_ns = std::isnan(residual_ns) ? 0 : residual_ns;
    member.is_root = nccl.root[call] != runfile::kNoNumber && nccl.root[call] == nccl.comm_rank[call];
    return member;
  }

  RunTables* run_;
  match::ClockErrors errors_;
  clock::CausalityAudit audit_;
  std::size_t worst_row_ = 0;
};

}  // namespace

void audit_clocks(RunTables* run) {
  Audit(run).check_all();
}

}  // namespace jaxprof::assembly
