#include "tests/unit/collect/child_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "agent/base/atomic_file.h"
#include "agent/base/unique_fd.h"

namespace jaxprof::test {
namespace {

void set_text(char* to, std::size_t capacity, const std::string& text) {
  std::snprintf(to, capacity, "%s", text.c_str());
}

std::string read_all(int fd) {
  std::string text;
  char piece[4096];
  for (ssize_t got = 0; (got = read(fd, piece, sizeof piece)) > 0;) text.append(piece, static_cast<std::size_t>(got));
  return text;
}

// The test's own environment without what would give the child another rank or session. Leaks are not looked for: what
// the agent keeps it keeps to the end, and its drain thread may still run then. A test may preload a library.
std::vector<std::string> plain_environment() {
  std::vector<std::string> kept = {"ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0"};
  for (const char* name : {"PATH", "UBSAN_OPTIONS", "TSAN_OPTIONS"}) {
    if (const char* value = getenv(name); value != nullptr) kept.push_back(std::string(name) + "=" + value);
  }
  return kept;
}

}  // namespace

ChildRun::ChildRun() {
  std::filesystem::create_directory(spools_);
  page_ = create_session_page(session_.c_str());
  SessionPlan& plan = page_->plan;
  plan.wrapper_pid = getpid();
  plan.ring_bytes = kRingBytes;
  plan.state_log_bytes = 8 << 20;
  plan.trace = kDefaultTrace;
  set_text(plan.run.run_id, sizeof plan.run.run_id, "7.0.0");
  set_text(plan.run.job_id, sizeof plan.run.job_id, "7");
  set_text(plan.run.step_id, sizeof plan.run.step_id, "0");
  set_text(plan.spool_directory, sizeof plan.spool_directory, spools_);
  set_text(plan.stem_template, sizeof plan.stem_template, "rank%r");
  set_text(plan.host, sizeof plan.host, "testhost");
  const std::string boot_id = read_small_file("/proc/sys/kernel/random/boot_id", 64).value_or("");
  set_text(plan.boot_id, sizeof plan.boot_id, boot_id.substr(0, boot_id.find('\n')));
  environment_ = {"JAXPROF_RANK=3", "JAXPROF_WORLD_SIZE=8", "JAXPROF_LOCAL_RANK=1"};
}

int ChildRun::run(const char* program, const std::string& scenario) {
  std::vector<std::string> strings = plain_environment();
  strings.insert(strings.end(), environment_.begin(), environment_.end());
  if (has_session_) strings.push_back(std::string(kSessionVariable) + "=" + session_);
  std::vector<char*> environment;
  for (std::string& entry : strings) environment.push_back(entry.data());
  environment.push_back(nullptr);
  std::string program_text = program;
  std::string scenario_text = scenario;
  char* arguments[] = {program_text.data(), scenario_text.data(), nullptr};

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(writing.get(), STDOUT_FILENO);
    execve(program, arguments, environment.data());
    _exit(127);
  }
  writing.reset();
  std::istringstream lines(read_all(reading.get()));
  std::string name;
  for (std::int64_t value = 0; lines >> name >> value;) reported_[name] = value;
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::uint64_t ChildRun::all_drops() const {
  std::uint64_t sum = 0;
  for (const auto& count : slot().drops) sum += count.load();
  return sum;
}

std::int64_t ChildRun::reported(const std::string& name) const {
  const auto found = reported_.find(name);
  return found == reported_.end() ? INT64_MIN : found->second;
}

std::string ChildRun::spool_path() const {
  return spools_ + "/" + slot().spool_name;
}

rundir::SpoolTrace ChildRun::trace() const {
  auto trace = rundir::SpoolTrace::load(spool_path());
  if (trace) return std::move(*trace);
  ADD_FAILURE() << trace.error().message;
  std::abort();
}

std::vector<ThreadEvent> events_of(const rundir::SpoolTrace& trace) {
  std::vector<ThreadEvent> events;
  trace.for_each_event([&events](std::uint32_t thread, const spool::Event& event) {
    events.push_back({thread, event});
  });
  return events;
}

}  // namespace jaxprof::test
