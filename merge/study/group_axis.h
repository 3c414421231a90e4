// The groups that a table's rows stand for, of work on GPUs and of calls: all of the run, a rank, a GPU or a node.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "merge/runfile/run_tables.h"
#include "merge/study/grouping.h"
#include "merge/study/table.h"

namespace jaxprof::study {

// One thread at a time.
class GroupAxis {
 public:
  // `by` is kRun, kRank, kGpu or kNode. `run` has /job/processes, /job/devices and /job/nodes, and outlives this.
  GroupAxis(const runfile::RunTables& run, By by) : run_(run), by_(by) {}

  // The group of that process's work on that GPU (-1: unknown, or no work on a GPU); new groups get the next number.
  std::uint32_t group_of(std::size_t process, std::int32_t device);
  std::size_t size() const { return groups_.size(); }
  By by() const { return by_; }

  std::vector<Column> columns() const;   // none for kRun
  Row cells(std::uint32_t group) const;  // one a column
  std::uint32_t node_of(std::uint32_t group) const { return run_.processes.node[groups_[group].process]; }  // the first
  std::string name(std::uint32_t group) const;  // "rank 3", "GPU 1 of rank 3 (n17)", "node n17"
  std::vector<std::uint32_t> in_order() const;  // by rank, device or node
  // The last process that may add to the group of `process`: a group is whole after it.
  std::size_t last_process(std::size_t process) const;

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;
  struct Group {
    std::size_t process = 0;
    std::int32_t device = -1;
  };
  Key key_of(std::size_t process, std::int32_t device) const;

  const runfile::RunTables& run_;
  By by_;
  std::map<Key, std::uint32_t> numbers_;
  std::vector<Group> groups_;  // of each the first
  Group last_;                 // that was asked for
  std::uint32_t last_group_ = 0;
};

bool group_axis_wants(std::string_view path);

// As a cell; what is missing is missing.
Cell rank_cell(std::int32_t rank);
Cell host_cell(const runfile::RunTables& run, std::uint32_t node);

}  // namespace jaxprof::study
