// A question whose answer may take its time, or never come: a command of the batch system, a file on shared storage. A
// child process asks, so that neither the wrapper nor its end waits; a clock of its own kills it in time, and the
// thread that asked takes it along when it ends. The child is reaped by whoever reaps the wrapper's other children.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/base/unique_fd.h"

namespace jaxprof::launcher {

// One thread at a time, which must be the one that asked: the child dies with it.
class ChildAnswer {
 public:
  // What `command`, found by PATH, writes to its standard output. Its environment is ours with `variables` before it.
  // Nothing if no process can be made.
  static std::optional<ChildAnswer> of_command(const std::vector<std::string>& command,
                                               const std::vector<std::string>& variables, unsigned limit_s);
  // "made" if the file `path` did not exist and was made, else "".
  static std::optional<ChildAnswer> of_new_mark(const std::string& path, unsigned limit_s);

  // The answer once the child has ended, or closed its output; nothing before. Never waits.
  std::optional<std::string> poll();

 private:
  explicit ChildAnswer(UniqueFd output) : output_(std::move(output)) {}
  template <typename Act>
  static std::optional<ChildAnswer> start(unsigned limit_s, Act act);

  UniqueFd output_;
  std::string text_;
};

}  // namespace jaxprof::launcher
