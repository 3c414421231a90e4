// From the wrapper to the job: fork and exec such that the command starts as if its launcher had started it: its own
// environment, signal mask and dispositions, standard streams and inherited descriptors. The wrapper then keeps none of
// what it handed on but stderr, so that whoever reads the job's output to its end, or feeds its input, does not wait
// for the wrapper.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "agent/base/result.h"

namespace jaxprof::launcher {

// 127 if the command is not there, 126 if it cannot be executed.
int exit_code_of_exec_failure(int exec_errno);
// "python: No such file or directory"
std::string describe_exec_failure(const std::string& program, int exec_errno);

// Replaces this process by `command` with the environment as it is. Returns errno if that failed.
int exec_in_place(const std::vector<std::string>& command);

// What becomes of the job when its wrapper is killed hard.
enum class OnHardKill {
  kEndJob,    // the kernel kills the command too, as its own death would have been
  kLeaveJob,  // the batch system cleans up by its own rules, which may let a healthy rank go on
};

struct JobStart {
  const std::vector<std::string>& command;  // the program is looked for in PATH
  const std::vector<std::string>& environment;
  const sigset_t& signal_mask;
  const struct sigaction& on_child;  // its SIGCHLD
  OnHardKill on_hard_kill;
};

struct StartedJob {
  pid_t pid = -1;
  int exec_errno = 0;  // not 0: the process ended at once, with exit_code_of_exec_failure()
};

// Main thread, before any other is started: the kernel takes the death of the thread that forked for the wrapper's.
// Returns once the exec has happened or failed. kNodeNotReady, with all descriptors as they were, if no process could
// be made or the kernel finds arguments and environment too long: without our variables they may fit.
Result<StartedJob> start_job(const JobStart& start);

}  // namespace jaxprof::launcher
