// Who a row is about: a rank, a GPU, a node, a communicator or one member of one, as --by says; and which members of
// collectives belong to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "merge/study/arrivals.h"
#include "merge/study/grouping.h"
#include "merge/study/table.h"

namespace jaxprof::study {

// What of it there is; the rest stays missing.
struct Subject {
  std::int32_t rank = -1;
  std::uint32_t node = runfile::kNoIndex;  // row of /job/nodes
  std::int32_t device = -1;                // row of /job/devices
  std::uint32_t comm = runfile::kNoIndex;  // row of /comms
  std::int32_t comm_rank = -1;
  std::vector<std::int32_t> ranks;  // of a node
};

class Subjects {
 public:
  // `by`: kMember, kRank, kGpu, kNode, kComm; any other is taken for kRank. Of a process without a known GPU, kGpu is
  // the process; processes of unknown rank are one each.
  Subjects(const runfile::RunTables& run, const Arrivals& arrivals, By by);

  std::size_t size() const { return subjects_.size(); }
  const Subject& at(std::size_t subject) const { return subjects_[subject]; }
  // Of a position in ArrivalMembers.
  std::uint32_t of(std::size_t member) const { return of_member_[member]; }
  // Positions of members by subject: those of s are [offset(s), offset(s + 1)) of by_subject().
  std::vector<std::size_t> offsets() const;

  // What tells one from the other, in the first columns of a table.
  std::vector<Column> columns() const;
  Row cells(std::size_t subject) const;
  // "rank 136 (node n17, GPU 0, local rank 0)"
  std::string name(std::size_t subject) const;

 private:
  void add_keys(const runfile::RunTables& run, const Arrivals& arrivals);
  Subject subject_of(const Arrivals& arrivals, std::size_t member) const;
  void list_ranks();

  const runfile::RunTables& run_;
  By by_;
  std::vector<std::uint32_t> of_member_;
  std::vector<Subject> subjects_;
};

// "n17"; "node 3" where its name is not known; "?" where the node is not.
std::string node_name(const runfile::RunTables& run, std::uint32_t node);

}  // namespace jaxprof::study
