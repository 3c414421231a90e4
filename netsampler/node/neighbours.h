// Other runs on the node. A card's counters count everybody's traffic, so that a run that is not alone there sees more
// than its own, and has to say so. Every run's folder lies beside the own one; that of another user cannot be looked
// into, but the observer itself shows in /proc.
#pragma once

#include <string>

namespace jaxprof::netsampler {

// True if another run is observed on the node now. `node_folder` is that of the own run. Reads the folder around it;
// all of /proc only if another user's folder lies there.
bool has_neighbour(const std::string& node_folder);

}  // namespace jaxprof::netsampler
