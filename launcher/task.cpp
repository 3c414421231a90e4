#include "launcher/task.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "agent/base/atomic_file.h"
#include "agent/base/clocks.h"
#include "agent/base/log.h"
#include "agent/base/process_presence.h"
#include "agent/base/text.h"
#include "agent/contract/run_layout.h"
#include "launcher/agent_library.h"
#include "launcher/child_environment.h"
#include "launcher/observer_plan.h"
#include "launcher/recorded_environment.h"
#include "launcher/run_marks.h"
#include "launcher/run_start_time.h"
#include "launcher/sampler_program.h"
#include "launcher/spool_place.h"

namespace jaxprof::launcher {
namespace {

// An NVTX push takes 24 bytes of a ring or more, a pop 24: some 40 000 events fit, and the drain thread is woken at
// half.
constexpr std::uint32_t kRingBytes = 1u << 20;
constexpr std::uint64_t kStateLogBytes = 16u << 20;

std::string describe_nameless(const Options& options) {
  return "--output " + options.output + " gives no name for a file: it is named after its rank";
}

TaskStart make_start(const Options& options, const Node& node, const LaunchPlan& plan) {
  TaskStart start;
  start.run_id = plan.run.run_id;
  start.job_id = plan.run.job_id;
  start.step_id = plan.run.step_id;
  start.restart = plan.run.restart;
  start.task = plan.task;
  start.rank = plan.rank.rank;
  start.world_size = plan.rank.world_size;
  start.local_rank = plan.rank.local_rank;
  start.node_index = plan.rank.node_index;
  start.launcher = launcher_name(plan.rank.launcher);
  start.rank_variable = plan.rank.rank_variable;
  start.host = node.host;
  start.boot_id = node.boot_id;
  start.pid = node.pid;
  start.realtime_ns = clock_ns(CLOCK_REALTIME);
  start.has_inner_ranks = options.has_inner_ranks;
  start.output = options.output;
  start.can_replace_files = options.can_replace_files;
  start.selection = options.selection_words;
  start.window = window_words(options.recording.window);
  start.trace = trace_words(recorded_kinds(options));
  start.cupti = cupti_words(options.recording.cupti);
  start.command = options.command;
  start.version = JAXPROF_VERSION;
  if (!plan.unset_variable.empty()) {
    start.notes.push_back(plan.unset_variable + " is not set or empty: it is unset-" + plan.unset_variable +
                          " in names");
  }
  if (plan.is_nameless) start.notes.push_back(describe_nameless(options));
  if (!plan.rank_fault.empty()) start.notes.push_back(plan.rank_fault);
  return start;
}

// `environment` is the command's.
void add_environment(const Options& options, const std::vector<std::string>& environment, TaskStart* start) {
  if (!options.records_environment) return;
  RecordedEnvironment recorded = record_environment(environment, options.environment_patterns);
  start->has_environment = true;
  start->environment = std::move(recorded.variables);
  start->environment_dropped = static_cast<std::int64_t>(recorded.n_dropped);
}

// True if the task whose start record has the name runs, as far as anybody can tell: it has not ended, and it is not
// known to be dead.
bool is_running(const Node& node, const LaunchPlan& plan, const std::string& name) {
  const auto text = read_small_file(run_layout::task_start_path(plan.state_directory, name));
  const auto start = text ? parse_task_start(*text) : fail(text.error().code, "");
  if (!start || access(run_layout::task_end_path(plan.state_directory, name).c_str(), F_OK) == 0) return false;
  return start->boot_id != node.boot_id || process_start_ticks(static_cast<pid_t>(start->pid)) != 0;
}

// Two tasks that take themselves for one rank: which of them is right nobody knows here, but what told them can be
// said.
std::string describe_twin(const LaunchPlan& plan) {
  return "two tasks of the run take themselves for rank " + std::to_string(plan.rank.rank) + ", by " +
         plan.rank.rank_variable +
         ": start each rank by srun or mpirun, or name the variable that numbers them by --rank-from";
}

// Writes the record under a name of its own: a run id that was used before (ranks given by RANK and WORLD_SIZE have no
// job to tell them apart) must not hide an earlier run's. Of two tasks with one rank the second here meets the first.
Status write_start(const Node& node, const LaunchPlan& plan, TaskStart* start, bool* has_twin) {
  *has_twin = false;
  for (const std::string& name : {plan.task, run_layout::stem_of_process(plan.task, node.host, node.pid)}) {
    start->task = name;
    if (*has_twin) start->notes.push_back(describe_twin(plan));
    auto is_new =
        write_atomic_file(run_layout::task_start_path(plan.state_directory, name), to_json(*start), Publish::kIfAbsent);
    if (!is_new) return tl::unexpected(std::move(is_new.error()));
    if (*is_new) return {};
    *has_twin = plan.rank.is_known() && is_running(node, plan, name);
  }
  return fail(ErrorCode::kOutputFailed, "a task " + start->task + " is in " + plan.state_directory + " already");
}

template <std::size_t N>
void copy_text(const std::string& text, char (&target)[N]) {
  TextBuffer(target, N).append(text.c_str(), std::min(text.size(), N - 1));
}

void write_plan(const Task& task, const LaunchPlan& plan, SessionPlan* session) {
  session->wrapper_pid = task.node.pid;
  session->ring_bytes = kRingBytes;
  session->state_log_bytes = kStateLogBytes;
  session->pid_namespace = own_pid_namespace();
  session->run = plan.run;
  session->slurm = slurm_place(Env());
  session->rank_variables = plan.rank_variables;
  session->has_inner_ranks = plan.has_inner_ranks ? 1 : 0;
  set_task_rank(session, Env(), task.node.pid);
  copy_text(task.spool_directory, session->spool_directory);
  copy_text(plan.stem_template, session->stem_template);
  copy_text(task.node.host, session->host);
  copy_text(task.node.boot_id, session->boot_id);
  session->selection = plan.residual;
  session->is_task_taken = plan.is_task_taken ? 1 : 0;
}

Status make_session(Task* task) {
  const std::string path = run_layout::session_path(task->spool_directory);
  if (path.size() >= kPathBytes) return fail(ErrorCode::kNodeNotReady, path + " is too long a path");
  task->page = create_session_page(path.c_str());
  if (task->page == nullptr) {
    return fail_errno(ErrorCode::kNodeNotReady,
                      "cannot create " + path + " (" + std::to_string(sizeof(SessionPage)) + " bytes)");
  }
  write_plan(*task, task->plan, &task->page->plan);
  return {};
}

// True if the name is claimed and nothing is written to it: by a task that starts together with this one, or by one
// that was killed early.
bool is_bare_claim(const LaunchPlan& plan) {
  struct stat status {};
  return access(run_layout::spool_path(plan.directory, plan.stem).c_str(), F_OK) != 0 &&
         stat(run_layout::part_spool_path(plan.directory, plan.stem).c_str(), &status) == 0 && status.st_size == 0;
}

const char* way_out_of_taken_name(const Options& options, const LaunchPlan& plan) {
  const bool is_same_on_all_ranks = plan.stem_template == plan.stem && plan.rank.world_size > 1;
  const bool is_of_run = is_same_on_all_ranks || is_stem_of_run(plan.state_directory, plan.stem);
  if (is_of_run && !plan.is_named_by_rank) return "put %r into the name";
  if (is_bare_claim(plan))
    return "another task has claimed it just now, or one that was killed (-f takes it from that)";
  return options.can_replace_files ? "-f replaces only files of other runs that have ended"
                                   : "-f replaces files of ended runs";
}

// Says what many ranks find alike, once a run.
void say_once(const Options& options, const LaunchPlan& plan, const std::string& mark, const std::string& text) {
  if (make_mark(run_layout::mark_path(plan.state_directory, mark)) && !options.is_quiet) say(text);
}

std::string describe_taken(const LaunchPlan& plan) {
  return run_layout::spool_path(plan.directory, plan.stem) + " is taken, this rank writes to " + plan.stem +
         ".HOST.PID" + run_layout::kSpoolSuffix;
}

// Takes the rank's name, or notes that it is another's.
Status claim_name(Task* task) {
  const LaunchPlan& plan = task->plan;
  if (plan.stem.empty()) return {};
  auto claim = claim_output(plan.directory, plan.stem, task->claim_rules);
  if (!claim) return tl::unexpected(std::move(claim.error()));
  task->claim = *claim;
  if (*claim) {
    task->start.stem = plan.stem;
    return {};
  }
  task->start.notes.push_back(describe_taken(plan));
  return {};
}

// Of ranks that find their name taken the first says so: a second run into one directory finds all of them taken. Where
// the rank itself is another task's too, that is the reason, and no file of old.
void say_whose_name_it_is(const Options& options, const Task& task, bool has_twin) {
  const LaunchPlan& plan = task.plan;
  const bool is_taken = !plan.stem.empty() && !task.claim;
  if (has_twin) {
    say_once(options, plan, "twin", (is_taken ? describe_taken(plan) + "; " : "") + describe_twin(plan));
  } else if (is_taken) {
    say_once(options, plan, "taken", describe_taken(plan) + "; " + way_out_of_taken_name(options, plan));
  }
}

// Tells others on the node that this wrapper lives: whoever collects what a dead one left, and the node's last task.
Status take_place_on_node(Task* task) {
  auto owner = try_lock(run_layout::owner_path(task->spool_directory), Missing::kCreate);
  if (!owner) return tl::unexpected(std::move(owner.error()));
  if (!owner->is_held()) return fail(ErrorCode::kNodeNotReady, task->spool_directory + " was removed or taken over");
  task->owner = std::move(*owner);
  const std::string base = std::filesystem::path(task->spool_directory).parent_path().string();
  const std::string folder = run_layout::node_marks_directory(base, task->node.uid, task->plan.run.run_id);
  task->node_folder = NodeFolder::join(folder, task->node.uid, task->node.pid);
  return {};
}

// The foreign hooks are replaced, which is on record, or they are the reason to leave the task alone.
Status settle_hooks(const Options& options, const std::vector<std::string>& environment, TaskStart* start) {
  for (const ForeignHook& hook : find_foreign_hooks(environment, hooks_of(options.recording))) {
    if (options.on_conflict == OnConflict::kKeep) {
      return fail(ErrorCode::kNodeNotReady, describe(hook) + " is set; --on-conflict replace takes its place");
    }
    start->notes.push_back("replaced " + describe(hook));
  }
  return {};
}

// T0 and all that is decided about what is recorded. Only a delay needs T0, and without it each process counts from its
// own start.
void plan_recording(const Options& options, Task* task) {
  SessionPlan& plan = task->page->plan;
  plan.step_marker = options.step_marker;
  plan.window = options.recording.window;
  plan.trace = options.recording.trace;
  plan.cupti = options.recording.cupti;
  plan.gpu_buffer_bytes = static_cast<std::uint64_t>(options.recording.gpu_buffer_bytes);
  if (plan.window.delay_ns == 0) return;
  if (const auto start_ns = agree_on_start_time(task->plan.state_directory, task->start.realtime_ns)) {
    plan.window.t0_realtime_ns = *start_ns;
    task->start.t0_realtime_ns = *start_ns;
  } else {
    task->start.notes.push_back("--delay counts from the start of each process, no time of the run is known: " +
                                start_ns.error().message);
  }
}

// Beside a profiler that started this wrapper, CUPTI may be taken; what else is recorded does not suffer.
void note_profiler_around(const Options& options, const std::vector<std::string>& environment, Task* task) {
  const std::string around = find_profiler_around(environment);
  if (around.empty() || !hooks_of(options.recording).has_cuda) return;
  const std::string note = "started by " + around + ": where it profiles the same processes, kernels are not recorded";
  task->start.notes.push_back(note);
  say_once(options, task->plan, "profiler-around", note);
}

void say_faults_of_variables(const Options& options, const LaunchPlan& plan) {
  if (const std::string& name = plan.unset_variable; !name.empty()) {
    say_once(options, plan, "unset-" + name,
             "--output names " + name + ", which is not set or empty: it becomes unset-" + name);
  }
  if (plan.is_nameless) say_once(options, plan, "no-name", describe_nameless(options));
  if (!plan.rank_fault.empty()) say_once(options, plan, "rank-variable", plan.rank_fault);
}

// What is recorded of the job does not depend on it.
void note_missing_sampler(const Options& options, const Env& env, Task* task) {
  if (!wants_observer(options, task->plan, true)) return;
  std::string why;
  if (const auto program = find_sampler(own_program_path(), env); !program) {
    why = program.error().message;
  } else if (!task->node_folder) {
    const std::string base = std::filesystem::path(task->spool_directory).parent_path().string();
    why = run_layout::node_marks_directory(base, task->node.uid, task->plan.run.run_id) +
          " is not a folder of this user's, or cannot be made";
  } else {
    return;
  }
  const std::string note = words_without_observer(options, task->plan) + ": " + why;
  task->start.notes.push_back(note);
  say_once(options, task->plan, "no-observer", note);
}

Status set_up(const Options& options, const Env& env, Task* task) {
  const LaunchPlan& plan = task->plan;
  if (!plan.fault.empty()) return fail(ErrorCode::kOutputFailed, plan.fault);
  const std::vector<std::string> environment = job_environment(options.environment);
  if (auto s = settle_hooks(options, environment, &task->start); !s) return s;
  const auto agent = find_agent_library(own_program_path(), env);
  if (!agent) return tl::unexpected(agent.error());
  if (auto s = make_run_directory(plan); !s) return s;
  say_faults_of_variables(options, plan);
  auto place = find_spool_place(options.spool_base, env);
  if (!place) return tl::unexpected(std::move(place.error()));
  task->start.notes.insert(task->start.notes.end(), place->notes.begin(), place->notes.end());
  auto spool = make_spool_directory(place->base, task->node, plan);
  if (!spool) return tl::unexpected(std::move(spool.error()));
  task->spool_directory = *spool;
  task->start.spool_directory = *spool;
  if (auto s = take_place_on_node(task); !s) return s;
  if (auto s = make_session(task); !s) return s;
  plan_recording(options, task);
  note_profiler_around(options, environment, task);
  task->page->plan.spool_limit_bytes = static_cast<std::uint64_t>(place->spool_limit_bytes(options.spool_limit_bytes));
  if (auto s = claim_name(task); !s) return s;
  note_missing_sampler(options, env, task);
  task->environment =
      child_environment(environment, *agent, run_layout::session_path(*spool), hooks_of(options.recording));
  add_environment(options, task->environment, &task->start);
  task->start.is_profiled = true;
  bool has_twin = false;
  if (auto s = write_start(task->node, plan, &task->start, &has_twin); !s) return s;
  task->name = task->start.task;
  copy_text(task->name, task->page->plan.task);
  say_whose_name_it_is(options, *task, has_twin);
  return {};
}

}  // namespace

Status make_run_directory(const LaunchPlan& plan) {
  if (auto s = make_directories(plan.directory); !s) return s;
  return make_directories(plan.state_directory);
}

Result<Task> set_up_task(const Options& options, const Node& node, const LaunchPlan& plan, const Env& env) {
  Task task;
  task.node = node;
  task.plan = plan;
  task.claim_rules = {plan.run.run_id, node.boot_id, options.can_replace_files};
  task.start = make_start(options, node, plan);
  if (auto status = set_up(options, env, &task); !status) {
    take_down_task(task);
    return tl::unexpected(std::move(status.error()));
  }
  return task;
}

void take_down_task(Task& task) {
  if (task.node_folder) task.node_folder->leave();
  if (task.claim) release_claim(task.plan.directory, *task.claim);
  if (!task.spool_directory.empty()) remove_spool_directory(task);
  if (!task.name.empty()) unlink(run_layout::task_start_path(task.plan.state_directory, task.name).c_str());
}

void remove_spool_directory(const Task& task) {
  std::error_code ignored;
  std::filesystem::remove_all(task.spool_directory, ignored);
}

void record_unprofiled_task(const Options& options, const Node& node, const LaunchPlan& plan,
                            const std::string& reason) {
  if (!plan.fault.empty() || !make_run_directory(plan)) return;
  TaskStart start = make_start(options, node, plan);
  start.reason = reason;
  add_environment(options, job_environment(options.environment), &start);
  // Where the run directory is out of reach, the line on stderr has to do.
  bool has_twin = false;
  if (write_start(node, plan, &start, &has_twin)) {
    make_mark(run_layout::unprofiled_mark_path(plan.state_directory, start.task));
  }
}

}  // namespace jaxprof::launcher
