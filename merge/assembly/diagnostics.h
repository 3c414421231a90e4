// What the merge found wrong, as rows of /diagnostics. The codes are stable words for programs; the texts are for
// people and say what, where and what to do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// "1 block", "3 blocks"; a plural of its own is given as "range has|ranges have".
std::string counted(std::uint64_t count, std::string_view noun);

// "rank 3 on n1", "a task on n1": how every finding about a rank begins.
std::string who(std::int64_t rank, std::string_view host);

// Where a finding belongs; what is unknown stays missing.
struct Place {
  std::int32_t rank = runfile::kNoNumber;
  std::uint32_t process = runfile::kNoIndex;
  std::uint32_t node = runfile::kNoIndex;
};

struct Finding {
  runfile::Severity severity = runfile::Severity::kMissing;
  std::string code;
  Place place;
  std::uint64_t count = 0;
  std::string text;
};

// Findings in the order in which they were made. One thread at a time.
class Diagnostics {
 public:
  void add(runfile::Severity severity, std::string_view code, const Place& place, std::uint64_t count,
           std::string text);
  // Those of a part of the work, behind the own ones.
  void take(Diagnostics&& part);
  const std::vector<Finding>& findings() const { return findings_; }
  // An error means that the run file does not hold all that it should.
  bool is_partial() const { return is_partial_; }

 private:
  std::vector<Finding> findings_;
  bool is_partial_ = false;
};

// Fills /diagnostics.
void write_findings(const Diagnostics& diagnostics, runfile::RunTables* run);

}  // namespace jaxprof::assembly
