// Gives the calling thread a descriptor table of its own, and empties it: what the program closes is not ours then, and
// we hold nothing of the program's open (close_range(2), Linux 5.9). Before 5.9 the copies are closed one by one. Where
// neither is allowed the table stays shared, and the spool writer's check of its file is what is left.
#pragma once

namespace jaxprof::collect {

void take_own_descriptors() noexcept;

}  // namespace jaxprof::collect
