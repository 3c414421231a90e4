// The probe as a child process: its own process group, nothing open but its pipe, ended with us whatever happens. The
// library that it loads is the node's own, so preloads that the job asked for are not for it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "agent/base/unique_fd.h"

namespace jaxprof::netsampler {

// One thread, which must live as long as the object: the kernel ends the child with the thread that started it.
class ProbeChild {
 public:
  ProbeChild() = default;
  ~ProbeChild() { end(); }
  ProbeChild(const ProbeChild&) = delete;
  ProbeChild& operator=(const ProbeChild&) = delete;

  // Starts `program` with `arguments`. That it cannot be executed shows later, as exit status 127.
  Status start(const std::string& program, const std::vector<std::string>& arguments);

  // The pipe's end to read from; reading never blocks. -1 without a child.
  int descriptor() const { return pipe_.get(); }
  // Does not wait. Nothing while it lives; then how it ended, as wait(2) tells it, once and for ever.
  std::optional<int> wait_status();
  // Sends SIGKILL and waits a tenth of a second. A child that the driver holds on to is left to the kernel.
  void end();

 private:
  pid_t pid_ = -1;
  std::optional<int> status_;
  UniqueFd pipe_;
};

// "signal 11 (Segmentation fault)", "exit status 3".
std::string describe_end(int wait_status);

}  // namespace jaxprof::netsampler
