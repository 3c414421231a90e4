// Other runs on the node. A card's counters count everybody's traffic, so that a run that is not alone there sees more
// than its own, and has to say so. Every run's folder lies beside the own one; that of another user cannot be looked
// into, but the observer itself shows in /proc. Folders of runs that have ended are there too: where a batch system
// kills observers with the last task, and no task had a wrapper, nobody was left to take the folder away.
#pragma once

#include <string>

namespace jaxprof::netsampler {

// True if another run is observed on the node now. `node_folder` is that of the own run. Reads the folder around it;
// all of /proc only if another user's folder lies there.
bool has_neighbour(const std::string& node_folder);

// Removes what this user's ended runs have left beside `node_folder`: folders without a living task or observer.
void remove_deserted_neighbours(const std::string& node_folder);

}  // namespace jaxprof::netsampler
