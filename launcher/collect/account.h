// What `jaxprof collect` says: a line a task, and one for all of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "launcher/collect/collect_task.h"

namespace jaxprof::launcher {

struct Account {
  LeftTask task;
  Collected collected;
};

// "collected  rank 3 on n1: 2 spools, 1.2 MB, 1 saved from memory"; "" for a task that another has collected since.
std::string describe(const Account& account, bool is_dry_run);

// "3 tasks on n1: 5 spools, 3.4 MB collected; 1 still running", or "nothing to collect on n1".
std::string describe_sum(const std::vector<Account>& accounts, const std::string& host, bool is_dry_run);

// "3 tasks on other nodes have no end: n1 (rank 0, 1), n2 (rank 2); if they were killed, collect there too"; "" if
// there are none. At most 32 nodes are named.
std::string describe_elsewhere(const std::map<std::string, std::vector<std::int64_t>>& ranks_by_node);

}  // namespace jaxprof::launcher
