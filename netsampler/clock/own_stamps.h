// Which stamps the kernel gives: found out by a packet that a socket sends to itself, for no system call tells. Where
// the packet does not arrive (a node whose loop-back interface is down) the first packets of others will tell.
#pragma once

#include "netsampler/clock/stamped_socket.h"

namespace jaxprof::netsampler {

// Takes 50 ms at most. Packets of others that arrive meanwhile are lost.
void find_own_stamps(StampedSocket* socket);

}  // namespace jaxprof::netsampler
