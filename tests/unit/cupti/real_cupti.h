// NVIDIA's own libcupti, as far as it works without a GPU: walking buffers of records. Releases from 13.3 on do not
// even do that without a driver, so the first that does is taken, of a toolkit or of what tests/setup.sh unpacked.
#pragma once

#include <string>

#include "agent/cupti/library.h"
#include "agent/cupti/subscriber.h"

namespace jaxprof::test {

// libcupti.so.12 or .13, by `major`; null if there is none, and `why` then says what was tried. Loaded once a process.
const cupti::Library* real_cupti(int major, std::string* why);

// A subscriber that has not subscribed, and can walk all the same.
void make_walker(const cupti::Library& library, cupti::Subscriber* walker);

}  // namespace jaxprof::test
