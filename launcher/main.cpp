// jaxprof-exec: one task of a job, profiled. Read main() for the order of things; what each step does is in the file
// of its name. Two rules shape it. A refusal on one rank would hang all others, so only what every rank sees alike on
// the command line refuses (125); everything else lets the job run unprofiled. And whoever waits for this process must
// see what the job did, so its status is the job's.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "agent/base/log.h"
#include "agent/contract/run_identity.h"
#include "agent/contract/run_layout.h"
#include "launcher/announcement.h"
#include "launcher/check.h"
#include "launcher/child_environment.h"
#include "launcher/dry_run.h"
#include "launcher/hydra_proxy.h"
#include "launcher/launcher_words.h"
#include "launcher/limit_watch.h"
#include "launcher/node_observer.h"
#include "launcher/publishing.h"
#include "launcher/run_marks.h"
#include "launcher/shutdown_watch.h"
#include "launcher/spool_place.h"
#include "launcher/supervisor.h"
#include "launcher/task.h"

namespace jaxprof::launcher {
namespace {

constexpr int kRefused = 125;

void print(const std::string& text) {
  if (write(STDOUT_FILENO, text.data(), text.size()) < 0) return;
}

// The job as if jaxprof-exec were not there: same pid, and the environment that it would have.
[[noreturn]] void exec_unchanged(const Options& options) {
  set_job_environment(options.environment);
  const int failure = exec_in_place(options.command);
  say(describe_exec_failure(options.command.front(), failure));
  _exit(exit_code_of_exec_failure(failure));
}

// Prints `text` unless enough ranks of this node have said the like. A run of one process has no neighbours to count.
void say_for_node(const Options& options, const Node& node, const LaunchPlan& plan, const std::string& text) {
  int line = 1;
  if (plan.rank.world_size > 1) {
    const auto place = find_spool_place(options.spool_base, Env());
    const std::string base = place ? place->base : "/tmp";
    line = take_unprofiled_line(run_layout::node_marks_directory(base, node.uid, plan.run.run_id), node.uid);
  }
  if (line == 0) return;
  say(text + (line == kMaxUnprofiledLines ? " (further ones on this node are listed by the merge only)" : ""));
}

std::string describe_rank(const Node& node, const LaunchPlan& plan) {
  return (plan.rank.is_known() ? "rank " + std::to_string(plan.rank.rank) : "this process") + " on " + node.host;
}

// For a task without a wrapper, where all nodes are to be observed.
void observe_node(const Options& options, const Node& node, const LaunchPlan& plan) {
  if (auto status = observe_for_plain_task(options, node, plan, Env()); !status) {
    say_for_node(options, node, plan, node.host + " is not observed: " + status.error().message);
  }
}

// --strict.
[[noreturn]] void refuse(const Options& options, const Node& node, const LaunchPlan& plan, const std::string& reason) {
  record_unprofiled_task(options, node, plan, reason);
  say_for_node(options, node, plan, describe_rank(node, plan) + " refuses to start (--strict): " + reason);
  _exit(kRefused);
}

[[noreturn]] void run_unprofiled(const Options& options, const Node& node, const LaunchPlan& plan,
                                 const std::string& reason) {
  if (options.is_strict) refuse(options, node, plan, reason);
  record_unprofiled_task(options, node, plan, reason);
  say_for_node(options, node, plan, describe_rank(node, plan) + " runs unprofiled: " + reason);
  observe_node(options, node, plan);
  exec_unchanged(options);
}

// Ranks that collide may all take themselves for rank 0: the first of them speaks. A run that has had its last line is
// an earlier one of the same name. Where no mark can be made, as by a rank that leaves no file, everyone speaks.
bool is_first_to_speak(const LaunchPlan& plan) {
  if (!plan.is_wrapped || !plan.fault.empty() || !make_run_directory(plan)) return true;
  if (make_mark(run_layout::mark_path(plan.state_directory, "first")) || errno != EEXIST) return true;
  return access(run_layout::mark_path(plan.state_directory, "last").c_str(), F_OK) == 0;
}

void say_before(const Options& options, const LaunchPlan& plan) {
  if (options.is_quiet || !plan.is_speaker() || !is_first_to_speak(plan)) return;
  for (const std::string& remark : options.remarks) say(remark);
  if (const std::string advice = advise_on_order(options.command, options.option_words); !advice.empty()) say(advice);
  say(first_line(options, plan, Env()));
}

// Slurm ends a step by its own rules, and of a task whose wrapper was killed alone the rank may go on.
OnHardKill on_hard_kill(const Node& node, const Env& env) {
  return is_task_of_srun(env, node.pid) ? OnHardKill::kLeaveJob : OnHardKill::kEndJob;
}

// A file that is opened where a standard stream is closed would take its number, and get what is written to that
// stream. The job finds them closed as before.
void occupy_closed_streams() {
  int fd;
  while ((fd = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0 && fd <= STDERR_FILENO) {
  }
  if (fd >= 0) close(fd);
}

int run(const std::vector<std::string>& arguments) {
  occupy_closed_streams();
  Node node = this_node();
  const Env env;
  if (needs_mpiexec(resolve_launcher_rank(env, node.pid).launcher)) node.mpiexec = find_mpiexec();

  // What every rank sees alike, and one of them says.
  const Result<Options> options = parse_options(arguments, env.get("JAXPROF_OPTIONS"));
  if (!options) {
    if (resolve_rank(env, node.pid).rank <= 0) say(options.error().message);
    return kRefused;
  }
  if (options->mode == Mode::kHelp) {
    print(options->text);
    return 0;
  }

  // Whose rank this is, and whether it is traced.
  const LaunchPlan plan = make_launch_plan(*options, node, env);
  if (options->mode == Mode::kCheck) return run_check(*options, node, plan, env);
  if (options->mode == Mode::kDryRun) {
    print(describe_dry_run(*options, node, plan, env));
    return 0;
  }
  // Who asked for certainty has no use for a selection by a rank that is not the one that was meant.
  if (options->is_strict && !plan.rank_fault.empty()) refuse(*options, node, plan, plan.rank_fault);
  say_before(*options, plan);
  if (!plan.is_wrapped) {
    observe_node(*options, node, plan);
    exec_unchanged(*options);
  }

  // What lies ready before the job starts; without it, the job runs all the same.
  Result<Task> task = set_up_task(*options, node, plan, env);
  if (!task) run_unprofiled(*options, node, plan, task.error().message);

  // Who looks after the node. An orphan that is made here is the launcher's.
  NodeObserver observer(*options, *task, env);
  observer.start();

  // The job.
  Supervisor supervisor;
  Publishing publishing(*options, *task);
  publishing.start();
  supervisor.on_asked_to_end([&publishing] { publishing.hurry(); });
  if (auto started = supervisor.start(options->command, task->environment, on_hard_kill(node, env)); !started) {
    publishing.stop();
    supervisor.let_go();
    take_down_task(*task);
    run_unprofiled(*options, node, plan, started.error().message);
  }
  LimitWatch limits(*options, *task);
  limits.start();
  observer.watch([&supervisor](pid_t pid) { supervisor.disregard(pid); });
  const std::string end_mark =
      options->is_quiet ? "" : run_layout::mark_path(task->plan.state_directory, "window-ends-job");
  ShutdownWatch shutdown(
      *task->page, options->grace_ns, end_mark, [] { kill(getpid(), SIGTERM); },
      [&supervisor] { supervisor.kill_job(); });
  shutdown.start();
  const JobStatus job = supervisor.wait(options->waits_for_all ? WaitFor::kAll : WaitFor::kPrimary);
  shutdown.stop();
  limits.stop();
  observer.stop_watching();

  // What it left.
  publishing.finish({job, supervisor.job_pid()}, [&supervisor] { return supervisor.is_asked_to_end(); });
  if (task->node_folder) task->node_folder->leave();
  end_like(job);
}

}  // namespace
}  // namespace jaxprof::launcher

int main(int argc, char** argv) {
  return jaxprof::launcher::run(std::vector<std::string>(argv + 1, argv + argc));
}
