// Two mpiexec in one batch script start ranks whose environments hold nothing that tells the two runs apart: hydra
// (MPICH, MVAPICH) gives its ranks numbers, and no name. But each of its proxies, the parents of the ranks, is started
// with `--control-port HOST:PORT`, where the mpiexec listens, alike on all nodes. So the wrapper looks among its
// ancestors for a proxy. Not found: where the proxy is in another pid namespace, or is Intel MPI's, whose proxies form
// a tree and name their neighbours in it.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace jaxprof::launcher {

// "PORT@HOST" of the mpiexec that the nearest proxy among the ancestors of this process serves; "" if there is none.
std::string find_mpiexec();

// "PORT@HOST" from a command line as in /proc/PID/cmdline, words ended by zeros; "" if it is no proxy's.
std::string mpiexec_of_proxy(std::string_view command_line);

}  // namespace jaxprof::launcher
