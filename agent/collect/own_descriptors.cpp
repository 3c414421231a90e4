#include "agent/collect/own_descriptors.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace jaxprof::collect {

void take_own_descriptors() noexcept {
  constexpr unsigned kUnshare = 1U << 1;  // CLOSE_RANGE_UNSHARE
#if defined(SYS_close_range)
  constexpr long kCloseRange = SYS_close_range;
#else
  constexpr long kCloseRange = 436;
#endif
  if (syscall(kCloseRange, 0U, ~0U, kUnshare) == 0) return;
  if (syscall(SYS_unshare, CLONE_FILES) != 0) return;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t end = limit.rlim_cur < 65536 ? limit.rlim_cur : 65536;
  for (rlim_t fd = 0; fd < end; ++fd) close(static_cast<int>(fd));
}

}  // namespace jaxprof::collect
