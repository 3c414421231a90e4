// The observer of a node ends a moment after the node's last task, with the readings of its last second, and the merge
// may well be the next command of the batch script. So it gives observers that are still writing that moment.
#pragma once

#include <string>
#include <vector>

namespace jaxprof::merge {

// Waits until each of the spools has its footer, but for no more than 2 s, and only for those that were written to in
// the last few seconds: an observer that was killed writes no footer.
void wait_for_observers(const std::vector<std::string>& node_spools);

}  // namespace jaxprof::merge
