#include "launcher/publishing.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "agent/base/clocks.h"
#include "agent/base/log.h"
#include "agent/contract/run_layout.h"
#include "launcher/background_publisher.h"
#include "launcher/foreign_descriptors.h"
#include "launcher/grace.h"
#include "launcher/task_finish.h"

namespace jaxprof::launcher {
namespace {

constexpr std::int64_t kLookNs = 50'000'000;
// So much longer than the grace the wrapper waits for a process that keeps to it.
constexpr std::int64_t kSlackNs = 500'000'000;

void keep_to_one_descriptor(int kept) {
  close_all_descriptors_but(kept);
  int fd;
  while ((fd = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0 && fd <= STDERR_FILENO) {
  }
  if (fd >= 0) close(fd);
}

std::uint64_t phase_of(const Task& task) {
  return std::hash<std::string>()(task.node.host + "." + std::to_string(task.node.pid));
}

void publish_in_background(const Options& options, const Task& task, SpoolCollection& spools,
                           PublishingRequests& requests) {
  const std::string turns = task.node_folder ? run_layout::node_publish_path(task.node_folder->path()) : "";
  try {
    std::jthread([&] {
      become_idle();
      BackgroundPublisher(spools, requests, PublishTurns(turns, options.publish_bytes_per_s), phase_of(task)).run();
    }).join();
  } catch (const std::system_error&) {
    return;  // no thread to be had: everything is left to the last pass
  }
}

// The process's life.
[[noreturn]] void publish(const Options& options, const Task& task, UniqueFd socket, pid_t wrapper) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != wrapper) _exit(0);
  prctl(PR_SET_NAME, "jaxprof-publish");
  keep_to_one_descriptor(socket.get());
  PublishingRequests requests(std::move(socket));
  SpoolCollection spools(source_of(task));
  if (options.publish_bytes_per_s > 0) publish_in_background(options, task, spools, requests);
  while (!requests.ended_job()) requests.wait(60'000'000'000);
  Grace grace(options.grace_ns, [&requests] { return requests.look(), requests.is_hurried(); });
  const auto is_time_up = [&grace] { return grace.is_over(); };
  const EndedJob& job = *requests.ended_job();
  for (const std::string& line : finish_task(options, task, job.status, job.pid, spools, is_time_up)) {
    requests.send_line(line);
  }
  requests.send_done();
  _exit(0);
}

}  // namespace

void Publishing::start() {
  auto [ours, theirs] = make_publishing_sockets();
  if (!ours) return;
  const pid_t wrapper = getpid();
  process_ = fork();
  if (process_ == 0) publish(options_, task_, std::move(theirs), wrapper);
  if (process_ > 0) replies_.emplace(std::move(ours));
}

void Publishing::hurry() {
  if (replies_) replies_->send_hurry();
}

void Publishing::stop() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  process_ = -1;
  replies_.reset();
}

void Publishing::finish(const EndedJob& job, const std::function<bool()>& is_asked_to_end) {
  keep_end_on_node(task_, job.status, job.pid);
  // It may have been killed alone, or never have come to be; a new one takes over what the first did.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!replies_) start();
    if (replies_ && wait_until_done(job, is_asked_to_end)) return;
    replies_.reset();
  }
  say_what_stays("the process that publishes was killed, or could not be started");
}

bool Publishing::wait_until_done(const EndedJob& job, const std::function<bool()>& is_asked_to_end) {
  replies_->send_ended_job(job);
  Grace grace(options_.grace_ns, is_asked_to_end);
  bool is_hurried = false;
  for (std::int64_t over_since_ns = 0;;) {
    if (is_asked_to_end() && !std::exchange(is_hurried, true)) hurry();
    const std::int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    if (grace.is_over() && over_since_ns == 0) over_since_ns = now_ns;
    if (over_since_ns != 0 && now_ns - over_since_ns > kSlackNs) break;
    const PublishingReplies::Reply reply = replies_->wait(kLookNs);
    if (reply.kind == PublishingReplies::Kind::kLine) say(reply.line);
    if (reply.kind == PublishingReplies::Kind::kGone) return false;
    if (reply.kind == PublishingReplies::Kind::kDone) {
      waitpid(process_, nullptr, WNOHANG);
      return true;
    }
  }
  kill(process_, SIGKILL);
  say_what_stays(task_.plan.directory + " did not take the profile in time");
  return true;
}

void Publishing::say_what_stays(const std::string& why) const {
  say(why + ": what was recorded stays in " + task_.node.host + ":" + task_.spool_directory + "; `jaxprof collect " +
      task_.plan.directory + "` there brings it in");
}

}  // namespace jaxprof::launcher
