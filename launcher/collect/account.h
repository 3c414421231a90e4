// What `jaxprof collect` says: a line a task, and one for all of them.
#pragma once

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

}  // namespace jaxprof::launcher
