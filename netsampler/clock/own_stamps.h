// Which stamps the kernel gives: found out by packets that a socket sends to itself, for no system call tells. The
// first may come without a stamp where there are some, for the kernel begins to stamp what comes in a moment after it
// was asked to, when it was not doing so for anybody else. Where no packet arrives (a node whose loop-back interface is
// down) the first ones of others will tell.
#pragma once

#include "netsampler/clock/stamped_socket.h"

namespace jaxprof::netsampler {

// Returns with both stamps, or after 55 ms. True if a packet came back. Packets of others that arrive meanwhile are
// lost.
bool find_own_stamps(StampedSocket* socket);

}  // namespace jaxprof::netsampler
