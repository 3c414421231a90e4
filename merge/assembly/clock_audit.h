// Holds instances that have GPU times on several nodes against the clocks: where one member waits for another, its end
// cannot lie before the other's start. Instances check the clocks here and never move one.
#pragma once

#include <cstdint>
#include <span>

#include "merge/clock/causality_audit.h"
#include "merge/match/clock_errors.h"
#include "merge/match/instance_matcher.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

class ClockAudit {
 public:
  // Both are borrowed; `run` has its processes.
  ClockAudit(const runfile::RunTables& run, const match::ClockErrors& errors) : run_(run), errors_(errors) {}

  // The next rows of /collectives.
  void check(const match::InstanceBatch& batch);
  // After the last one. A table without its row is left so: the clocks were not compared.
  void fill(runfile::ClockAuditTable* table) const;

 private:
  void check(const runfile::CollectiveTable& table, std::size_t row, std::span<const match::CallRecord> calls);
  clock::AuditMember member_of(const match::CallRecord& call) const;

  const runfile::RunTables& run_;
  const match::ClockErrors& errors_;
  clock::CausalityAudit audit_;
  std::uint64_t next_row_ = 0;
  std::uint64_t worst_row_ = 0;
};

}  // namespace jaxprof::assembly
