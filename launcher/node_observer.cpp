#include "launcher/node_observer.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <functional>
#include <utility>

#include "agent/base/log.h"
#include "agent/base/unique_fd.h"
#include "agent/contract/run_layout.h"
#include "launcher/agent_library.h"
#include "launcher/child_environment.h"
#include "launcher/observer_plan.h"
#include "launcher/observer_start.h"
#include "launcher/observer_turns.h"
#include "launcher/run_marks.h"
#include "launcher/sampler_program.h"
#include "launcher/spool_place.h"

namespace jaxprof::launcher {
namespace {

constexpr pid_t kFirstProcess = 1;

// The node of rank 0 is what the others' clocks are compared with. Whoever starts the observer, this tells it; where it
// fails, another node does as well.
void mark_rank0(const RankIdentity& rank, const std::string& node_folder) {
  if (rank.rank == 0) make_mark(run_layout::node_rank0_path(node_folder));
}

// The last of the others may be taking the folder away just now.
Status register_plain_task(const std::string& folder, const Node& node) {
  const std::string file = run_layout::node_plain_task_path(folder, node.pid, node.start_ticks);
  for (int attempt = 0; attempt < 10; ++attempt) {
    if (!make_node_folder(folder, node.uid)) break;
    if (UniqueFd(open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600))) return {};
    if (errno != ENOENT) break;
  }
  return fail_errno(ErrorCode::kNodeNotReady, "cannot make " + file);
}

}  // namespace

NodeObserver::NodeObserver(const Options& options, const Task& task, const Env& env) : options_(options), task_(task) {
  if (!task.node_folder || !wants_observer(options, task.plan, true)) return;
  const auto program = find_sampler(own_program_path(), env);
  if (!program) return;  // the task's start record has it
  command_ = observer_command(*program, options, task.node, task.plan, task.node_folder->path());
  environment_ = observer_environment(own_environment());
}

void NodeObserver::start() {
  if (command_.empty()) return;
  mark_rank0(task_.plan.rank, task_.node_folder->path());
  if (!ObserverTurns(task_.node_folder->path()).take_first()) return;
  const auto observer = start_observer(command_, environment_);
  if (observer || options_.is_quiet) return;
  if (make_mark(run_layout::mark_path(task_.plan.state_directory, "no-observer"))) {
    say(words_without_observer(options_, task_.plan) + ": " + observer.error().message);
  }
}

void NodeObserver::watch(std::function<void(pid_t)> on_started) {
  if (command_.empty()) return;
  const std::uint64_t phase_ms = std::hash<std::string>()(task_.node.host + "." + std::to_string(task_.node.pid));
  watch_.emplace(command_, environment_, task_.node_folder->path(), phase_ms, std::move(on_started));
  watch_->start();
}

void NodeObserver::stop_watching() {
  if (watch_) watch_->stop();
}

Status observe_for_plain_task(const Options& options, const Node& node, const LaunchPlan& plan, const Env& env) {
  // The first process of a container would have the observer for a child that the job knows nothing of.
  if (!wants_observer(options, plan, false) || !plan.fault.empty() || node.pid == kFirstProcess) return {};
  const auto program = find_sampler(own_program_path(), env);
  if (!program) return tl::unexpected(program.error());
  if (auto status = make_run_directory(plan); !status) return status;
  const auto place = find_spool_place(options.spool_base, env);
  if (!place) return tl::unexpected(place.error());
  const std::string folder = run_layout::node_marks_directory(place->base, node.uid, plan.run.run_id);
  if (auto status = register_plain_task(folder, node); !status) return status;
  mark_rank0(plan.rank, folder);
  if (!ObserverTurns(folder).take_first()) return {};
  const auto command = observer_command(*program, options, node, plan, folder);
  const auto observer = start_observer(command, observer_environment(own_environment()));
  return observer ? Status() : Status(tl::unexpected(observer.error()));
}

}  // namespace jaxprof::launcher
