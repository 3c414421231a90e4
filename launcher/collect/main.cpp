// jaxprof: commands around profiled jobs. `collect` brings in what killed tasks left on a node; `doctor` says what can
// be recorded of one.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/log.h"
#include "agent/contract/node_tasks.h"
#include "agent/contract/run_layout.h"
#include "launcher/agent_library.h"
#include "launcher/collect/account.h"
#include "launcher/collect/collect_task.h"
#include "launcher/collect/doctor.h"
#include "launcher/collect/left_task.h"
#include "launcher/collect/node_report.h"
#include "launcher/collect/options.h"
#include "launcher/node.h"
#include "launcher/sampler_program.h"

namespace jaxprof::launcher {
namespace {

// A reader who has seen enough (`| head`) is no failure.
Status print(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t length = write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 && errno == EPIPE) return {};
    if (length < 0) return fail_errno(ErrorCode::kOutputFailed, "cannot write to standard output");
    done += static_cast<std::size_t>(length);
  }
  return {};
}

// What the tasks of a node shared goes once none of them lives.
void remove_node_folders(const std::vector<Account>& accounts, const Node& node) {
  std::set<std::string> folders;
  for (const Account& account : accounts) {
    const std::string base = std::filesystem::path(account.task.start.spool_directory).parent_path().string();
    folders.insert(run_layout::node_marks_directory(base, node.uid, account.task.start.run_id));
  }
  for (const std::string& folder : folders) remove_deserted_node_folder(folder);
}

Status collect(const CollectOptions& options) {
  const Node node = this_node();
  auto tasks = find_left_tasks(options.directory, options.run, node);
  if (!tasks) return tl::unexpected(std::move(tasks.error()));
  std::vector<Account> accounts;
  bool has_failed = false;
  for (LeftTask& task : *tasks) {
    const Collected collected = collect_task(options.directory, task, options.is_dry_run);
    accounts.push_back({std::move(task), collected});
    const bool is_failure = collected.state == Collected::State::kFailed;
    has_failed = has_failed || is_failure;
    const std::string line = describe(accounts.back(), options.is_dry_run);
    if (line.empty() || (options.is_quiet && !is_failure)) continue;
    if (auto printed = print(line + "\n"); !printed) return printed;
  }
  if (!options.is_dry_run) remove_node_folders(accounts, node);
  if (!options.is_quiet) {
    if (auto printed = print(describe_sum(accounts, node.host, options.is_dry_run) + "\n"); !printed) return printed;
  }
  const std::string elsewhere = describe_elsewhere(ranks_without_end_elsewhere(options.directory, options.run, node));
  if (!elsewhere.empty() && !options.is_quiet) say(elsewhere);
  if (has_failed) return fail(ErrorCode::kPartial, "not everything could be collected on " + node.host);
  return {};
}

constexpr unsigned kSamplerLimit_s = 90;  // it waits half a minute for GPUs

Status examine_node(const DoctorOptions& options) {
  const auto program = find_sampler(own_program_path(), Env());
  if (!program) return tl::unexpected(program.error());
  const auto probe = ask_sampler(*program, options, kSamplerLimit_s);
  if (!probe) return tl::unexpected(probe.error());
  const auto report = report_node(*probe);
  if (!report) return tl::unexpected(report.error());
  if (auto printed = print(options.is_json ? *probe : report->text); !printed) return printed;
  if (!report->is_fit) return fail(ErrorCode::kNodeNotReady, "not all of this node can be recorded");
  return {};
}

Status run(std::vector<std::string> arguments) {
  signal(SIGPIPE, SIG_IGN);
  const auto invocation = parse_invocation(std::move(arguments));
  if (!invocation) return tl::unexpected(invocation.error());
  switch (invocation->command) {
    case Command::kCollect:
      return collect(invocation->collect);
    case Command::kDoctor:
      return examine_node(invocation->doctor);
    case Command::kText:
      return print(invocation->text);
  }
  return {};
}

}  // namespace
}  // namespace jaxprof::launcher

int main(int argc, char** argv) {
  const auto status = jaxprof::launcher::run({argv + 1, argv + argc});
  if (status) return 0;
  jaxprof::say(status.error().message);
  return jaxprof::exit_status(status.error().code);
}
