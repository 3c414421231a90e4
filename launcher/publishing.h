// The wrapper's publishing, in a process of its own. Shared storage can hang, some of it so that not even a kill ends
// the one who waits for it; a thread that hangs so would hold the wrapper's own end, and with it the job's. So a
// sibling of the job does all that touches the run directory once the job has started. It holds no descriptor of the
// job's, gets no signal but SIGKILL, and dies with the wrapper; the wrapper waits for it as long as the grace allows
// and then leaves it behind. The kernel lends it the wrapper's memory, so it costs a few hundred kilobytes.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "launcher/options.h"
#include "launcher/publishing_channel.h"
#include "launcher/supervisor.h"
#include "launcher/task.h"

namespace jaxprof::launcher {

// Main thread, before it has started any other.
class Publishing {
 public:
  Publishing(const Options& options, const Task& task) : options_(options), task_(task) {}
  Publishing(const Publishing&) = delete;
  Publishing& operator=(const Publishing&) = delete;

  // With all signals blocked, and before the job, so that the job is the younger child. Where no process can be made,
  // nothing is published before the end.
  void start();

  // The task is asked to end, and may be killed any moment.
  void hurry();

  // Undoes start() for a job that could not be started.
  void stop();

  // After the job's end: publishes the rest within the grace, says what people must know, and comes back in any case.
  void finish(const EndedJob& job, const std::function<bool()>& is_asked_to_end);

 private:
  // False: the process ended without a word.
  bool wait_until_done(const EndedJob& job, const std::function<bool()>& is_asked_to_end);
  void say_what_stays(const std::string& why) const;

  const Options& options_;
  const Task& task_;
  pid_t process_ = -1;
  std::optional<PublishingReplies> replies_;
};

}  // namespace jaxprof::launcher
